//! The workers of an installation: announced, told to drain, shown; and what
//! monitoring sees of the queue.

use std::convert::Infallible;
use std::sync::atomic::Ordering;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use swe_ci_base::error::{Error, Result};
use swe_ci_core::labels::Labels;
use swe_ci_runner::worker_slots::{Slots, WorkSignals};
use swe_ci_sandbox::host;
use swe_ci_sandbox::images::EvictableImage;
use swe_ci_store::{NewWorker, QueueState, StepsDone};
use swe_ci_views::account::AccountRole;
use swe_ci_views::view::{RunSummary, TaskState};
use swe_ci_views::workers::{AtHand, NeedyRun, WorkerFigures, WorkerView};
use tokio_util::sync::CancellationToken;

use super::eviction::bytes_of;
use crate::{Engine, Say, as_u32};

/// How often a worker says that it lives.
const HEARTBEAT: Duration = Duration::from_secs(5);

/// How often it counts the images of its engine.
const COUNT_IMAGES: Duration = Duration::from_mins(1);

/// The images and the layers that an engine has, as last counted.
#[derive(Debug, Default)]
pub(crate) struct ImagesAtHand(Mutex<Option<(AtHand, AtHand)>>);

impl ImagesAtHand {
    fn read(&self) -> (Option<AtHand>, Option<AtHand>) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .unzip()
    }

    fn write(&self, counted: Option<(AtHand, AtHand)>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = counted;
    }
}

fn counted(images: &[EvictableImage]) -> AtHand {
    AtHand {
        count: as_u32(images.len()),
        bytes: bytes_of(images),
    }
}

/// The state of the whole installation, in numbers.
#[derive(Debug, Clone)]
pub struct Monitoring {
    pub queue: QueueState,
    /// Runs that wait for a worker with labels that none has.
    pub without_worker: usize,
    pub workers: Vec<WorkerView>,
    pub steps: Vec<StepsDone>,
}

#[swe_ci_boxed::boxed]
impl Engine {
    /// All workers and what they work on; for administrators.
    pub async fn workers(&self) -> Result<Vec<WorkerView>> {
        self.require(AccountRole::Admin)?;
        self.store.workers().await
    }

    /// The open runs whose needs no worker meets; for administrators.
    pub async fn runs_without_worker(&self) -> Result<Vec<NeedyRun>> {
        self.require(AccountRole::Admin)?;
        self.needy_runs_without_worker().await
    }

    async fn needy_runs_without_worker(&self) -> Result<Vec<NeedyRun>> {
        let mut needy = self.store.needy_runs().await?;
        if !needy.is_empty() {
            let workers = self.store.workers().await?;
            needy.retain(|run| !run.has_worker(&workers));
        }
        Ok(needy)
    }

    /// The labels that a run needs, if no worker offers them.
    pub(crate) async fn unmet_needs(&self, run: &RunSummary) -> Result<Option<Labels>> {
        if run.config.needs.is_empty() || run.progress.is_over() {
            return Ok(None);
        }
        let mut waiting = self.needy_runs_without_worker().await?.into_iter();
        let own = waiting.find(|needy| needy.run_id == run.run_id);
        Ok(own.map(|needy| needy.needs))
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

    /// For a program that monitors the installation: for administrators, and
    /// tokens with the scope for it.
    pub async fn monitoring(&self) -> Result<Monitoring> {
        if !self.by().reads_metrics() {
            self.require(AccountRole::Admin)?;
        }
        Ok(Monitoring {
            queue: self.store.queue_state().await?,
            without_worker: self.needy_runs_without_worker().await?.len(),
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
            labels: &self.config.labels,
        };
        self.store.put_worker(&new).await
    }

    fn worker_figures(&self, slots: &Slots, at_hand: &ImagesAtHand) -> WorkerFigures {
        let pulls = self.docker.pulls().read();
        let (images, layers) = at_hand.read();
        WorkerFigures {
            claims: slots.counts.claims.load(Ordering::Relaxed),
            leases_lost: slots.counts.leases_lost.load(Ordering::Relaxed),
            image_pulls: pulls.count,
            image_pull_bytes: pulls.bytes,
            image_pull_seconds: pulls.seconds,
            images,
            layers,
        }
    }

    /// Counts the images and layers that this machine's engine has.
    pub(crate) async fn count_images(&self, at_hand: &ImagesAtHand) -> Infallible {
        loop {
            let counted = async {
                let images = self.image_cache.images().await?;
                let layers = self.harnesses.layers().evictable().await?;
                anyhow::Ok((counted(&images), counted(&layers)))
            };
            at_hand.write(counted.await.ok());
            tokio::time::sleep(COUNT_IMAGES).await;
        }
    }

    /// Says that this worker lives, and hears whether it is to drain. When the
    /// database got another schema, the worker leaves for that reason.
    pub(crate) async fn report_life(
        &self,
        slots: &Slots,
        at_hand: &ImagesAtHand,
        signals: &WorkSignals,
        leaving: &CancellationToken,
        outdated: &OnceLock<Error>,
    ) -> Infallible {
        let id = slots.worker_id.as_str();
        loop {
            tokio::time::sleep(HEARTBEAT).await;
            let figures = self.worker_figures(slots, at_hand);
            match self.store.worker_lives(id, &figures).await {
                Ok(drain) => signals.hold.store(drain, Ordering::Relaxed),
                // Nobody heard of it for a week.
                Err(Error::NotFound { .. }) => {
                    let announced = self.announce_worker(id).await;
                    announced.unwrap_or_else(|error| tracing::warn!("not listed: {error:#}"));
                }
                Err(error) => tracing::warn!("the worker's heartbeat failed: {error:#}"),
            }
            if outdated.get().is_none()
                && let Err(other @ Error::Conflict(_)) = self.store.ensure_own_schema().await
            {
                tracing::warn!("{other:#}");
                let _ = outdated.set(other);
                leaving.cancel();
            }
        }
    }
}
