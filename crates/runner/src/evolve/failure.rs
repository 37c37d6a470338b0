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
    pub fn is_of_budget(&self) -> bool {
        use StepOutcome::{BudgetSpent, EvolutionBudgetSpent};
        matches!(self, Self::Ended(BudgetSpent | EvolutionBudgetSpent, _))
    }

    pub fn malformed(why: impl std::fmt::Display) -> Self {
        Self::Ended(StepOutcome::MalformedRequirement, why.to_string())
    }
}

impl From<SandboxError> for Failure {
    fn from(error: SandboxError) -> Self {
        match error.blames_the_code() {
            true => Self::Ended(StepOutcome::AgentFailed, error.to_string()),
            false => Self::Platform(error.into()),
        }
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Self::Platform(error)
    }
}

#[cfg(test)]
mod tests {
    use swe_ci_base::code::Excess;

    use super::*;

    #[test]
    fn the_agents_faults_are_its_own() {
        let check = |error: SandboxError, expect: Option<&str>| {
            let shown = error.to_string();
            let why = match Failure::from(error) {
                Failure::Ended(StepOutcome::AgentFailed, why) => Some(why),
                Failure::Ended(outcome, why) => panic!("{outcome:?}: {why}"),
                Failure::Platform(_) => None,
            };
            assert_eq!(why.as_deref(), expect, "{shown}");
        };
        let too_big = |excess| SandboxError::TooBig {
            path: "/app/code".into(),
            excess,
        };
        check(
            too_big(Excess::Bytes(256 << 20)),
            Some("/app/code has more than 256 MiB"),
        );
        check(
            too_big(Excess::Files(200_000)),
            Some("/app/code has more than 200000 files"),
        );
        check(
            too_big(Excess::Entries(5)),
            Some("/app/code has more than 5 entries, caches included"),
        );
        check(
            SandboxError::Died("its memory ran out".into()),
            Some("the code ended its container: its memory ran out"),
        );
        check(SandboxError::Lost, None);
        check(SandboxError::Engine("it did not answer".into()), None);
        check(SandboxError::NoImage("sha256:0".into()), None);
        check(anyhow::anyhow!("damaged").into(), None);
    }
}
