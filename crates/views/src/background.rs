//! Work that a page starts and that goes on after the response.

use serde::{Deserialize, Serialize};

/// Work that any worker carries out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkKind {
    /// The tests of a run's iterations run again.
    Verification,
    /// A model judges a run's iterations.
    Judge,
    /// A split of a dataset is imported.
    Import,
}

impl WorkKind {
    pub const ALL: [Self; 3] = [Self::Verification, Self::Judge, Self::Import];

    pub fn name(self) -> &'static str {
        match self {
            Self::Verification => "verification",
            Self::Judge => "judge",
            Self::Import => "import",
        }
    }
}

/// The state of such work, or how it ended last.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct BackgroundWork {
    /// Name of the account that started it; `operator` for the command line.
    pub by: String,
    /// When it was started, RFC 3339.
    pub began_at: String,
    /// How far it is, in words; empty at first.
    pub progress: String,
    #[serde(flatten)]
    pub state: WorkState,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum WorkState {
    /// No worker has begun it yet.
    Queued,
    Working,
    Done {
        result: String,
    },
    Failed {
        reason: String,
    },
}

impl BackgroundWork {
    /// Whether it has not ended: a worker has it, or will.
    pub fn is_active(&self) -> bool {
        matches!(self.state, WorkState::Queued | WorkState::Working)
    }
}
