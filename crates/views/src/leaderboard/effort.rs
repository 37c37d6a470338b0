//! The effort of a run: tokens, money and time, for each task, each test it closed
//! and each iteration.

use serde::{Deserialize, Serialize};
use swe_ci_core::metrics::{Convention, Series};

use super::Entry;

/// The sums over the scored evolutions of a run. Absent is unknown, never 0.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Effort {
    /// Input and output tokens; only when every agent's step was counted.
    pub tokens: Option<u64>,
    /// Millionths of a US dollar; only when every agent's step has a price.
    pub micro_usd: Option<u64>,
    /// Milliseconds of all steps: of agents, with the time they wait for their
    /// provider, and of tests.
    pub wall_ms: Option<u64>,
    /// Milliseconds of the agents' steps, without the waiting for the provider.
    pub agent_ms: Option<u64>,
}

/// What the scored evolutions of a run took on average. Absent is unknown, never
/// 0.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct EffortRates {
    /// Input and output tokens of one evolution.
    pub tokens_per_task: Option<f64>,
    /// US dollars of one evolution.
    pub usd_per_task: Option<f64>,
    /// All tokens over all closed tests: those that pass after the last iteration
    /// beyond those that the base passes. Absent, like the next, without any.
    pub tokens_per_closed_test: Option<f64>,
    /// US dollars in the same way.
    pub usd_per_closed_test: Option<f64>,
    /// Seconds of the agents' steps of one evolution, without the waiting for the
    /// provider.
    pub agent_seconds_per_task: Option<f64>,
    /// The same of one tested iteration.
    pub agent_seconds_per_iteration: Option<f64>,
    /// Seconds of all steps of one tested iteration, waiting and tests included.
    pub wall_seconds_per_iteration: Option<f64>,
}

/// One of the rates, as columns and figures name it.
pub type Rate = fn(&EffortRates) -> Option<f64>;

impl Entry {
    /// `None` when nothing is known about what it took.
    pub(super) fn effort_rates(&self, convention: Convention) -> Option<EffortRates> {
        let tasks = self.tasks.iter();
        let all: Vec<&Series> = tasks.flat_map(|task| task.series(convention)).collect();
        let evolutions = all.len() as f64;
        let iterations: f64 = all.iter().map(|series| f64::from(series.turns())).sum();
        let closed: f64 = all.iter().map(|series| closed_tests(series)).sum();
        let over = |sum: Option<u64>, unit: f64, number: f64| {
            sum.filter(|_| number > 0.0)
                .map(|sum| sum as f64 / unit / number)
        };
        let Effort {
            tokens,
            micro_usd,
            wall_ms,
            agent_ms,
        } = self.effort;
        let rates = EffortRates {
            tokens_per_task: over(tokens, 1.0, evolutions),
            usd_per_task: over(micro_usd, 1e6, evolutions),
            tokens_per_closed_test: over(tokens, 1.0, closed),
            usd_per_closed_test: over(micro_usd, 1e6, closed),
            agent_seconds_per_task: over(agent_ms, 1e3, evolutions),
            agent_seconds_per_iteration: over(agent_ms, 1e3, iterations),
            wall_seconds_per_iteration: over(wall_ms, 1e3, iterations),
        };
        (rates != EffortRates::default()).then_some(rates)
    }
}

/// Tests that pass in the end beyond those of the base; none where it ends with
/// fewer.
fn closed_tests(series: &Series) -> f64 {
    let end = series.passes().last().copied().unwrap_or(series.base());
    f64::from(end.saturating_sub(series.base()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::entry;

    /// Three evolutions of two tasks, of four iterations; the target has a hundred
    /// tests more than the base.
    fn run() -> Entry {
        let mut run = entry("m", &[("p", &[&[0.5, 0.2], &[-0.5]]), ("q", &[&[1.0]])]);
        run.effort = Effort {
            tokens: Some(6_000),
            micro_usd: Some(1_200_000),
            wall_ms: Some(80_000),
            agent_ms: Some(30_000),
        };
        run
    }

    #[test]
    fn by_hand() {
        let rates = run().effort_rates(Convention::Paper).unwrap();
        let check = |actual: Option<f64>, expect: f64| {
            assert!(
                (actual.unwrap() - expect).abs() < 1e-12,
                "{actual:?} {expect}"
            );
        };
        check(rates.tokens_per_task, 2_000.0);
        check(rates.usd_per_task, 0.4);
        // 20 and 100 closed, none where fewer pass than on the base.
        check(rates.tokens_per_closed_test, 50.0);
        check(rates.usd_per_closed_test, 0.01);
        check(rates.agent_seconds_per_task, 10.0);
        check(rates.agent_seconds_per_iteration, 7.5);
        check(rates.wall_seconds_per_iteration, 20.0);
    }

    #[test]
    fn the_unknown_is_not_zero() {
        let mut run = run();
        run.effort.micro_usd = None;
        let rates = run.effort_rates(Convention::Paper).unwrap();
        assert_eq!(
            (rates.usd_per_task, rates.usd_per_closed_test),
            (None, None)
        );
        run.effort = Effort::default();
        assert_eq!(run.effort_rates(Convention::Paper), None);
        // Nothing closed: no cost of a closed test.
        let mut idle = entry("m", &[("p", &[&[0.0]])]);
        idle.effort.tokens = Some(10);
        let rates = idle.effort_rates(Convention::Paper).unwrap();
        assert_eq!(rates.tokens_per_closed_test, None);
        assert_eq!(rates.tokens_per_task, Some(10.0));
        // What costs nothing costs 0.
        idle.effort.micro_usd = Some(0);
        let rates = idle.effort_rates(Convention::Paper).unwrap();
        assert_eq!(rates.usd_per_task, Some(0.0));
    }
}
