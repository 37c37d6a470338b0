//! The effort of a run: tokens, money and time, for each task, each test it closed
//! and each iteration.

use serde::{Deserialize, Serialize};
use swe_ci_core::metrics::{Convention, Series};
use swe_ci_core::uncertainty::{Clusters, Interval};

use super::{Entry, ScoredTask, UncertaintyModel};

/// What an evolution took. Absent is unknown, never 0.
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

/// Makes [`Rate`] and the two structs with a field for each rate.
macro_rules! rates {
    ($($(#[$($about:tt)*])+ $rate:ident: $field:ident,)+) => {
        /// What the scored evolutions of a run took on average. Absent is unknown, never
        /// 0.
        #[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
        pub struct EffortRates {
            $($(#[$($about)*])+ pub $field: Option<f64>,)+
        }

        /// 95 % intervals of [`EffortRates`]: each resample of the repositories has a ratio
        /// of sums. Absent where the rate is, with fewer than two repositories to divide
        /// by, and where more than 2.5 % of the resamples closed no test.
        #[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
        pub struct EffortIntervals {
            $(pub $field: Option<Interval>,)+
        }

        /// One of the rates, as columns and figures name it.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Rate {
            $($rate,)+
        }

        impl EffortRates {
            fn new(rate: impl Fn(Rate) -> Option<f64>) -> Self {
                Self { $($field: rate(Rate::$rate),)+ }
            }

            pub fn of(&self, rate: Rate) -> Option<f64> {
                match rate {
                    $(Rate::$rate => self.$field,)+
                }
            }
        }

        impl EffortIntervals {
            fn new(interval: impl Fn(Rate) -> Option<Interval>) -> Self {
                Self { $($field: interval(Rate::$rate),)+ }
            }

            pub fn of(&self, rate: Rate) -> Option<Interval> {
                match rate {
                    $(Rate::$rate => self.$field,)+
                }
            }
        }
    };
}

rates! {
    /// Input and output tokens of one evolution.
    TokensPerTask: tokens_per_task,
    /// US dollars of one evolution.
    UsdPerTask: usd_per_task,
    /// All tokens over all closed tests: those that pass after the last iteration
    /// beyond those that the base passes. Absent, like the next, without any.
    TokensPerClosedTest: tokens_per_closed_test,
    /// US dollars in the same way.
    UsdPerClosedTest: usd_per_closed_test,
    /// Seconds of the agents' steps of one evolution, without the waiting for the
    /// provider.
    AgentSecondsPerTask: agent_seconds_per_task,
    /// The same of one tested iteration.
    AgentSecondsPerIteration: agent_seconds_per_iteration,
    /// Seconds of all steps of one tested iteration, waiting and tests included.
    WallSecondsPerIteration: wall_seconds_per_iteration,
}

impl Rate {
    /// What an evolution took, in the unit of the rate.
    fn amount(self, effort: Effort) -> Option<f64> {
        let (amount, unit) = match self {
            Self::TokensPerTask | Self::TokensPerClosedTest => (effort.tokens, 1.0),
            Self::UsdPerTask | Self::UsdPerClosedTest => (effort.micro_usd, 1e6),
            Self::AgentSecondsPerTask | Self::AgentSecondsPerIteration => (effort.agent_ms, 1e3),
            Self::WallSecondsPerIteration => (effort.wall_ms, 1e3),
        };
        Some(amount? as f64 / unit)
    }

    /// What of an evolution shares the amount: itself, its closed tests, its
    /// iterations.
    fn number(self, series: &Series) -> f64 {
        match self {
            Self::TokensPerTask | Self::UsdPerTask | Self::AgentSecondsPerTask => 1.0,
            Self::TokensPerClosedTest | Self::UsdPerClosedTest => closed_tests(series),
            Self::AgentSecondsPerIteration | Self::WallSecondsPerIteration => {
                f64::from(series.turns())
            }
        }
    }
}

/// A task of a run with the two sums of a rate over its samples.
struct Share<'a> {
    task: &'a ScoredTask,
    amount: f64,
    number: f64,
}

impl Entry {
    /// `None` when nothing is known about what it took.
    pub(super) fn effort_rates(&self, convention: Convention) -> Option<EffortRates> {
        let rates = EffortRates::new(|rate| {
            let shares = self.shares(rate, convention)?;
            let amount: f64 = shares.iter().map(|share| share.amount).sum();
            let number: f64 = shares.iter().map(|share| share.number).sum();
            (number > 0.0).then_some(amount / number)
        });
        (rates != EffortRates::default()).then_some(rates)
    }

    /// `None` unless the amount is known of every sample.
    fn shares(&self, rate: Rate, convention: Convention) -> Option<Vec<Share<'_>>> {
        let tasks = self.tasks.iter().map(|task| {
            let amounts = task.samples.iter().map(|sample| rate.amount(sample.effort));
            Some(Share {
                task,
                amount: amounts.sum::<Option<f64>>()?,
                number: task.series(convention).map(|s| rate.number(s)).sum(),
            })
        });
        tasks.collect()
    }
}

impl UncertaintyModel {
    /// `None` when no rate has an interval.
    pub(super) fn effort(&self, entry: &Entry, convention: Convention) -> Option<EffortIntervals> {
        let intervals = EffortIntervals::new(|rate| {
            let mut clusters = Clusters::new(self.repositories());
            for share in entry.shares(rate, convention)? {
                let repository = self.repository(share.task);
                clusters.add_to_ratio(repository, share.amount, share.number);
            }
            self.resamples().interval(&clusters)
        });
        (intervals != EffortIntervals::default()).then_some(intervals)
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
    use crate::testing::{entry, leaderboard, with_effort};
    use swe_ci_core::metrics::Gamma;

    /// Three evolutions of two tasks, of four iterations; the target has a hundred
    /// tests more than the base.
    fn run() -> Entry {
        let run = entry("m", &[("p", &[&[0.5, 0.2], &[-0.5]]), ("q", &[&[1.0]])]);
        with_effort(run, |task, sample| {
            let (tokens, seconds) = match (task, sample) {
                (0, 0) => (1_000, 10),
                (0, _) => (2_000, 5),
                _ => (3_000, 15),
            };
            Effort {
                tokens: Some(tokens),
                micro_usd: Some(200 * tokens),
                wall_ms: Some(2_000 * seconds + 20_000 * task as u64),
                agent_ms: Some(1_000 * seconds),
            }
        })
    }

    #[test]
    fn by_hand() {
        let rates = run().effort_rates(Convention::Paper).unwrap();
        let check = |rate, expect: f64| {
            let actual = rates.of(rate);
            let close = (actual.unwrap() - expect).abs() < 1e-12;
            assert!(close, "{rate:?}: {actual:?} {expect}");
        };
        check(Rate::TokensPerTask, 2_000.0);
        check(Rate::UsdPerTask, 0.4);
        // 20 and 100 closed, none where fewer pass than on the base.
        check(Rate::TokensPerClosedTest, 50.0);
        check(Rate::UsdPerClosedTest, 0.01);
        check(Rate::AgentSecondsPerTask, 10.0);
        check(Rate::AgentSecondsPerIteration, 7.5);
        check(Rate::WallSecondsPerIteration, 20.0);
    }

    /// p alone has 3,000 tokens, $0.60, 15 s of its agents and 30 s in all for two
    /// evolutions, 20 closed tests and three iterations; q alone 3,000, $0.60, 15 s
    /// and 50 s for one, 100 and one. Each is a quarter of the resamples.
    #[test]
    fn intervals_are_of_ratios_of_sums() {
        let data = leaderboard(vec![run()]);
        let row = &UncertaintyModel::new(&data).rank(&data, Gamma::ONE, Convention::Paper)[0];
        let check = |rate, low: f64, high: f64| {
            let interval = row.took_interval(rate).unwrap();
            let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-12, "{rate:?}: {a} {b}");
            close(interval.low, low);
            close(interval.high, high);
            assert!(interval.low <= row.took(rate).unwrap());
        };
        check(Rate::TokensPerTask, 1_500.0, 3_000.0);
        check(Rate::UsdPerTask, 0.3, 0.6);
        check(Rate::TokensPerClosedTest, 30.0, 150.0);
        check(Rate::UsdPerClosedTest, 0.006, 0.03);
        check(Rate::AgentSecondsPerTask, 7.5, 15.0);
        check(Rate::AgentSecondsPerIteration, 5.0, 15.0);
        check(Rate::WallSecondsPerIteration, 10.0, 50.0);
    }

    /// Only q closes tests: one repository says nothing about another.
    #[test]
    fn closed_tests_of_one_repository_have_no_interval() {
        let run = entry("m", &[("p", &[&[0.0]]), ("q", &[&[1.0]])]);
        let tokens = Effort {
            tokens: Some(100),
            ..Effort::default()
        };
        let data = leaderboard(vec![with_effort(run, |_, _| tokens)]);
        let row = &UncertaintyModel::new(&data).rank(&data, Gamma::ONE, Convention::Paper)[0];
        assert_eq!(row.took(Rate::TokensPerClosedTest), Some(2.0));
        assert_eq!(row.took_interval(Rate::TokensPerClosedTest), None);
        let interval = row.took_interval(Rate::TokensPerTask).unwrap();
        assert_eq!((interval.low, interval.high), (100.0, 100.0));
        assert_eq!(row.took_interval(Rate::UsdPerTask), None);
    }

    #[test]
    fn the_unknown_is_not_zero() {
        let mut run = run();
        // The price of one evolution is missing.
        run.tasks_mut()[1].samples[0].effort.micro_usd = None;
        let rates = run.effort_rates(Convention::Paper).unwrap();
        assert_eq!(
            (rates.usd_per_task, rates.usd_per_closed_test),
            (None, None)
        );
        assert_eq!(rates.tokens_per_task, Some(2_000.0));
        let run = with_effort(run, |_, _| Effort::default());
        assert_eq!(run.effort_rates(Convention::Paper), None);
        // Nothing closed: no cost of a closed test. What costs nothing costs 0.
        let idle = entry("m", &[("p", &[&[0.0]])]);
        let idle = with_effort(idle, |_, _| Effort {
            tokens: Some(10),
            micro_usd: Some(0),
            ..Effort::default()
        });
        let rates = idle.effort_rates(Convention::Paper).unwrap();
        assert_eq!(rates.tokens_per_closed_test, None);
        assert_eq!(rates.tokens_per_task, Some(10.0));
        assert_eq!(rates.usd_per_task, Some(0.0));
    }
}
