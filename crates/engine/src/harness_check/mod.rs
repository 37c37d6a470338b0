//! A smoke test of harness, endpoint and key on one tiny task: its limits, its
//! progress, and its result.

pub(crate) mod diagnosis;
pub(crate) mod trial;

use serde::Serialize;
use swe_ci_core::agent::Budget;
use swe_ci_core::requirement::Mode;
use swe_ci_core::run::{Kind, RunConfig};
use swe_ci_core::step::Plan;
use swe_ci_core::usage::{Traffic, Usage};
use swe_ci_views::view::StepView;
use trial::SPLIT;

use crate::api::harnesses::BuiltLayer;

/// Time limit of an agent in seconds; a tiny task needs a fraction.
const AGENT_SECONDS: u32 = 120;
const TEST_SECONDS: u32 = 60;
/// Seconds of waiting for a failing provider.
const PROVIDER_WAIT_SECONDS: u32 = 30;
/// Token budget: agent programs send tens of thousands of tokens before they do
/// anything.
const TOKENS: u64 = 400_000;
/// The second iteration is for a programmer that changed nothing in the first.
const PLAN: Plan = Plan {
    max_iterations: 2,
    max_attempts: 1,
};

#[derive(Debug, Clone)]
pub enum CheckNews {
    Said(String),
    Layer(BuiltLayer),
    Step(Box<StepView>),
    /// This many of the tests pass.
    Tests {
        passed: u32,
        of: u32,
    },
}

pub type Tell<'a> = &'a (dyn Fn(CheckNews) + Send + Sync);

#[derive(Debug, Clone, Serialize)]
pub struct HarnessCheck {
    /// The agents wrote a document and changed code.
    pub works: bool,
    /// The same in plain words, or why not.
    pub verdict: String,
    /// How to fix it, and what else is worth knowing.
    pub advice: Vec<String>,
    pub layers: Vec<BuiltLayer>,
    pub steps: Vec<StepView>,
    /// After the last testable change.
    pub tests_passed: u32,
    pub tests: u32,
    pub usage: Usage,
    pub traffic: Traffic,
    /// The last output of the failed step.
    pub last_lines: Vec<String>,
}

/// Reduces a configuration to its agents, within small limits.
pub(crate) fn reduced(mut config: RunConfig) -> RunConfig {
    config.kind = Kind::Measured;
    config.split = SPLIT.into();
    // The agents are tried, and not with what they cannot do.
    if config.mode == Mode::Impossible {
        config.mode = Mode::Tdd;
    }
    config.tasks = Vec::new();
    config.samples = 1;
    config.plan = PLAN;
    let limits = &mut config.limits;
    limits.agent_seconds = limits.agent_seconds.min(AGENT_SECONDS);
    limits.test_seconds = limits.test_seconds.min(TEST_SECONDS);
    limits.patience_seconds = limits.patience_seconds.min(PROVIDER_WAIT_SECONDS);
    config.budget = Budget {
        tokens: Some(config.budget.tokens.unwrap_or(TOKENS).min(TOKENS)),
        ..config.budget
    };
    let programmer = config.programmer.as_mut().and_then(|p| p.endpoint.as_mut());
    for endpoint in [config.endpoint.as_mut(), programmer].into_iter().flatten() {
        // The check is of the provider itself, not of a replay.
        endpoint.recording = None;
    }
    config
}
