//! Model usage.

use std::collections::BTreeMap;
use std::ops::AddAssign;

use serde::Serialize;
use swe_ci_core::usage::Usage;

/// Tokens by model, and by role.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Usages {
    pub model_usage: BTreeMap<String, ModelUsage>,
    pub role_usage: BTreeMap<String, ModelUsage>,
}

impl Usages {
    pub fn add(&mut self, model: &str, role: &str, usage: ModelUsage) {
        add(&mut self.model_usage, model, usage);
        add(&mut self.role_usage, role, usage);
    }
}

impl AddAssign<&Self> for Usages {
    fn add_assign(&mut self, more: &Self) {
        for (model, usage) in &more.model_usage {
            add(&mut self.model_usage, model, *usage);
        }
        for (role, usage) in &more.role_usage {
            add(&mut self.role_usage, role, *usage);
        }
    }
}

fn add(to: &mut BTreeMap<String, ModelUsage>, name: &str, usage: ModelUsage) {
    match to.get_mut(name) {
        Some(sum) => *sum += usage,
        None => drop(to.insert(name.to_owned(), usage)),
    }
}

/// Inspect counts tokens from the provider's cache beside `input_tokens`, swe-ci
/// within them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ModelUsage {
    pub input_tokens: u64,
    pub output_tokens: u64,
    pub total_tokens: u64,
    pub input_tokens_cache_read: u64,
    pub reasoning_tokens: u64,
    /// US dollars; absent unless every part has a price.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_cost: Option<f64>,
}

impl ModelUsage {
    pub fn new(usage: Usage, total_cost: Option<f64>) -> Self {
        Self {
            input_tokens: usage.input_tokens.saturating_sub(usage.cached_tokens),
            output_tokens: usage.output_tokens,
            total_tokens: usage.total(),
            input_tokens_cache_read: usage.cached_tokens,
            reasoning_tokens: usage.reasoning_tokens,
            total_cost,
        }
    }
}

impl AddAssign for ModelUsage {
    fn add_assign(&mut self, more: Self) {
        let add = |sum: &mut u64, more: u64| *sum = sum.saturating_add(more);
        add(&mut self.input_tokens, more.input_tokens);
        add(&mut self.output_tokens, more.output_tokens);
        add(&mut self.total_tokens, more.total_tokens);
        add(
            &mut self.input_tokens_cache_read,
            more.input_tokens_cache_read,
        );
        add(&mut self.reasoning_tokens, more.reasoning_tokens);
        self.total_cost = self.total_cost.zip(more.total_cost).map(|(a, b)| a + b);
    }
}
