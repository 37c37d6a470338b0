//! What a step took of its model: tokens, requests, waiting, money.

use serde::{Deserialize, Serialize};

/// Tokens, as the provider counts them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Usage {
    /// Of what was sent, those read from the provider's cache among them.
    pub input_tokens: u64,
    /// Of what came back, those of its reasoning among them.
    pub output_tokens: u64,
    /// The part of `input_tokens` that the provider had in its cache.
    #[serde(default)]
    pub cached_tokens: u64,
    /// The part of `output_tokens` that was reasoning, where the provider says.
    #[serde(default)]
    pub reasoning_tokens: u64,
}

impl Usage {
    /// Input and output together.
    #[must_use]
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

/// What went over the gateway beside the tokens. Only the gateway knows it, so
/// results made elsewhere have none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Traffic {
    /// Requests of the harness that were answered or given up.
    pub requests: u64,
    /// Times the gateway asked the provider again, on top of `requests`.
    pub retries: u64,
    /// Milliseconds the agent was kept waiting by the provider's limits and
    /// failures; not charged to its clock.
    pub waiting_ms: u64,
    /// Millionths of a US dollar; absent when no price is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub micro_usd: Option<u64>,
}

impl std::ops::AddAssign for Traffic {
    /// A sum of which one part has no price has none.
    fn add_assign(&mut self, other: Self) {
        self.requests = self.requests.saturating_add(other.requests);
        self.retries = self.retries.saturating_add(other.retries);
        self.waiting_ms = self.waiting_ms.saturating_add(other.waiting_ms);
        self.micro_usd = match (self.micro_usd, other.micro_usd) {
            (Some(a), Some(b)) => Some(a.saturating_add(b)),
            _ => None,
        };
    }
}

/// What a million tokens cost, in US dollars; each 0 to 100,000.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Prices {
    /// Input that the provider did not have in its cache.
    pub input: f64,
    /// Input it had; as `input` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached: Option<f64>,
    /// Output, reasoning included.
    pub output: f64,
}

impl Prices {
    /// Millionths of a dollar for these tokens. A price per million tokens in
    /// dollars is a price per token in millionths of them.
    #[must_use]
    pub fn micro_usd(self, usage: Usage) -> u64 {
        let fresh = usage.input_tokens.saturating_sub(usage.cached_tokens);
        let cached = usage.input_tokens - fresh;
        let cost = as_f64(fresh) * self.input
            + as_f64(cached) * self.cached.unwrap_or(self.input)
            + as_f64(usage.output_tokens) * self.output;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "saturates, and prices are checked to be positive"
        )]
        let rounded = cost.round() as u64;
        rounded
    }

    /// Whether every price is a number in its range.
    #[must_use]
    pub fn are_sound(self) -> bool {
        let all = [Some(self.input), self.cached, Some(self.output)];
        all.into_iter()
            .flatten()
            .all(|price| (0.0..=100_000.0).contains(&price))
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "nobody uses 2^53 tokens in a step"
)]
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
        assert!(prices.are_sound());
        assert!(
            !Prices {
                input: f64::NAN,
                ..prices
            }
            .are_sound()
        );
        assert!(
            !Prices {
                output: -1.0,
                ..prices
            }
            .are_sound()
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
