//! Submission of runs: reports all problems of a configuration at once, and
//! decides a run's permissions.

mod estimates;
mod experiments;
mod forms;
mod prices;
mod starts;
mod validation_errors;

use swe_ci_base::blocking::blocking;
use swe_ci_base::error::{Error, Result};
use swe_ci_core::agent::{AgentConfig, Endpoint};
use swe_ci_core::permissions::{Keyring, Reach, RunPermissions};
use swe_ci_core::run::{BadConfig, Kind, Progress, RunConfig};
use swe_ci_core::task::TaskId;
use swe_ci_dataset::dataset_digest;
use swe_ci_gateway::refused_by_name;
use swe_ci_runner::evolve;
use swe_ci_store::{NewRun, TaskRow};
use swe_ci_views::account::{AccountRole, Actor, Standing, Visibility};
use swe_ci_views::event::What;
use swe_ci_views::submission::Submission;
use swe_ci_views::view::{Provenance, TaskState};

use crate::{Engine, METRIC_VERSION, as_u32};
use starts::Starts;
use validation_errors::ValidationErrors;

pub(in crate::api) use starts::Earlier;

/// Tasks of a split that a problem names.
const MAX_NAMED: usize = 5;

/// A runnable configuration, with everything that was derived from it here and
/// today.
#[derive(Debug)]
pub(crate) struct Draft {
    /// With today's prices.
    pub config: RunConfig,
    pub grant: RunPermissions,
    pub harness_version: String,
    pub tasks: Vec<TaskRow>,
    /// Where its evolutions start, in a handover.
    pub starts: Option<Starts>,
}

#[swe_ci_boxed::boxed]
impl Engine {
    /// Queues a run and its evolutions, without a preflight; returns its id.
    ///
    /// # Errors
    /// [`Error::Unauthenticated`] and [`Error::Forbidden`] without permission;
    /// [`Error::Rejected`] naming every invalid field.
    pub async fn submit(&self, config: RunConfig, visibility: Visibility) -> Result<String> {
        self.queue(Submission {
            config,
            visibility,
            preflight: false,
            forget_keys: false,
        })
        .await
    }

    /// Queues a run and its evolutions, with a preflight if requested; returns
    /// its id.
    ///
    /// # Errors
    /// As [`Engine::submit`].
    pub async fn queue(&self, submission: Submission) -> Result<String> {
        let visibility = submission.visibility;
        let draft = self.draft(submission.config, visibility).await?;
        self.check_room_for(1).await?;
        let iterations = f64::from(draft.config.plan.max_iterations);
        let expected = |task: &TaskRow| (task.id.clone(), task.suite_seconds * iterations);
        let owner = self.by().identity().map(|who| who.account_id.clone());
        let identities = draft.tasks.iter().map(TaskRow::identity);
        let identities: Vec<[String; 2]> = identities.collect::<Result<_>>()?;
        let uses_model = draft.config.harness.asks_a_model();
        let starts = draft.starts.unwrap_or_default();
        let run = NewRun {
            standing: Standing { owner, visibility },
            grant: draft.grant,
            provenance: Provenance {
                platform_version: env!("CARGO_PKG_VERSION").into(),
                metric_version: METRIC_VERSION,
                dataset_digest: dataset_digest(&identities),
                harness_version: draft.harness_version,
                prompts: uses_model.then(|| evolve::recorded_prompts(draft.config.mode)),
                imported: None,
                engines: Vec::new(),
                not_handed_over: starts.left_out,
            },
            tasks: draft.tasks.iter().map(expected).collect(),
            preflight: submission.preflight,
            forget_keys: submission.forget_keys,
            config: draft.config,
        };
        let id = match run.config.handover {
            Some(_) => {
                self.store
                    .insert_handover(&run, &starts.starts, self.by())
                    .await?
            }
            None => self.store.insert_run(&run, self.by()).await?,
        };
        let progress = Progress::Queued;
        self.events.publish(&id, What::Run { progress });
        Ok(id)
    }

    /// Checks a configuration, and derives everything a run needs.
    pub(crate) async fn draft(&self, config: RunConfig, visibility: Visibility) -> Result<Draft> {
        self.require(AccountRole::Submitter)?;
        let mut config = self.with_protocols(config).await;
        let mut errors = ValidationErrors(config.problems());
        if visibility == Visibility::Withdrawn {
            let problem = "a run begins private or public; it is withdrawn later";
            errors.add("visibility", problem);
        }
        self.check_ceilings(&config, &mut errors);
        self.check_kind(&config, &mut errors);
        let harness_version = self.harness_versions(&config, &mut errors).await?;
        self.check_recordings(&config, &mut errors).await?;
        let mut tasks = self.requested_tasks(&config, &mut errors).await?;
        let starts = self
            .starts(&config, visibility, &tasks, &mut errors)
            .await?;
        if let Some(Starts { starts, .. }) = &starts {
            tasks.retain(|task| starts.iter().any(|start| start.task == task.id));
        }
        let grant = self.grant(&mut config, &mut errors).await?;
        errors.into_result()?;
        Ok(Draft {
            config,
            grant,
            harness_version,
            tasks,
            starts,
        })
    }

    /// The operator's ceilings hold for the runs of accounts.
    fn check_ceilings(&self, config: &RunConfig, errors: &mut ValidationErrors) {
        if *self.by() == Actor::Operator {
            return;
        }
        for bad in self.config.ceilings.problems(config) {
            errors.add(bad.field, bad.problem);
        }
    }

    /// Keeps one account from filling the queue.
    async fn check_room_for(&self, more: usize) -> Result<()> {
        let Some(who) = self.by().identity() else {
            return Ok(());
        };
        let (ceiling, runs) = (
            self.config.ceilings.unfinished_runs,
            self.store.unfinished_runs(&who.account_id).await?,
        );
        match runs.saturating_add(as_u32(more)) <= ceiling {
            true => Ok(()),
            false => Err(Error::Conflict(format!(
                "this account has {runs} unfinished runs and asks for {more} more, and this site's ceiling is {ceiling}; wait for one to finish, or cancel one"
            ))),
        }
    }

    /// A measured run must use a model: a replayed history is perfect by
    /// construction, and would top every ranking.
    fn check_kind(&self, config: &RunConfig, errors: &mut ValidationErrors) {
        let uses_model = config.harness.asks_a_model();
        let problem = match config.kind {
            Kind::Imported => "import results made elsewhere with `swe-ci import-results`",
            Kind::Human if uses_model => "the human baseline asks no model",
            Kind::Measured if !uses_model && *self.by() != Actor::Operator => {
                "the harness asks no model, so this is the human baseline: `human`"
            }
            Kind::Human | Kind::Measured => return,
        };
        errors.add("kind", problem);
    }

    /// Checks that the agents can run as configured; returns their versions.
    async fn harness_versions(
        &self,
        config: &RunConfig,
        errors: &mut ValidationErrors,
    ) -> Result<String> {
        let agents: Vec<(&'static str, AgentConfig)> = config.own_agents().collect();
        let harnesses = self.harnesses.clone();
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
                Err(bad) => errors.add(bad.field, bad.problem),
            }
        }
        Ok(versions.join(" / "))
    }

    /// Checks what can be checked of a configuration before there is its split.
    ///
    /// # Errors
    /// As [`Engine::submit`].
    pub async fn check_before_split(&self, mut config: RunConfig) -> Result<()> {
        self.trial_permissions(&mut config).await.map(drop)
    }

    /// The permissions for a mere trial of the configuration's agents.
    ///
    /// # Errors
    /// As [`Engine::submit`].
    pub(crate) async fn trial_permissions(&self, config: &mut RunConfig) -> Result<RunPermissions> {
        self.require(AccountRole::Submitter)?;
        let mut errors = ValidationErrors(config.problems());
        self.check_ceilings(config, &mut errors);
        self.harness_versions(config, &mut errors).await?;
        let grant = self.grant(config, &mut errors).await?;
        errors.into_result()?;
        Ok(grant)
    }

    /// The run's permissions: whose keys it uses and which addresses it may
    /// reach. Adds today's prices.
    async fn grant(
        &self,
        config: &mut RunConfig,
        errors: &mut ValidationErrors,
    ) -> Result<RunPermissions> {
        let reach = self.reach();
        if reach == Reach::Public {
            for (part, endpoint) in live_endpoints(config) {
                if let Some(why) = refused_by_name(&endpoint.url) {
                    errors.add(format!("{part}endpoint.url"), why);
                }
            }
        }
        let keyring = self.keyring_for(config, errors).await?;
        self.add_prices(config, errors).await?;
        self.add_budget(config);
        Ok(RunPermissions { keyring, reach })
    }

    fn reach(&self) -> Reach {
        match self.by().is(AccountRole::Admin) || self.config.private_endpoints {
            true => Reach::Anywhere,
            false => Reach::Public,
        }
    }

    /// A run takes all its keys from one keyring: its owner's, or if that lacks
    /// some, another that its owner may use.
    async fn keyring_for(
        &self,
        config: &RunConfig,
        errors: &mut ValidationErrors,
    ) -> Result<Keyring> {
        let named: Vec<(String, String)> = live_endpoints(config)
            .flat_map(|(part, endpoint)| {
                let named = |(field, key): (&str, &str)| (format!("{part}{field}"), key.to_owned());
                endpoint.keys().map(named).collect::<Vec<_>>()
            })
            .collect();
        let keys = &self.keys;
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
                errors.add(field, swe_ci_runner::provider_keys::missing(&own, &name));
                continue;
            }
            match keys.check(&chosen, &name).await {
                Err(Error::Invalid(why)) => errors.add(field, why),
                checked => checked?,
            }
        }
        Ok(chosen)
    }

    /// Only those who may see a run can replay its recordings.
    async fn check_recordings(
        &self,
        config: &RunConfig,
        errors: &mut ValidationErrors,
    ) -> Result<()> {
        for (part, agent) in config.own_agents() {
            let Some(recording) = agent.endpoint.and_then(|endpoint| endpoint.recording) else {
                continue;
            };
            match self.visible_run(&recording).await {
                Err(missing @ Error::NotFound { .. }) => {
                    errors.add(format!("{part}endpoint.recording"), missing.to_string());
                }
                run => drop(run?),
            }
        }
        Ok(())
    }

    /// The requested tasks that can be run.
    async fn requested_tasks(
        &self,
        config: &RunConfig,
        errors: &mut ValidationErrors,
    ) -> Result<Vec<TaskRow>> {
        let of_split = match self.store.tasks_of_split(&config.split).await {
            Err(missing @ Error::NotFound { .. }) => {
                errors.add("split", missing.to_string());
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
            let known: Vec<&str> = of_split.iter().map(|task| task.id.as_str()).collect();
            let more = match known.len().checked_sub(MAX_NAMED) {
                Some(more @ 1..) => format!(" and {more} more"),
                _ => String::new(),
            };
            let known = known[..known.len().min(MAX_NAMED)].join("`, `");
            let problem = format!("the split `{split}` has no `{unknown}`; it has `{known}`{more}");
            errors.add("tasks", problem);
        }
        let chosen = |task: &TaskRow| config.tasks.is_empty() || config.tasks.contains(&task.id);
        let (ready, unusable): (Vec<TaskRow>, Vec<TaskRow>) = (of_split.into_iter())
            .filter(chosen)
            .partition(|task| task.state == TaskState::Ready);
        if !config.tasks.is_empty() && !unusable.is_empty() {
            let unusable: Vec<&str> = unusable.iter().map(|task| task.id.as_str()).collect();
            let problem = format!("`{}` cannot be run; leave out", unusable.join("`, `"));
            errors.add("tasks", problem);
        }
        if ready.is_empty() && config.tasks.is_empty() {
            let problem = format!("`{}` has no task that can be run", config.split);
            errors.add("split", problem);
        }
        Ok(ready)
    }
}

/// The endpoints that are not replayed, with the prefix of their fields.
fn live_endpoints(config: &RunConfig) -> impl Iterator<Item = (&'static str, Endpoint)> {
    config.own_agents().filter_map(|(part, agent)| {
        let endpoint = agent.endpoint?;
        endpoint.recording.is_none().then_some((part, endpoint))
    })
}

#[cfg(test)]
mod tests;
