//! An evolution's own budget.

use swe_ci_core::agent::Budget;
use swe_ci_core::usage::Traffic;

use super::*;
use crate::evolve::model_usage::evolution_ledger;

#[test]
fn attempts_that_others_ended_take_nothing_from_an_evolutions_budget() {
    let check = |outcome: StepOutcome, takes: bool| {
        let State::Active(at) = State::start() else {
            panic!("an evolution starts with a step")
        };
        let usage = ModelUsage {
            traffic: Some(Traffic {
                requests: 1,
                ..Traffic::default()
            }),
            ..ModelUsage::default()
        };
        let step = step_row(at, 0, &Attempt::of(outcome, ""), usage, None);
        let budget = Budget {
            requests: Some(1),
            ..Budget::default()
        };
        let ledger = evolution_ledger(budget, &[step]).unwrap();
        assert_eq!(ledger.reached().is_some(), takes, "{outcome:?}");
    };
    check(StepOutcome::Done, true);
    check(StepOutcome::AgentFailed, true);
    check(StepOutcome::AgentTimedOut, true);
    check(StepOutcome::InfraFailed, false);
    check(StepOutcome::ProviderFailed, false);
    check(StepOutcome::BudgetSpent, false);
    check(StepOutcome::Interrupted, false);
}
