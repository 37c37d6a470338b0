//! The workers of an installation: announced, told to drain, shown; and what
//! monitoring sees of the queue.

use std::convert::Infallible;
use std::sync::OnceLock;
use std::sync::atomic::Ordering;
use std::time::Duration;

use swe_ci_base::error::{Error, Result};
use swe_ci_runner::worker_slots::WorkSignals;
use swe_ci_sandbox::host;
use swe_ci_store::{NewWorker, QueueState, StepsDone};
use swe_ci_views::account::AccountRole;
use swe_ci_views::view::TaskState;
use swe_ci_views::workers::WorkerView;
use tokio_util::sync::CancellationToken;

use crate::{Engine, Say};

/// How often a worker says that it lives.
const HEARTBEAT: Duration = Duration::from_secs(5);

/// The state of the whole installation, in numbers.
#[derive(Debug, Clone)]
pub struct Monitoring {
    pub queue: QueueState,
    pub workers: Vec<WorkerView>,
    pub steps: Vec<StepsDone>,
}

impl Engine {
    /// All workers and what they work on; for administrators.
    pub async fn workers(&self) -> Result<Vec<WorkerView>> {
        self.require(AccountRole::Admin)?;
        self.store.workers().await
    }

    /// Has the workers of this id or name claim nothing more, or claim again;
    /// for administrators. What is under way goes on.
    ///
    /// # Errors
    /// [`Error::NotFound`] when there is no such worker.
    pub async fn drain_workers(&self, which: &str, drain: bool) -> Result<u64> {
        self.require(AccountRole::Admin)?;
        match self.store.drain_workers(which, drain, self.by()).await? {
            0 => Err(Error::not_found("worker", which)),
            found => Ok(found),
        }
    }

    /// For a program that monitors the installation; for administrators.
    pub async fn monitoring(&self) -> Result<Monitoring> {
        self.require(AccountRole::Admin)?;
        Ok(Monitoring {
            queue: self.store.queue_state().await?,
            workers: self.store.workers().await?,
            steps: self.store.steps_done().await?,
        })
    }

    /// Puts code and images of a split's tasks where other machines find them,
    /// and the base image; for administrators. Returns how many tasks there are.
    ///
    /// # Errors
    /// [`Error::Invalid`] when no place is configured.
    pub async fn share(&self, split: &str, say: Say<'_>) -> Result<usize> {
        self.require(AccountRole::Admin)?;
        if self.config.artifacts.is_none() && self.config.registry.is_none() {
            let why = "nothing is shared: set SWE_CI_ARTIFACTS and SWE_CI_REGISTRY";
            return Err(Error::Invalid(why.into()));
        }
        let tasks = self.store.tasks_of_split(split).await?;
        if tasks.is_empty() {
            return Err(Error::not_found("split", split));
        }
        if self.config.registry.is_some() {
            say("the base image".into());
            self.harnesses.layers().share_base().await?;
        }
        for (at, task) in tasks.iter().enumerate() {
            if task.state != TaskState::Ready {
                continue;
            }
            say(format!("[{}/{}] {}", at + 1, tasks.len(), task.id));
            self.folders.share(task).await?;
            self.image_cache.share(&task.image).await?;
        }
        Ok(tasks.len())
    }

    pub(crate) async fn announce_worker(&self, id: &str) -> Result<()> {
        let worker = self.config.worker.clone().unwrap_or_default();
        let host = host::name();
        let name = match worker.name.as_str() {
            "" => &host,
            name => name,
        };
        let new = NewWorker {
            id,
            name,
            version: env!("CARGO_PKG_VERSION"),
            slots: self.config.workers,
            labels: &worker.labels,
        };
        self.store.put_worker(&new).await
    }

    /// Says that this worker lives, and hears whether it is to drain. When the
    /// database got another schema, the worker leaves for that reason.
    pub(crate) async fn report_life(
        &self,
        id: &str,
        signals: &WorkSignals,
        leaving: &CancellationToken,
        outdated: &OnceLock<Error>,
    ) -> Infallible {
        loop {
            tokio::time::sleep(HEARTBEAT).await;
            match self.store.worker_lives(id).await {
                Ok(drain) => signals.hold.store(drain, Ordering::Relaxed),
                // Nobody heard of it for a week.
                Err(Error::NotFound { .. }) => {
                    let announced = self.announce_worker(id).await;
                    announced.unwrap_or_else(|error| tracing::warn!("not listed: {error}"));
                }
                Err(error) => tracing::warn!("the worker's heartbeat failed: {error}"),
            }
            if outdated.get().is_none()
                && let Err(other @ Error::Conflict(_)) = self.store.ensure_own_schema().await
            {
                tracing::warn!("{other}");
                let _ = outdated.set(other);
                leaving.cancel();
            }
        }
    }
}
