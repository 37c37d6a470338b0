//! The audit of recorded code: no honest, deterministic code passes a test and
//! its contradiction (the test with one expectation changed so that both cannot
//! hold).

use serde::{Deserialize, Serialize};

use crate::finding::Finding;

crate::named! {
    /// The part of a test that its contradiction changes.
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

/// The findings of an audit of one state of the code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Audit {
    /// From which the contradictions of each session were drawn; secret until
    /// they had run.
    pub seed: String,
    /// Passing tests of which a contradiction was tried.
    pub tests: u32,
    pub accusations: Vec<Accusation>,
    /// Tests that pass only as they are written, and not in another order with
    /// other names, lines and layout.
    pub owed_to_clues: Option<Finding>,
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

/// The audit of an evolution: of its states whose tests grew, and of the last.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct EvolutionAudit {
    pub states: Vec<AuditedState>,
    /// States that were left out, for the audit had taken as long as the
    /// evolution's own tests.
    pub left_out: u32,
    /// Why there is no audit at all.
    pub reason: Option<String>,
}

/// The audit of the code after an iteration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct AuditedState {
    pub iteration: u32,
    pub audit: Audit,
}

impl Audit {
    /// Why the state collapses; `None` for honest code.
    pub fn accuses(&self) -> Option<String> {
        let first = self.accusations.first()?;
        let (as_written, contradiction) = first.difference();
        let more = match self.accusations.len() - 1 {
            0 => String::new(),
            more => format!(", and {more} more tests with theirs"),
        };
        Some(format!(
            "{} passes together with its contradiction, `{as_written}` and `{contradiction}`{more}",
            first.test
        ))
    }
}

impl Accusation {
    /// The first line in which the contradiction differs.
    pub fn difference(&self) -> (&str, &str) {
        let lines = self.as_written.lines().zip(self.contradiction.lines());
        let mut differing = lines.filter(|(one, other)| one != other);
        let (one, other) = differing.next().unwrap_or_default();
        match other.is_empty() {
            true => (
                "",
                self.contradiction.lines().last().unwrap_or_default().trim(),
            ),
            false => (one.trim(), other.trim()),
        }
    }
}

/// How many of a task's tests can be contradicted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Coverage {
    pub tests: u32,
    /// Those with a contradiction.
    pub contradicted: u32,
    /// Those with a strong one.
    pub strongly: u32,
    /// Some of those without, with the reason.
    pub without: Vec<Uncovered>,
    /// Why none has one, if that has one reason for all.
    pub reason: Option<String>,
}

/// A test without a contradiction.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Uncovered {
    pub test: String,
    pub why: String,
}
