//! A smoke test of harness, endpoint and key: one tiny task, by the way a real
//! run takes, before money is spent on one.
//!
//! All of it stands in a folder that goes afterwards; of the installation it
//! has the layers and the keys.

mod judge;
mod trial;

use serde::Serialize;
use swe_ci_core::agent::{AgentConfig, Budget};
use swe_ci_core::run::{HarnessConfig, Kind, RunConfig};
use swe_ci_core::step::{Plan, Role};
use swe_ci_core::usage::{Traffic, Usage};
use swe_ci_core::view::StepView;
use tokio_util::sync::CancellationToken;

use crate::Engine;
use crate::error::{Error, Result};
use crate::files;
use crate::grant::Grant;
use crate::programs::BuiltLayer;
use crate::sandbox::Left;
use trial::{SPLIT, Trial};

/// Seconds an agent may take; a tiny task needs a fraction.
const AGENT_SECONDS: u32 = 120;
/// Seconds the tests may take.
const TEST_SECONDS: u32 = 60;
/// Seconds a provider in trouble is waited for.
const PATIENCE_SECONDS: u32 = 30;
/// Agent programs send tens of thousands of tokens before they do anything.
const TOKENS: u64 = 400_000;
/// A second iteration is for a programmer that changed nothing in the first.
const PLAN: Plan = Plan {
    max_iterations: 2,
    max_attempts: 1,
};

/// What is told while a check goes on.
#[derive(Debug, Clone)]
pub enum CheckNews {
    Said(String),
    /// A layer is there.
    Layer(BuiltLayer),
    /// A step came to its end.
    Step(StepView),
    /// Of this many tests so many pass.
    Tests {
        passed: u32,
        of: u32,
    },
}

/// Takes the news of a check.
pub type Tell<'a> = &'a (dyn Fn(CheckNews) + Send + Sync);

/// How the agents got on.
#[derive(Debug, Clone, Serialize)]
pub struct HarnessCheck {
    /// A document was written and code was changed.
    pub works: bool,
    /// That, or why not, in plain words.
    pub verdict: String,
    /// What to do about it, and what else is worth knowing.
    pub advice: Vec<String>,
    pub layers: Vec<BuiltLayer>,
    pub steps: Vec<StepView>,
    /// After the last change that could be tested.
    pub tests_passed: u32,
    pub tests: u32,
    pub usage: Usage,
    pub traffic: Traffic,
    /// What the step that failed printed last.
    pub last_lines: Vec<String>,
}

impl Engine {
    /// Lets the agents of a configuration work on a tiny task, within small
    /// limits. Its split, samples and plan are left aside.
    ///
    /// # Errors
    /// [`Error::Rejected`] when the configuration cannot be used,
    /// [`Error::Forbidden`] for those who submit no runs, [`Error::Conflict`]
    /// while another check of this data folder is under way or when `stop` is
    /// cancelled, [`Error::Unavailable`] when the
    /// container engine fails. What agents and providers do wrong is no error.
    pub async fn check_harness(
        &self,
        config: RunConfig,
        tell: Tell<'_>,
        stop: &CancellationToken,
    ) -> Result<HarnessCheck> {
        if !config.harness.asks_a_model() {
            return Err(Error::Invalid(format!(
                "harness.name: `{}` asks no model, so there is nothing to check",
                config.harness.name()
            )));
        }
        let mut config = tiny(config);
        let grant = self.vetted(&mut config).await?;
        self.check_agents(config, grant, tell, stop).await
    }

    /// The same, of a run's agents with what the run was granted.
    ///
    /// # Errors
    /// As [`Engine::check_harness`].
    pub(crate) async fn check_agents(
        &self,
        config: RunConfig,
        grant: Grant,
        tell: Tell<'_>,
        stop: &CancellationToken,
    ) -> Result<HarnessCheck> {
        let config = tiny(config);
        self.ready().await?;
        let _alone = self.alone()?;
        let trial = Trial::new(self).await?;
        let checked = tokio::select! {
            checked = self.try_out(&trial, config, grant, tell) => checked,
            () = stop.cancelled() => Err(Error::Conflict("the check was stopped".into())),
        };
        if let Err(error) = trial.docker.sweep(Left::ByAnyone).await {
            tracing::debug!("containers not swept after a check: {error}");
        }
        checked
    }

    async fn try_out(
        &self,
        trial: &Trial,
        config: RunConfig,
        grant: Grant,
        tell: Tell<'_>,
    ) -> Result<HarnessCheck> {
        let layers = self.layers_of(&config, tell).await?;
        tell(CheckNews::Said("preparing the tiny task".into()));
        let tests = trial.prepare(self).await?;
        let seen = Box::pin(trial.evolve(&config, grant, tests, tell)).await?;
        let judged = judge::judge(&config, &seen);
        let mut usage = Usage::default();
        let counted = seen.agent_steps().filter_map(|step| step.usage);
        counted.for_each(|taken| usage += taken);
        let passed_on = seen.agent_steps().filter_map(|step| step.traffic);
        let traffic = passed_on.reduce(|mut sum, more| {
            sum += more;
            sum
        });
        Ok(HarnessCheck {
            works: judged.works,
            verdict: judged.verdict,
            advice: judged.advice,
            layers,
            tests_passed: seen.passed,
            tests: seen.tests,
            usage,
            traffic: traffic.unwrap_or_default(),
            last_lines: match judged.works {
                true => Vec::new(),
                false => seen.last_lines,
            },
            steps: seen.steps.into_iter().map(|played| played.step).collect(),
        })
    }

    /// Sees to it that the layers are there.
    async fn layers_of(&self, config: &RunConfig, tell: Tell<'_>) -> Result<Vec<BuiltLayer>> {
        let mut layers: Vec<BuiltLayer> = Vec::new();
        let say = |line| tell(CheckNews::Said(line));
        for agent in agents(config) {
            let HarnessConfig::Program { program, version } = agent.harness else {
                continue;
            };
            let layer = self.build_layer(&program, version.as_deref(), &say).await?;
            if layers.iter().all(|known| known.digest != layer.digest) {
                tell(CheckNews::Layer(layer.clone()));
                layers.push(layer);
            }
        }
        Ok(layers)
    }

    /// The lock that makes this the only check of the data folder: what an
    /// earlier one left behind can then be told from what another one needs.
    fn alone(&self) -> Result<std::fs::File> {
        let lock = files::lock(&self.inner.config.data.join("check.lock"))?;
        lock.ok_or_else(|| {
            let why = "another check of this data folder is under way; wait for its end";
            Error::Conflict(why.into())
        })
    }
}

/// The configuration as far as it matters here: its agents, within small
/// limits.
fn tiny(mut config: RunConfig) -> RunConfig {
    config.kind = Kind::Measured;
    config.split = SPLIT.into();
    config.tasks = Vec::new();
    config.samples = 1;
    config.plan = PLAN;
    let limits = &mut config.limits;
    limits.agent_seconds = limits.agent_seconds.min(AGENT_SECONDS);
    limits.test_seconds = limits.test_seconds.min(TEST_SECONDS);
    limits.patience_seconds = limits.patience_seconds.min(PATIENCE_SECONDS);
    config.budget = Budget {
        tokens: Some(config.budget.tokens.unwrap_or(TOKENS).min(TOKENS)),
        ..config.budget
    };
    let programmer = config.programmer.as_mut().and_then(|p| p.endpoint.as_mut());
    for endpoint in [config.endpoint.as_mut(), programmer].into_iter().flatten() {
        // The provider itself is what is to be tried.
        endpoint.recording = None;
    }
    config
}

fn agents(config: &RunConfig) -> Vec<AgentConfig> {
    let roles = [Role::Architect, Role::Programmer];
    roles
        .iter()
        .filter_map(|role| config.agent(*role))
        .collect()
}
