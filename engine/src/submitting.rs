//! Submitting runs: everything that is wrong with a configuration, at once,
//! and what a run may use of the world.

use sha2::{Digest, Sha256};
use swe_ci_core::account::{AccountRole, Actor, Standing, Visibility};
use swe_ci_core::agent::{AgentConfig, Endpoint};
use swe_ci_core::event::What;
use swe_ci_core::run::{BadConfig, Kind, Progress, RunConfig};
use swe_ci_core::submission::Submission;
use swe_ci_core::task::TaskId;
use swe_ci_core::view::{Provenance, TaskState};

use crate::blocking::blocking;
use crate::code::hex;
use crate::error::{Error, Result};
use crate::gateway::refused_by_name;
use crate::grant::{Grant, Keyring, Reach};
use crate::store::{NewRun, TaskRow};
use crate::{Engine, METRIC_VERSION, clock, evolve, keys};

/// A configuration that can be run, with what it comes to here and today.
#[derive(Debug)]
pub(crate) struct Draft {
    /// With today's prices.
    pub config: RunConfig,
    pub grant: Grant,
    pub harness_version: String,
    /// Those that will be worked on.
    pub tasks: Vec<TaskRow>,
}

impl Engine {
    /// Queues a run and its evolutions, without a try; returns its id.
    ///
    /// # Errors
    /// [`Error::Unauthenticated`] and [`Error::Forbidden`] for those who may
    /// not; [`Error::Rejected`] naming every field that is wrong.
    pub async fn submit(&self, config: RunConfig, visibility: Visibility) -> Result<String> {
        self.queue(Submission {
            config,
            visibility,
            preflight: false,
            forget_keys: false,
        })
        .await
    }

    /// Queues a run and its evolutions, to be tried first where that is asked
    /// for; returns its id.
    ///
    /// # Errors
    /// As [`Engine::submit`].
    pub async fn queue(&self, submission: Submission) -> Result<String> {
        let Submission {
            config,
            visibility,
            preflight,
            forget_keys,
        } = submission;
        let draft = self.draft(config, visibility).await?;
        let iterations = f64::from(draft.config.plan.max_iterations);
        let expected = |task: &TaskRow| (task.id.clone(), task.suite_seconds * iterations);
        let owner = self.by().identity().map(|who| who.account_id.clone());
        let asks = draft.config.harness.asks_a_model();
        let run = NewRun {
            standing: Standing { owner, visibility },
            grant: draft.grant,
            provenance: Provenance {
                platform_version: env!("CARGO_PKG_VERSION").into(),
                metric_version: METRIC_VERSION,
                dataset_digest: dataset_digest(draft.tasks.iter().map(TaskRow::ends)),
                harness_version: draft.harness_version,
                prompts: asks.then(evolve::recorded_prompts),
                imported: None,
            },
            tasks: draft.tasks.iter().map(expected).collect(),
            preflight,
            forget_keys,
            config: draft.config,
        };
        let id = self.inner.store.insert_run(&run, self.by()).await?;
        let progress = Progress::Queued;
        self.inner.events.tell(&id, What::Run { progress });
        Ok(id)
    }

    /// Looks a configuration over before anything is done with it.
    pub(crate) async fn draft(
        &self,
        mut config: RunConfig,
        visibility: Visibility,
    ) -> Result<Draft> {
        self.require(AccountRole::Submitter)?;
        let mut found = Found(config.problems());
        if visibility == Visibility::Withdrawn {
            let problem = "a run begins private or public; it is withdrawn later";
            found.add("visibility", problem);
        }
        self.look_at_kind(&config, &mut found);
        let harness_version = self.harness_versions(&config, &mut found).await?;
        self.look_at_recordings(&config, &mut found).await?;
        let tasks = self.chosen_tasks(&config, &mut found).await?;
        let grant = self.grant(&mut config, &mut found).await?;
        found.none()?;
        Ok(Draft {
            config,
            grant,
            harness_version,
            tasks,
        })
    }

    /// What is called a model has to be asked: a replayed history is perfect
    /// by making, and would top every ranking.
    fn look_at_kind(&self, config: &RunConfig, found: &mut Found) {
        let asks = config.harness.asks_a_model();
        match config.kind {
            Kind::Imported => {
                let problem = "results made elsewhere come in by `swe-ci import-results`";
                found.add("kind", problem);
            }
            Kind::Human if asks => found.add("kind", "the human baseline asks no model"),
            Kind::Measured if !asks && *self.by() != Actor::Operator => {
                let problem = "the harness asks no model, so this is the human baseline: `human`";
                found.add("kind", problem);
            }
            Kind::Human | Kind::Measured => {}
        }
    }

    /// Whether the agents can be played as configured; their versions.
    async fn harness_versions(&self, config: &RunConfig, found: &mut Found) -> Result<String> {
        let agents: Vec<(&'static str, AgentConfig)> = config.own_agents().collect();
        let harnesses = self.inner.harnesses.clone();
        let checked = blocking(move || {
            let checked = agents.iter().map(|(part, agent)| {
                let version = harnesses.check(agent);
                version.map_err(|bad| BadConfig::new(format!("{part}{}", bad.field), bad.problem))
            });
            Ok(checked.collect::<Vec<_>>())
        });
        let mut versions = Vec::new();
        for version in checked.await? {
            match version {
                Ok(version) => versions.push(version),
                Err(bad) => found.add(bad.field, bad.problem),
            }
        }
        Ok(versions.join(" / "))
    }

    /// What its agents alone come to, for who only wants to try them.
    ///
    /// # Errors
    /// As [`Engine::submit`].
    pub(crate) async fn vetted(&self, config: &mut RunConfig) -> Result<Grant> {
        self.require(AccountRole::Submitter)?;
        let mut found = Found(config.problems());
        self.harness_versions(config, &mut found).await?;
        let grant = self.grant(config, &mut found).await?;
        found.none()?;
        Ok(grant)
    }

    /// Whose keys it uses, and which addresses it may ask; with what that
    /// costs today.
    async fn grant(&self, config: &mut RunConfig, found: &mut Found) -> Result<Grant> {
        let free = self.by().is(AccountRole::Admin) || self.inner.config.private_endpoints;
        let reach = if free { Reach::Anywhere } else { Reach::Public };
        if reach == Reach::Public {
            for (part, endpoint) in asked_endpoints(config) {
                if let Some(why) = refused_by_name(&endpoint.url) {
                    found.add(format!("{part}endpoint.url"), why);
                }
            }
        }
        let keyring = self.keyring_for(config, found).await?;
        self.put_prices(config, found).await?;
        Ok(Grant { keyring, reach })
    }

    /// A run takes all its keys from one keyring: its owner's, or where that
    /// has not all of them, another that its owner may use.
    async fn keyring_for(&self, config: &RunConfig, found: &mut Found) -> Result<Keyring> {
        let named: Vec<(String, String)> = asked_endpoints(config)
            .filter_map(|(part, endpoint)| Some((format!("{part}endpoint.key"), endpoint.key?)))
            .collect();
        let keys = &self.inner.keys;
        let own = self.own_keyring()?;
        let mut chosen = own.clone();
        'rings: for ring in self.keyrings()? {
            for (_, name) in &named {
                if !keys.has(&ring, name).await? {
                    continue 'rings;
                }
            }
            chosen = ring;
            break;
        }
        for (field, name) in named {
            if !keys.has(&chosen, &name).await? {
                found.add(field, keys::missing(&own, &name));
                continue;
            }
            match keys.open(&chosen, &name).await {
                Err(Error::Invalid(why)) => found.add(field, why),
                opened => drop(opened?),
            }
        }
        Ok(chosen)
    }

    /// What was said in a run can be heard again by those who may see it.
    async fn look_at_recordings(&self, config: &RunConfig, found: &mut Found) -> Result<()> {
        for (part, agent) in config.own_agents() {
            let Some(recording) = agent.endpoint.and_then(|endpoint| endpoint.recording) else {
                continue;
            };
            match self.seen_run(&recording).await {
                Err(missing @ Error::NotFound { .. }) => {
                    found.add(format!("{part}endpoint.recording"), missing.to_string());
                }
                seen => drop(seen?),
            }
        }
        Ok(())
    }

    /// The tasks that are asked for and can be run.
    async fn chosen_tasks(&self, config: &RunConfig, found: &mut Found) -> Result<Vec<TaskRow>> {
        let of_split = match self.inner.store.tasks_of_split(&config.split).await {
            Err(missing @ Error::NotFound { .. }) => {
                found.add("split", missing.to_string());
                return Ok(Vec::new());
            }
            tasks => tasks?,
        };
        let unknown: Vec<&str> = (config.tasks.iter())
            .filter(|id| of_split.iter().all(|task| task.id != **id))
            .map(TaskId::as_str)
            .collect();
        if !unknown.is_empty() {
            let (split, unknown) = (&config.split, unknown.join("`, `"));
            found.add("tasks", format!("the split `{split}` has no `{unknown}`"));
        }
        let chosen = |task: &TaskRow| config.tasks.is_empty() || config.tasks.contains(&task.id);
        let (ready, unusable): (Vec<TaskRow>, Vec<TaskRow>) = (of_split.into_iter())
            .filter(chosen)
            .partition(|task| task.state == TaskState::Ready);
        if !config.tasks.is_empty() && !unusable.is_empty() {
            let unusable: Vec<&str> = unusable.iter().map(|task| task.id.as_str()).collect();
            let problem = format!("`{}` cannot be run; leave out", unusable.join("`, `"));
            found.add("tasks", problem);
        }
        if ready.is_empty() && config.tasks.is_empty() {
            let problem = format!("`{}` has no task that can be run", config.split);
            found.add("split", problem);
        }
        Ok(ready)
    }

    /// Today's prices from the table, where the configuration names none
    /// itself: what the run will cost is then a matter of the run alone.
    async fn put_prices(&self, config: &mut RunConfig, found: &mut Found) -> Result<()> {
        let day = clock::today();
        let programmer = config.programmer.as_mut().and_then(|p| p.endpoint.as_mut());
        for endpoint in [config.endpoint.as_mut(), programmer].into_iter().flatten() {
            if endpoint.prices.is_none() {
                endpoint.prices = self.inner.store.price_on(&endpoint.model, &day).await?;
            }
            if endpoint.prices.is_none() && config.budget.usd.is_some() {
                let problem = format!(
                    "no price is known of `{0}`; write endpoint.prices, or keep one in the table: swe-ci price set {0} --input USD --output USD",
                    endpoint.model
                );
                found.add("budget.usd", problem);
            }
        }
        Ok(())
    }
}

/// The problems found so far, one a field: the first says enough.
#[derive(Debug, Default)]
struct Found(Vec<BadConfig>);

impl Found {
    fn add(&mut self, field: impl Into<String>, problem: impl Into<String>) {
        let bad = BadConfig::new(field, problem);
        if self.0.iter().all(|known| known.field != bad.field) {
            self.0.push(bad);
        }
    }

    fn none(self) -> Result<()> {
        match self.0.as_slice() {
            [] => Ok(()),
            _ => Err(Error::Rejected(self.0)),
        }
    }
}

/// The endpoints that are really asked, with what stands before their fields.
fn asked_endpoints(config: &RunConfig) -> impl Iterator<Item = (&'static str, Endpoint)> {
    config.own_agents().filter_map(|(part, agent)| {
        let endpoint = agent.endpoint?;
        endpoint.recording.is_none().then_some((part, endpoint))
    })
}

/// One digest for all that the tasks of a run are: names, commits, images.
pub(crate) fn dataset_digest<'a>(tasks: impl IntoIterator<Item = [&'a str; 4]>) -> String {
    let mut hash = Sha256::new();
    for part in tasks.into_iter().flatten() {
        hash.update(part.as_bytes());
        hash.update([0]);
    }
    format!("sha256:{}", hex(&hash.finalize()))
}

#[cfg(test)]
mod tests;
