//! Harness checks: a smoke test of harness, endpoint and key on one tiny task,
//! along the path of a real run, before one costs money.
//!
//! A check works in a folder that is removed afterwards; it shares only the
//! layers and the keys of the installation.

use swe_ci_base::error::{Error, Result};
use swe_ci_base::files;
use swe_ci_core::permissions::RunPermissions;
use swe_ci_core::run::{HarnessConfig, RunConfig};
use swe_ci_core::step::Role;
use swe_ci_core::usage::Usage;
use swe_ci_sandbox::SweepScope;
use tokio_util::sync::CancellationToken;

use crate::Engine;
use crate::api::harnesses::BuiltLayer;
use crate::harness_check::diagnosis::diagnose;
use crate::harness_check::trial::Trial;
use crate::harness_check::{CheckNews, HarnessCheck, Tell, reduced};

#[swe_ci_boxed::boxed]
impl Engine {
    /// Lets the agents of a configuration work on a tiny task, within small
    /// limits. Ignores its split, samples and plan.
    ///
    /// # Errors
    /// [`Error::Rejected`] when the configuration is invalid,
    /// [`Error::Forbidden`] for actors that submit no runs, [`Error::Conflict`]
    /// while another check of this data folder is active or when `stop` is
    /// cancelled, [`Error::Unavailable`] when the container engine fails.
    /// Failures of agents and providers are no errors.
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
        let mut config = self.with_protocols(reduced(config)).await;
        let grant = self.trial_permissions(&mut config).await?;
        self.check_agents(config, grant, tell, stop).await
    }

    /// The same for a run's agents, with the run's permissions.
    ///
    /// # Errors
    /// As [`Engine::check_harness`].
    pub(crate) async fn check_agents(
        &self,
        config: RunConfig,
        grant: RunPermissions,
        tell: Tell<'_>,
        stop: &CancellationToken,
    ) -> Result<HarnessCheck> {
        let config = reduced(config);
        self.ready().await?;
        // The only check of the data folder can remove remains of an earlier one.
        let lock = files::lock(&self.config.data.join("check.lock"))?;
        let _lock = lock.ok_or_else(|| {
            let why = "another check of this data folder is active; wait for its end";
            Error::Conflict(why.into())
        })?;
        let trial = Trial::new(self).await?;
        let checked = tokio::select! {
            checked = self.try_out(&trial, config, grant, tell) => checked,
            () = stop.cancelled() => Err(Error::Conflict("the check was stopped".into())),
        };
        if let Err(error) = trial.docker.sweep(SweepScope::ByAnyone).await {
            tracing::debug!("containers not removed after a check: {error:#}");
        }
        checked
    }

    async fn try_out(
        &self,
        trial: &Trial,
        config: RunConfig,
        grant: RunPermissions,
        tell: Tell<'_>,
    ) -> Result<HarnessCheck> {
        let layers = self.layers_of(&config, tell).await?;
        tell(CheckNews::Said("preparing the tiny task".into()));
        let tests = trial.prepare(self).await?;
        let result = Box::pin(trial.evolve(&config, grant, tests, tell)).await?;
        let diagnosis = diagnose(&config, &result);
        let mut usage = Usage::default();
        let counted = result.agent_steps().filter_map(|step| step.usage);
        counted.for_each(|more| usage += more);
        let traffic = result.agent_steps().filter_map(|step| step.traffic);
        let traffic = traffic.reduce(|mut sum, more| {
            sum += more;
            sum
        });
        Ok(HarnessCheck {
            works: diagnosis.works,
            verdict: diagnosis.verdict,
            advice: diagnosis.advice,
            layers,
            tests_passed: result.passed,
            tests: result.tests,
            usage,
            traffic: traffic.unwrap_or_default(),
            last_lines: match diagnosis.works {
                true => Vec::new(),
                false => result.last_lines,
            },
            steps: result.steps.into_iter().map(|played| played.step).collect(),
        })
    }

    async fn layers_of(&self, config: &RunConfig, tell: Tell<'_>) -> Result<Vec<BuiltLayer>> {
        let mut layers: Vec<BuiltLayer> = Vec::new();
        let say = |line| tell(CheckNews::Said(line));
        let roles = [Role::Architect, Role::Programmer];
        for agent in roles.into_iter().filter_map(|role| config.agent(role)) {
            let HarnessConfig::Program { program, version } = agent.harness else {
                continue;
            };
            let layer = self.layer(&program, version.as_deref(), &say).await?;
            if layers.iter().all(|known| known.digest != layer.digest) {
                tell(CheckNews::Layer(layer.clone()));
                layers.push(layer);
            }
        }
        Ok(layers)
    }
}
