//! Estimates the time and cost of a run from earlier evolutions of the same
//! harness, model and number of iterations.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use swe_ci_core::requirement::Mode;
use swe_ci_core::run::RunConfig;
use swe_ci_core::step::Role;
use swe_ci_core::task::TaskId;
use swe_ci_core::usage::Usage;

/// The normal quantile of the 10th and the 90th percentile.
const Z: f64 = 1.281_552;

/// What one scored evolution of an earlier run took, over all its attempts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EvolutionCost {
    pub task: TaskId,
    /// Milliseconds of work, waiting for the provider included.
    pub ms: u64,
    /// Tokens of its agents; none if not counted.
    pub usage: Option<Usage>,
}

/// The cost of a run before it starts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Estimate {
    pub tasks: u32,
    pub evolutions: u64,
    /// Iterations of all evolutions together, at most.
    pub iterations: u64,
    /// Number of earlier evolutions behind it; with 0, the ranges below are
    /// unknown.
    pub rests_on: u64,
    /// Total seconds of work; two workers need half of it.
    pub seconds: Option<Range>,
    /// Input and output tokens together.
    pub tokens: Option<Range>,
    /// Millionths of a US dollar; none without a known price.
    pub micro_usd: Option<Range>,
    /// The task that took longest on average, and its seconds.
    #[schema(value_type = Option<Vec<serde_json::Value>>)]
    pub longest: Option<(TaskId, u64)>,
    /// Maximum mebibytes of each current evolution.
    pub disk_mb: u32,
    /// The smallest difference of EvoScore to another run that it shows with 80 %
    /// probability.
    pub detects: Option<f64>,
}

/// A run of an experiment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct PlannedRun {
    pub model: String,
    pub harness: String,
    pub mode: Mode,
    pub arm: Option<String>,
    pub estimate: Estimate,
}

impl PlannedRun {
    pub fn new(config: &RunConfig, estimate: Estimate) -> Self {
        Self {
            model: config.model.clone(),
            harness: config.harness.name().to_owned(),
            mode: config.mode,
            arm: config.arm.clone(),
            estimate,
        }
    }
}

/// All runs of an experiment. A sum is absent where it is unknown of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ExperimentEstimate {
    pub runs: Vec<PlannedRun>,
    pub evolutions: u64,
    /// Total seconds of work; two workers need half of it.
    pub seconds: Option<Range>,
    /// Input and output tokens together.
    pub tokens: Option<Range>,
    /// Millionths of a US dollar.
    pub micro_usd: Option<Range>,
}

impl ExperimentEstimate {
    pub fn of(runs: Vec<PlannedRun>) -> Self {
        let sum = |of: fn(&Estimate) -> Option<Range>| {
            let mut ranges = runs.iter().map(|run| of(&run.estimate));
            let none = Range { low: 0, high: 0 };
            ranges.try_fold(none, |sum, range| {
                let Range { low, high } = range?;
                Some(Range {
                    low: sum.low.saturating_add(low),
                    high: sum.high.saturating_add(high),
                })
            })
        };
        Self {
            evolutions: runs.iter().map(|run| run.estimate.evolutions).sum(),
            seconds: sum(|estimate| estimate.seconds),
            tokens: sum(|estimate| estimate.tokens),
            micro_usd: sum(|estimate| estimate.micro_usd),
            runs,
        }
    }
}

/// Four of five runs end between these two.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Range {
    pub low: u64,
    pub high: u64,
}

impl Range {
    /// Of the sum of `n` values like these earlier ones. It allows for the chance in
    /// the new values and for that in the mean of the earlier ones.
    fn of_sum(values: &[u64], n: u64) -> Option<Self> {
        let least = *values.iter().min()?;
        let (known, n_new) = (values.len() as f64, n as f64);
        let mean = values.iter().map(|value| *value as f64).sum::<f64>() / known;
        let squares = values.iter().map(|value| (*value as f64 - mean).powi(2));
        let variance = squares.sum::<f64>() / (known - 1.0).max(1.0);
        let half = Z * (n_new * variance * (1.0 + n_new / known)).sqrt();
        let sum = n_new * mean;
        Some(Self {
            low: ((sum - half).round() as u64).max(least.saturating_mul(n)),
            high: (sum + half).round() as u64,
        })
    }

    fn divided(self, by: u64) -> Self {
        Self {
            low: self.low / by,
            high: self.high / by,
        }
    }
}

impl Estimate {
    /// `tasks` are those of the run.
    pub fn of(config: &RunConfig, tasks: &[TaskId], costs: &[EvolutionCost]) -> Self {
        let evolutions = tasks.len() as u64 * u64::from(config.samples);
        let sum = |values: Vec<u64>| Range::of_sum(&values, evolutions);
        let usage = || costs.iter().filter_map(|cost| cost.usage);
        // A programmer with its own endpoint may have other prices.
        let endpoint = config.agent(Role::Architect).and_then(|a| a.endpoint);
        let prices = endpoint.and_then(|endpoint| endpoint.prices);
        let prices = prices.filter(|_| config.programmer.is_none());
        let cost = prices.map(|prices| usage().map(|usage| prices.micro_usd(usage)).collect());
        Self {
            tasks: u32::try_from(tasks.len()).unwrap_or(u32::MAX),
            evolutions,
            iterations: evolutions * u64::from(config.plan.max_iterations),
            rests_on: costs.len() as u64,
            seconds: sum(costs.iter().map(|cost| cost.ms).collect()).map(|ms| ms.divided(1_000)),
            tokens: sum(usage().map(Usage::total).collect()),
            micro_usd: cost.and_then(sum),
            longest: longest(tasks, costs),
            disk_mb: config.limits.disk_mb,
            detects: None,
        }
    }
}

fn longest(tasks: &[TaskId], costs: &[EvolutionCost]) -> Option<(TaskId, u64)> {
    let mut by_task: BTreeMap<&TaskId, (u64, u64)> = BTreeMap::new();
    for cost in costs.iter().filter(|cost| tasks.contains(&cost.task)) {
        let (ms, count) = by_task.entry(&cost.task).or_default();
        (*ms, *count) = (ms.saturating_add(cost.ms), *count + 1);
    }
    let means = by_task
        .into_iter()
        .map(|(task, (ms, count))| (task, ms / count));
    let (task, ms) = means.max_by_key(|(_, ms)| *ms)?;
    Some((task.clone(), ms / 1_000))
}

#[cfg(test)]
mod tests {
    use super::*;
    use swe_ci_core::agent::{Endpoint, HarnessConfig};
    use swe_ci_core::usage::Prices;

    fn task(name: &str) -> TaskId {
        TaskId::new(name).unwrap()
    }

    fn cost(name: &str, seconds: u64, tokens: Option<u64>) -> EvolutionCost {
        EvolutionCost {
            task: task(name),
            ms: seconds * 1_000,
            usage: tokens.map(|input_tokens| Usage {
                input_tokens,
                ..Usage::default()
            }),
        }
    }

    #[test]
    fn sums_of_values_like_earlier_ones() {
        let check = |values: &[u64], n, expect: Option<(u64, u64)>| {
            let range = Range::of_sum(values, n).map(|range| (range.low, range.high));
            assert_eq!(range, expect, "{values:?} {n}");
        };
        check(&[], 6, None);
        // One value says nothing about the spread.
        check(&[10], 6, Some((60, 60)));
        check(&[10, 10, 10], 6, Some((60, 60)));
        // Variance 50: 90 ± 1.281552 · √(6 · 50 · (1 + 6 / 2)); no value was below 10.
        check(&[10, 20], 6, Some((60, 134)));
        // Variance 100: 600 ± 1.281552 · √(30 · 100 · (1 + 30 / 3)).
        check(&[10, 20, 30], 30, Some((367, 833)));
    }

    #[test]
    fn what_is_not_known_is_not_estimated() {
        let mut config = RunConfig::human("demo");
        config.harness = HarnessConfig::Builtin;
        config.samples = 2;
        config.plan.max_iterations = 5;
        config.endpoint = Some(Endpoint {
            prices: Some(Prices {
                input: 2.0,
                cached: None,
                output: 8.0,
            }),
            ..Endpoint::default()
        });
        let tasks = ["a", "b", "c"].map(task);
        let single = |range: Option<Range>| {
            range.map(|range| {
                assert_eq!(range.low, range.high);
                range.low
            })
        };
        let check = |costs: &[EvolutionCost], seconds, tokens, micro_usd| {
            let estimate = Estimate::of(&config, &tasks, costs);
            assert_eq!((estimate.evolutions, estimate.iterations), (6, 30));
            assert_eq!(estimate.rests_on, costs.len() as u64);
            let totals = [estimate.seconds, estimate.tokens, estimate.micro_usd];
            assert_eq!(totals.map(single), [seconds, tokens, micro_usd]);
        };
        check(&[], None, None, None);
        check(&[cost("a", 10, None)], Some(60), None, None);
        let counted = [cost("a", 10, Some(1_000))];
        check(&counted, Some(60), Some(6_000), Some(12_000));
        // Two agents with separate endpoints: no sum.
        let mut two = config.clone();
        two.programmer = config.agent(Role::Programmer);
        assert_eq!(Estimate::of(&two, &tasks, &counted).micro_usd, None);
    }

    #[test]
    fn an_experiment_is_known_where_every_run_is() {
        let config = RunConfig::human("demo");
        let run = |costs: &[EvolutionCost]| {
            let estimate = Estimate::of(&config, &[task("a")], costs);
            PlannedRun::new(&config, estimate)
        };
        let known = || run(&[cost("a", 10, Some(1_000))]);
        let both = ExperimentEstimate::of(vec![known(), known()]);
        assert_eq!(both.evolutions, 2);
        assert_eq!(both.seconds.map(|range| range.high), Some(20));
        assert_eq!(both.tokens.map(|range| range.low), Some(2_000));
        let unknown = ExperimentEstimate::of(vec![known(), run(&[])]);
        assert_eq!((unknown.evolutions, unknown.seconds), (2, None));
    }

    #[test]
    fn the_longest_of_its_tasks() {
        let costs = [("a", 10), ("b", 30), ("b", 10), ("z", 99)];
        let costs = costs.map(|(name, seconds)| cost(name, seconds, None));
        let longest =
            |tasks: &[TaskId]| Estimate::of(&RunConfig::human("demo"), tasks, &costs).longest;
        assert_eq!(longest(&["a", "b"].map(task)), Some((task("b"), 20)));
        assert_eq!(longest(&[task("c")]), None);
    }
}
