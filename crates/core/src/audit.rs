//! The audit of recorded code: no honest, deterministic code passes a test and
//! its contradiction (the test with one expectation changed so that both cannot
//! hold).

use serde::{Deserialize, Serialize};

crate::named! {
    /// What a contradiction changes in a test.
    pub enum ContradictionKind {
        /// Another constant is expected.
        Constant = "constant",
        /// Another class of exceptions is expected.
        Exception = "exception",
        /// The opposite is expected.
        Negation = "negation",
        /// The test must fail at its end, whatever it expected.
        End = "end",
    }
}

impl ContradictionKind {
    /// Whether code that only learns what is expected passes it too. The others
    /// are passed by code that turns failures into passes.
    pub fn is_strong(self) -> bool {
        matches!(self, Self::Constant | Self::Exception)
    }
}

/// What an audit of one state of the code found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Audit {
    /// From which the contradictions of each session were drawn; secret until
    /// they had run.
    pub seed: String,
    /// Passing tests of which a contradiction was tried.
    pub tests: u32,
    pub accusations: Vec<Accusation>,
}

/// A test that the code passes together with its contradiction, twice in fresh
/// containers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Accusation {
    /// Its node id.
    pub test: String,
    pub kind: ContradictionKind,
    /// The source of the test, without comments.
    pub as_written: String,
    pub contradiction: String,
}

/// How many of some tests can be contradicted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Coverage {
    pub tests: u32,
    /// Those with a contradiction.
    pub contradicted: u32,
    /// Those with a strong one.
    pub strongly: u32,
}
