//! Why an attempt at a step failed.

use swe_ci_core::step::StepOutcome;
use swe_ci_sandbox::SandboxError;

/// Why an attempt failed: the one at fault decides whether the attempt counts.
#[derive(Debug)]
pub(super) enum Failure {
    /// The fault of the agent, its provider or its budget.
    Ended(StepOutcome, String),
    Platform(anyhow::Error),
}

impl Failure {
    pub fn malformed(why: impl std::fmt::Display) -> Self {
        Self::Ended(StepOutcome::MalformedRequirement, why.to_string())
    }
}

impl From<SandboxError> for Failure {
    fn from(error: SandboxError) -> Self {
        match error {
            SandboxError::TooBig { .. } => Self::Ended(StepOutcome::AgentFailed, error.to_string()),
            other => Self::Platform(other.into()),
        }
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Self::Platform(error)
    }
}
