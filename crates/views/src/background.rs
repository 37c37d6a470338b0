//! Work that an administrator starts in a page and that goes on after the
//! response.

use serde::{Deserialize, Serialize};

/// The state of such work, or how it ended last.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct BackgroundWork {
    /// Name of the account that started it; `operator` for the command line.
    pub by: String,
    /// RFC 3339.
    pub began_at: String,
    /// How far it is, in words; empty at first.
    pub progress: String,
    #[serde(flatten)]
    pub state: WorkState,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum WorkState {
    Working,
    Done { result: String },
    Failed { reason: String },
}

impl BackgroundWork {
    pub fn is_working(&self) -> bool {
        self.state == WorkState::Working
    }
}
