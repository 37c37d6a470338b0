//! What a run would come to, from what earlier runs of the same harness and
//! model took.

use serde::{Deserialize, Serialize};

use crate::run::RunConfig;
use crate::step::Role;
use crate::usage::Usage;

/// What one iteration of one task took in an earlier run, all its attempts
/// together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Precedent {
    /// Milliseconds of work, waiting for the provider included.
    pub ms: u64,
    /// What its agents took; none where nothing was counted.
    pub usage: Option<Usage>,
}

/// What a run would come to at most: every evolution taking all its
/// iterations, each as long as the one in the middle of those known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Estimate {
    pub tasks: u32,
    pub evolutions: u64,
    /// All evolutions together.
    pub iterations: u64,
    /// Earlier iterations it rests on; with 0 nothing below is known.
    pub rests_on: u64,
    /// Of work in all; two workers take half of it.
    pub seconds: Option<u64>,
    /// Input and output together.
    pub tokens: Option<u64>,
    /// Millionths of a US dollar; none where no price is known.
    pub micro_usd: Option<u64>,
    /// Mebibytes each evolution at work may take while it is at work.
    pub disk_mb: u32,
}

impl Estimate {
    /// `tasks` is how many the run has.
    #[must_use]
    pub fn of(config: &RunConfig, tasks: u32, precedents: &[Precedent]) -> Self {
        let evolutions = u64::from(tasks) * u64::from(config.samples);
        let iterations = evolutions * u64::from(config.plan.max_iterations);
        let counted: Vec<Usage> = precedents.iter().filter_map(|p| p.usage).collect();
        let all = |one: u64| one.saturating_mul(iterations);
        let tokens = median(counted.iter().map(|usage| usage.total()));
        // Who is asked by another name in one role costs otherwise.
        let endpoint = config.agent(Role::Architect).and_then(|a| a.endpoint);
        let prices = endpoint.and_then(|endpoint| endpoint.prices);
        let prices = prices.filter(|_| config.programmer.is_none());
        let cost =
            prices.and_then(|prices| median(counted.iter().map(|usage| prices.micro_usd(*usage))));
        Self {
            tasks,
            evolutions,
            iterations,
            rests_on: precedents.len() as u64,
            seconds: median(precedents.iter().map(|p| p.ms)).map(|one| all(one) / 1_000),
            tokens: tokens.map(all),
            micro_usd: cost.map(all),
            disk_mb: config.limits.disk_mb,
        }
    }
}

/// None of nothing; of an even number the mean of the two in the middle.
fn median(values: impl Iterator<Item = u64>) -> Option<u64> {
    let mut values: Vec<u64> = values.collect();
    values.sort_unstable();
    let middle = values.len() / 2;
    match values.len() {
        0 => None,
        n if n % 2 == 1 => Some(values[middle]),
        _ => Some(u64::midpoint(values[middle - 1], values[middle])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::{Endpoint, HarnessConfig, Protocol};
    use crate::usage::Prices;

    fn precedent(seconds: u64, tokens: Option<u64>) -> Precedent {
        Precedent {
            ms: seconds * 1_000,
            usage: tokens.map(|input_tokens| Usage {
                input_tokens,
                ..Usage::default()
            }),
        }
    }

    #[test]
    fn the_middle_of_what_is_known_for_every_iteration() {
        let mut config = RunConfig::human("demo");
        config.harness = HarnessConfig::Builtin;
        config.samples = 2;
        config.plan.max_iterations = 5;
        config.endpoint = Some(Endpoint {
            protocol: Protocol::Chat,
            url: "https://api.example.org/v1".into(),
            model: "m".into(),
            key: None,
            parameters: serde_json::Map::new(),
            prices: Some(Prices {
                input: 2.0,
                cached: None,
                output: 8.0,
            }),
            recording: None,
        });
        let check = |precedents: &[Precedent], seconds, tokens, micro_usd| {
            let found = Estimate::of(&config, 3, precedents);
            assert_eq!((found.evolutions, found.iterations), (6, 30));
            assert_eq!(found.rests_on, precedents.len() as u64);
            let taken = (found.seconds, found.tokens, found.micro_usd);
            assert_eq!(taken, (seconds, tokens, micro_usd));
        };
        check(&[], None, None, None);
        check(&[precedent(10, None)], Some(300), None, None);
        // One that took very long changes little.
        let three = [(9_000, 1_000), (10, 100_000), (20, 200_000)];
        let three = three.map(|(seconds, tokens)| precedent(seconds, Some(tokens)));
        check(&three, Some(600), Some(3_000_000), Some(6_000_000));
        check(&three[1..], Some(450), Some(4_500_000), Some(9_000_000));
        // Two models, and one price: no sum.
        let mut two = config.clone();
        two.programmer = config.agent(Role::Programmer);
        assert_eq!(Estimate::of(&two, 3, &three).micro_usd, None);
    }
}
