//! The model usage of a step: tokens, requests, waiting time, money.

use serde::{Deserialize, Serialize};

/// Token counts of the provider.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Usage {
    /// Tokens of the requests, including those from the provider's cache.
    pub input_tokens: u64,
    /// Tokens of the responses, including reasoning.
    pub output_tokens: u64,
    /// The part of `input_tokens` that came from the provider's cache.
    #[serde(default)]
    pub cached_tokens: u64,
    /// The part of `output_tokens` that was reasoning, if the provider
    /// reports it.
    #[serde(default)]
    pub reasoning_tokens: u64,
}

impl Usage {
    pub fn total(self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        let add = |into: &mut u64, more: u64| *into = into.saturating_add(more);
        add(&mut self.input_tokens, other.input_tokens);
        add(&mut self.output_tokens, other.output_tokens);
        add(&mut self.cached_tokens, other.cached_tokens);
        add(&mut self.reasoning_tokens, other.reasoning_tokens);
    }
}

/// The gateway's own measurements, beside the tokens. Imported results have
/// none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Traffic {
    /// Requests of the harness, answered or given up.
    pub requests: u64,
    /// Retries of the gateway, on top of `requests`.
    pub retries: u64,
    /// Milliseconds the agent waited because of the provider's limits and
    /// failures; they do not count towards its time limit.
    pub waiting_ms: u64,
    /// Millionths of a US dollar; absent when no price is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub micro_usd: Option<u64>,
    /// Answers whose tokens are unknown, and not in the usage: the end of the step cut
    /// them off, or the provider's counts are missing or cannot be read.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unfinished: u64,
    /// About so many tokens had come with them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub streamed_tokens: u64,
    /// Requests of the platform's own that told whose fault a failure was.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub probes: u64,
    /// Millionths of a US dollar for the probes; not in `micro_usd`.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub probe_micro_usd: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl std::ops::AddAssign for Traffic {
    /// A sum has a price only if every part has one.
    fn add_assign(&mut self, other: Self) {
        self.requests = self.requests.saturating_add(other.requests);
        self.retries = self.retries.saturating_add(other.retries);
        self.waiting_ms = self.waiting_ms.saturating_add(other.waiting_ms);
        self.unfinished = self.unfinished.saturating_add(other.unfinished);
        self.streamed_tokens = self.streamed_tokens.saturating_add(other.streamed_tokens);
        self.probes = self.probes.saturating_add(other.probes);
        self.probe_micro_usd = self.probe_micro_usd.saturating_add(other.probe_micro_usd);
        self.micro_usd = match (self.micro_usd, other.micro_usd) {
            (Some(a), Some(b)) => Some(a.saturating_add(b)),
            _ => None,
        };
    }
}

/// US dollars per million tokens; each 0 to 100,000.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Prices {
    /// Input outside the provider's cache.
    pub input: f64,
    /// Input from the provider's cache; same as `input` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached: Option<f64>,
    /// Output, reasoning included.
    pub output: f64,
}

impl Prices {
    /// Millionths of a dollar for these tokens. Dollars per million tokens
    /// equal millionths of a dollar per token.
    pub fn micro_usd(self, usage: Usage) -> u64 {
        let fresh = usage.input_tokens.saturating_sub(usage.cached_tokens);
        let cached = usage.input_tokens - fresh;
        let cost = as_f64(fresh) * self.input
            + as_f64(cached) * self.cached.unwrap_or(self.input)
            + as_f64(usage.output_tokens) * self.output;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the cast saturates, and valid prices are not negative"
        )]
        let rounded = cost.round() as u64;
        rounded
    }

    pub fn are_valid(self) -> bool {
        let all = [Some(self.input), self.cached, Some(self.output)];
        all.into_iter()
            .flatten()
            .all(|price| (0.0..=100_000.0).contains(&price))
    }
}

#[expect(clippy::cast_precision_loss, reason = "no step uses 2^53 tokens")]
fn as_f64(tokens: u64) -> f64 {
    tokens as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cached_input_has_a_price_of_its_own() {
        let usage = Usage {
            input_tokens: 1_000_000,
            cached_tokens: 400_000,
            output_tokens: 10_000,
            reasoning_tokens: 4_000,
        };
        let prices = Prices {
            input: 3.0,
            cached: Some(0.3),
            output: 15.0,
        };
        assert_eq!(prices.micro_usd(usage), 1_800_000 + 120_000 + 150_000);
        let flat = Prices {
            cached: None,
            ..prices
        };
        assert_eq!(flat.micro_usd(usage), 3_150_000);
        assert!(prices.are_valid());
        assert!(
            !Prices {
                input: f64::NAN,
                ..prices
            }
            .are_valid()
        );
        assert!(
            !Prices {
                output: -1.0,
                ..prices
            }
            .are_valid()
        );
    }

    #[test]
    fn a_sum_with_an_unknown_price_has_none() {
        let known = Traffic {
            requests: 1,
            micro_usd: Some(5),
            ..Traffic::default()
        };
        let mut sum = known;
        sum += known;
        assert_eq!((sum.requests, sum.micro_usd), (2, Some(10)));
        sum += Traffic::default();
        assert_eq!(sum.micro_usd, None);
    }
}
