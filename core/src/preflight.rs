//! The try before a run begins, so that a wrong key or a broken image costs a
//! minute and not a night: its agents work on a tiny task, and one of its own
//! tasks is tested at both ends again.

use serde::{Deserialize, Serialize};

/// How the try of a run went.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Preflight {
    pub state: PreflightState,
    /// RFC 3339; since when that is so.
    pub at: String,
    /// What was tried, in order; of the last try where there were several.
    pub findings: Vec<Finding>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum PreflightState {
    /// It is to be tried, or is being tried; nothing of the run is begun.
    Waiting,
    /// All went well; the run may begin.
    Passed,
    /// Something did not; nothing is begun until somebody says so.
    Failed,
    /// Somebody let the run begin without it.
    Skipped,
}

/// One thing that was tried.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Finding {
    /// What, such as `agents` or the name of a task.
    pub subject: String,
    pub good: bool,
    /// How it went, in plain words.
    pub says: String,
    /// What to do about it.
    pub advice: Vec<String>,
    /// What was printed last before it failed.
    pub last_lines: Vec<String>,
}

impl Preflight {
    /// Whether the run has to wait for it.
    #[must_use]
    pub fn holds_up(&self) -> bool {
        self.state.holds_up()
    }
}

impl PreflightState {
    pub const ALL: [Self; 4] = [Self::Waiting, Self::Passed, Self::Failed, Self::Skipped];

    #[must_use]
    pub fn holds_up(self) -> bool {
        matches!(self, Self::Waiting | Self::Failed)
    }

    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
        }
    }

    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.name() == name)
    }

    /// As the findings say.
    #[must_use]
    pub fn of(findings: &[Finding]) -> Self {
        match findings.iter().all(|finding| finding.good) {
            true => Self::Passed,
            false => Self::Failed,
        }
    }
}
