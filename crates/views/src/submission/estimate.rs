//! Estimates the time and cost of a run from earlier runs of the same harness
//! and model.

use serde::{Deserialize, Serialize};
use swe_ci_core::run::RunConfig;
use swe_ci_core::step::Role;
use swe_ci_core::usage::Usage;

/// The cost of one iteration of one task in an earlier run, over all its
/// attempts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IterationCost {
    /// Milliseconds of work, waiting for the provider included.
    pub ms: u64,
    /// Tokens of its agents; none if not counted.
    pub usage: Option<Usage>,
}

/// The maximum cost of a run: every evolution takes all its iterations, each
/// with the median cost of earlier iterations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Estimate {
    pub tasks: u32,
    pub evolutions: u64,
    /// Iterations of all evolutions together.
    pub iterations: u64,
    /// Number of earlier iterations behind it; with 0, the values below are
    /// unknown.
    pub rests_on: u64,
    /// Total seconds of work; two workers need half of it.
    pub seconds: Option<u64>,
    /// Input and output tokens together.
    pub tokens: Option<u64>,
    /// Millionths of a US dollar; none without a known price.
    pub micro_usd: Option<u64>,
    /// Maximum mebibytes of each current evolution.
    pub disk_mb: u32,
}

impl Estimate {
    /// `tasks` is the number of tasks of the run.
    pub fn of(config: &RunConfig, tasks: u32, iteration_costs: &[IterationCost]) -> Self {
        let evolutions = u64::from(tasks) * u64::from(config.samples);
        let iterations = evolutions * u64::from(config.plan.max_iterations);
        let counted: Vec<Usage> = iteration_costs.iter().filter_map(|p| p.usage).collect();
        let all = |one: u64| one.saturating_mul(iterations);
        let tokens = median(counted.iter().map(|usage| usage.total()));
        // A programmer with its own endpoint may have other prices.
        let endpoint = config.agent(Role::Architect).and_then(|a| a.endpoint);
        let prices = endpoint.and_then(|endpoint| endpoint.prices);
        let prices = prices.filter(|_| config.programmer.is_none());
        let cost =
            prices.and_then(|prices| median(counted.iter().map(|usage| prices.micro_usd(*usage))));
        Self {
            tasks,
            evolutions,
            iterations,
            rests_on: iteration_costs.len() as u64,
            seconds: median(iteration_costs.iter().map(|p| p.ms)).map(|one| all(one) / 1_000),
            tokens: tokens.map(all),
            micro_usd: cost.map(all),
            disk_mb: config.limits.disk_mb,
        }
    }
}

/// The median; for an even number, the mean of the two middle values.
fn median(values: impl Iterator<Item = u64>) -> Option<u64> {
    let mut values: Vec<u64> = values.collect();
    values.sort_unstable();
    let upper = *values.get(values.len() / 2)?;
    Some(u64::midpoint(values[(values.len() - 1) / 2], upper))
}

#[cfg(test)]
mod tests {
    use super::*;
    use swe_ci_core::agent::{Endpoint, HarnessConfig, Protocol};
    use swe_ci_core::usage::Prices;

    fn cost(seconds: u64, tokens: Option<u64>) -> IterationCost {
        IterationCost {
            ms: seconds * 1_000,
            usage: tokens.map(|input_tokens| Usage {
                input_tokens,
                ..Usage::default()
            }),
        }
    }

    #[test]
    fn every_iteration_costs_the_median() {
        let mut config = RunConfig::human("demo");
        config.harness = HarnessConfig::Builtin;
        config.samples = 2;
        config.plan.max_iterations = 5;
        config.endpoint = Some(Endpoint {
            protocol: Protocol::Chat,
            url: "https://api.example.org/v1".into(),
            model: "m".into(),
            key: None,
            prices: Some(Prices {
                input: 2.0,
                cached: None,
                output: 8.0,
            }),
            ..Endpoint::default()
        });
        let check = |iteration_costs: &[IterationCost], seconds, tokens, micro_usd| {
            let estimate = Estimate::of(&config, 3, iteration_costs);
            assert_eq!((estimate.evolutions, estimate.iterations), (6, 30));
            assert_eq!(estimate.rests_on, iteration_costs.len() as u64);
            let totals = (estimate.seconds, estimate.tokens, estimate.micro_usd);
            assert_eq!(totals, (seconds, tokens, micro_usd));
        };
        check(&[], None, None, None);
        check(&[cost(10, None)], Some(300), None, None);
        // An outlier changes little.
        let three = [(9_000, 1_000), (10, 100_000), (20, 200_000)];
        let three = three.map(|(seconds, tokens)| cost(seconds, Some(tokens)));
        check(&three, Some(600), Some(3_000_000), Some(6_000_000));
        check(&three[1..], Some(450), Some(4_500_000), Some(9_000_000));
        // Two agents with separate endpoints: no sum.
        let mut two = config.clone();
        two.programmer = config.agent(Role::Programmer);
        assert_eq!(Estimate::of(&two, 3, &three).micro_usd, None);
    }
}
