//! The state of a run as everything that shows one names it.

use swe_ci_core::run::Progress;

use crate::preflight::{Finding, PreflightState};
use crate::view::RunSummary;

/// The state that a reader has to know first: a queued run may wait for a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunState<'a> {
    /// Its first failed check, if it names one.
    PreflightFailed(Option<&'a Finding>),
    Paused,
    PreflightRunning,
    /// Its evolutions are over, and audits are not.
    BeingAudited,
    At(Progress),
}

impl RunState<'_> {
    pub fn name(self) -> &'static str {
        match self {
            Self::PreflightFailed(_) => "preflight failed",
            Self::Paused => "paused",
            Self::PreflightRunning => "preflight running",
            Self::BeingAudited => "being audited",
            Self::At(progress) => progress.name(),
        }
    }
}

impl RunSummary {
    pub fn state(&self) -> RunState<'_> {
        if self.progress.is_over() {
            return RunState::At(self.progress);
        }
        // Such a run waits for nothing else.
        let all_over = self.evolutions > 0 && self.evolutions_over == self.evolutions;
        if self.progress == Progress::Running && all_over {
            return RunState::BeingAudited;
        }
        match &self.preflight {
            Some(found) if found.state == PreflightState::Failed => {
                RunState::PreflightFailed(found.findings.iter().find(|finding| !finding.good))
            }
            _ if self.steering.paused => RunState::Paused,
            Some(found) if found.state == PreflightState::Waiting => RunState::PreflightRunning,
            _ => RunState::At(self.progress),
        }
    }

    /// The name of its evolutions: tasks, with one sample of each.
    pub fn unit(&self) -> &'static str {
        match self.config.samples {
            1 => "task",
            _ => "evolution",
        }
    }
}
