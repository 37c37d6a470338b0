//! Why a step failed: one class for each attempt without a result, by rules, with
//! the evidence.
//!
//! The first rule that holds decides:
//!
//! | rule | class |
//! |---|---|
//! | The outcome blames the platform, the provider or the budget. | `platform`, `provider`, `budget` |
//! | A request was refused, or an answer cut, because the conversation was too long. | `context_overflow` |
//! | The last answer was cut off at its maximum length. | `truncated_answer` |
//! | One call with one result was made [`EQUAL_CALLS`] times or more. | `equal_calls` |
//! | Of [`MANY_CALLS`] tool calls or more at least half failed. | `tool_misuse` |
//! | The agent exceeded its time limit. | `timed_out` |
//! | The architect left no valid document. | `malformed_document` |
//! | Otherwise: the agent ended by itself. | `gave_up` |

use std::collections::BTreeMap;

use swe_ci_core::step::StepOutcome;

use super::StepDigest;
use crate::view::StepView;

/// How often one call comes to one result before that counts as a loop.
pub const EQUAL_CALLS: u32 = 5;
/// Fewer tool calls say nothing about how an agent uses its tools.
pub const MANY_CALLS: u32 = 6;

swe_ci_core::named! {
    /// Why a step failed.
    #[derive(PartialOrd, Ord)]
    pub enum FailureClass {
        MalformedDocument = "malformed_document",
        GaveUp = "gave_up",
        ContextOverflow = "context_overflow",
        EqualCalls = "equal_calls",
        TruncatedAnswer = "truncated_answer",
        ToolMisuse = "tool_misuse",
        TimedOut = "timed_out",
        Provider = "provider",
        Budget = "budget",
        Platform = "platform",
    }
}

/// The class of a failed step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepFailure {
    pub class: FailureClass,
    /// Number of the message that shows it.
    pub message: Option<u32>,
    /// What was recorded, in words.
    pub evidence: String,
}

/// How many steps of a run failed, by class.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FailedSteps(BTreeMap<FailureClass, u32>);

impl FailedSteps {
    pub fn add(&mut self, class: FailureClass) {
        *self.0.entry(class).or_default() += 1;
    }

    pub fn count(&self, class: FailureClass) -> u32 {
        self.0.get(&class).copied().unwrap_or_default()
    }

    /// The classes that occur, the most frequent first.
    pub fn by_count(&self) -> Vec<(FailureClass, u32)> {
        let mut counts: Vec<_> = self.0.iter().map(|(class, n)| (*class, *n)).collect();
        counts.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
        counts
    }
}

impl StepFailure {
    /// The outcomes of steps that failed.
    pub const OUTCOMES: [StepOutcome; 8] = [
        StepOutcome::NoChange,
        StepOutcome::MalformedRequirement,
        StepOutcome::AgentFailed,
        StepOutcome::AgentTimedOut,
        StepOutcome::BudgetSpent,
        StepOutcome::EvolutionBudgetSpent,
        StepOutcome::ProviderFailed,
        StepOutcome::InfraFailed,
    ];

    /// `None` for a step that did not fail. Without a digest the outcome alone
    /// decides.
    pub fn of(step: &StepView, digest: Option<&StepDigest>) -> Option<Self> {
        let by_outcome = match step.outcome {
            StepOutcome::InfraFailed => FailureClass::Platform,
            StepOutcome::ProviderFailed => FailureClass::Provider,
            StepOutcome::BudgetSpent | StepOutcome::EvolutionBudgetSpent => FailureClass::Budget,
            StepOutcome::AgentTimedOut => FailureClass::TimedOut,
            StepOutcome::MalformedRequirement => FailureClass::MalformedDocument,
            StepOutcome::AgentFailed | StepOutcome::NoChange => FailureClass::GaveUp,
            _ => return None,
        };
        let is_the_agents = !matches!(
            by_outcome,
            FailureClass::Platform | FailureClass::Provider | FailureClass::Budget
        );
        let recorded = digest.filter(|_| is_the_agents).and_then(in_recording);
        Some(recorded.unwrap_or_else(|| Self {
            class: by_outcome,
            message: None,
            evidence: step.detail.clone(),
        }))
    }
}

fn in_recording(digest: &StepDigest) -> Option<StepFailure> {
    if let Some(first) = digest.overflows.first() {
        return Some(StepFailure {
            class: FailureClass::ContextOverflow,
            message: Some(*first),
            evidence: "the conversation was longer than the model takes".into(),
        });
    }
    if digest.last_answer > 0 && digest.truncated.contains(&digest.last_answer) {
        return Some(StepFailure {
            class: FailureClass::TruncatedAnswer,
            message: Some(digest.last_answer),
            evidence: "the last answer was cut off at its maximum length".into(),
        });
    }
    // The first call is not among its repetitions.
    if let Some(most) = digest
        .repeated
        .first()
        .filter(|most| most.times + 1 >= EQUAL_CALLS)
    {
        return Some(StepFailure {
            class: FailureClass::EqualCalls,
            message: Some(most.message),
            evidence: format!("{} times {}", most.times + 1, most.call),
        });
    }
    let tools = digest.tools.values();
    let (calls, failed) = tools.fold((0, 0), |(calls, failed), tool| {
        (calls + tool.calls, failed + tool.failed)
    });
    let failures = digest.tools.values().map(|tool| tool.first_failed);
    (calls >= MANY_CALLS && failed * 2 >= calls).then(|| StepFailure {
        class: FailureClass::ToolMisuse,
        message: failures.filter(|first| *first > 0).min(),
        evidence: format!("{failed} of {calls} tool calls failed"),
    })
}

#[cfg(test)]
mod tests {
    use swe_ci_core::step::Role;

    use super::super::{Repeated, Use};
    use super::*;

    fn step(outcome: StepOutcome) -> StepView {
        StepView {
            iteration: 1,
            role: Role::Programmer,
            attempt: 1,
            outcome,
            detail: "as recorded".into(),
            seconds: 1.0,
            finished_at: None,
            usage: None,
            traffic: None,
            truncation: None,
            recording: None,
            container: None,
        }
    }

    fn uses(calls: u32, failed: u32) -> Use {
        Use {
            calls,
            failed,
            first: 2,
            first_failed: 4,
            ..Use::default()
        }
    }

    #[test]
    fn the_outcome_decides_where_nothing_else_does() {
        use FailureClass::{Budget, GaveUp, MalformedDocument, Platform, Provider, TimedOut};

        let classes = StepOutcome::ALL.map(|outcome| {
            let failure = StepFailure::of(&step(outcome), Some(&StepDigest::default()));
            failure.map(|failure| (outcome.name(), failure.class))
        });
        let classes: Vec<_> = classes.into_iter().flatten().collect();
        let expect = [
            ("no_change", GaveUp),
            ("malformed_requirement", MalformedDocument),
            ("agent_failed", GaveUp),
            ("agent_timed_out", TimedOut),
            ("budget_spent", Budget),
            ("evolution_budget_spent", Budget),
            ("provider_failed", Provider),
            ("infra_failed", Platform),
        ];
        assert_eq!(classes, expect);
        let named = StepFailure::OUTCOMES.map(StepOutcome::name);
        assert_eq!(named, expect.map(|(name, _)| name));
        let without = StepFailure::of(&step(StepOutcome::NoChange), None).unwrap();
        assert_eq!((without.class, &*without.evidence), (GaveUp, "as recorded"));
    }

    #[test]
    fn the_most_frequent_class_comes_first() {
        let mut steps = FailedSteps::default();
        for class in [
            FailureClass::GaveUp,
            FailureClass::Provider,
            FailureClass::Provider,
        ] {
            steps.add(class);
        }
        let counts = [(FailureClass::Provider, 2), (FailureClass::GaveUp, 1)];
        assert_eq!(steps.by_count(), counts);
        assert_eq!(steps.count(FailureClass::Budget), 0);
    }

    #[test]
    fn the_recording_says_more_than_the_outcome() {
        let everything = StepDigest {
            overflows: vec![40],
            truncated: vec![3, 38],
            last_answer: 38,
            repeated: vec![Repeated {
                times: EQUAL_CALLS - 1,
                call: "bash ls".into(),
                message: 12,
            }],
            tools: [("bash".to_owned(), uses(MANY_CALLS, MANY_CALLS / 2))].into(),
            ..StepDigest::default()
        };
        let check = |digest: &StepDigest, class: FailureClass, message: u32, evidence: &str| {
            let failure = StepFailure::of(&step(StepOutcome::AgentTimedOut), Some(digest)).unwrap();
            assert_eq!((failure.class, failure.message), (class, Some(message)));
            assert!(failure.evidence.contains(evidence), "{}", failure.evidence);
        };
        let mut digest = everything.clone();
        check(&digest, FailureClass::ContextOverflow, 40, "longer than");
        digest.overflows.clear();
        check(&digest, FailureClass::TruncatedAnswer, 38, "cut off");
        // An answer in between was cut, and the agent went on.
        digest.last_answer = 41;
        check(&digest, FailureClass::EqualCalls, 12, "5 times bash ls");
        digest.repeated[0].times -= 1;
        check(&digest, FailureClass::ToolMisuse, 4, "3 of 6");
        digest.tools = [("bash".to_owned(), uses(MANY_CALLS, 2))].into();
        let failure = StepFailure::of(&step(StepOutcome::AgentTimedOut), Some(&digest)).unwrap();
        assert_eq!(failure.class, FailureClass::TimedOut);
        // A provider that failed is to blame, whatever the agent did before.
        let provider =
            StepFailure::of(&step(StepOutcome::ProviderFailed), Some(&everything)).unwrap();
        assert_eq!(provider.class, FailureClass::Provider);
        assert_eq!(
            StepFailure::of(&step(StepOutcome::Done), Some(&everything)),
            None
        );
    }
}
