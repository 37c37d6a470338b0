//! The preflight of a run, so that a wrong key or a broken image costs a
//! minute and not a night: its agents work on a tiny task, and one of its own
//! tasks runs its tests on base and target again.

use serde::{Deserialize, Serialize};

/// The preflight of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Preflight {
    pub state: PreflightState,
    /// The time of this state, RFC 3339.
    pub at: String,
    /// The checks in order; those of the last attempt if there were several.
    pub findings: Vec<Finding>,
}

swe_ci_core::named! {
    pub enum PreflightState {
        /// It is pending or in progress; the run has not started.
        Waiting = "waiting",
        /// Every check passed; the run may start.
        Passed = "passed",
        /// A check failed; the run waits for a user's decision.
        Failed = "failed",
        /// A user started the run without it.
        Skipped = "skipped",
    }
}

/// One check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
// An iteration has findings too, of another form.
#[schema(as = PreflightFinding)]
pub struct Finding {
    /// Its subject, such as `agents` or the name of a task.
    pub subject: String,
    pub good: bool,
    /// The result in plain words.
    pub says: String,
    /// Possible remedies.
    pub advice: Vec<String>,
    /// The last output before the failure.
    pub last_lines: Vec<String>,
}

impl Preflight {
    pub fn holds_up(&self) -> bool {
        self.state.holds_up()
    }
}

impl PreflightState {
    pub fn holds_up(self) -> bool {
        matches!(self, Self::Waiting | Self::Failed)
    }

    pub fn of(findings: &[Finding]) -> Self {
        match findings.iter().all(|finding| finding.good) {
            true => Self::Passed,
            false => Self::Failed,
        }
    }
}
