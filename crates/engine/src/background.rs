//! Work that a page starts and that a worker carries out. A row says what is to
//! be done, for whom, and how far it is; workers take turns. If one dies, whose
//! turn is next begins its work again.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::Context;
use serde::{Deserialize, Serialize};
use swe_ci_base::error::{Error, Result};
use swe_ci_base::panics::catch_panic;
use swe_ci_store::BegunWork;
use swe_ci_views::background::{BackgroundWork, WorkKind};
use swe_ci_views::judge::JudgePlan;
use tokio_util::sync::CancellationToken;

use crate::Engine;

/// How often the worker whose turn it is looks for work.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// The pause after a failure that is no work's.
const RETRY_DELAY: Duration = Duration::from_secs(10);
/// How often it tells how far the work is.
const NEWS_INTERVAL: Duration = Duration::from_secs(1);
/// Work that ended as many processes is not begun again.
const MAX_TRIES: u32 = 3;

/// What is to be done, as its row keeps it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "work", rename_all = "snake_case")]
pub enum Work {
    /// A run is verified; of many iterations only `most`.
    Verification { run: String, most: Option<u32> },
    /// A model judges a run.
    Judge { run: String, plan: Box<JudgePlan> },
    /// A split is imported from a dataset on the hub.
    Import { from: String, split: String },
}

impl Work {
    fn kind(&self) -> WorkKind {
        match self {
            Self::Verification { .. } => WorkKind::Verification,
            Self::Judge { .. } => WorkKind::Judge,
            Self::Import { .. } => WorkKind::Import,
        }
    }

    /// Each is worked on once at a time.
    fn object(&self) -> &str {
        match self {
            Self::Verification { run, .. } | Self::Judge { run, .. } => run,
            Self::Import { .. } => ANY,
        }
    }
}

/// The object of work of which there is one at a time.
pub const ANY: &str = "";

/// Where work says how far it is.
#[derive(Debug, Clone, Default)]
pub struct Reporter(Arc<Mutex<Option<String>>>);

impl Reporter {
    pub fn say(&self, progress: String) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(progress);
    }

    /// What was said since the last call.
    fn news(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

#[swe_ci_boxed::boxed]
impl Engine {
    /// Queues some work for the present actor.
    ///
    /// # Errors
    /// [`Error::Conflict`] while there is such work that has not ended.
    pub(crate) async fn queue_work(&self, work: &Work) -> Result<()> {
        let json = serde_json::to_string(work).context("work has no JSON")?;
        self.store
            .queue_work(work.kind(), work.object(), &json, self.by())
            .await
    }

    /// The last work of a kind on an object.
    pub(crate) async fn last_work(
        &self,
        kind: WorkKind,
        object: &str,
    ) -> Result<Option<BackgroundWork>> {
        self.store.background_work(kind, object).await
    }

    /// Carries out the queued work of a kind, one after the other, until `stop`.
    pub(crate) async fn do_queued_work(&self, kind: WorkKind, stop: &CancellationToken) {
        while !stop.is_cancelled() {
            let wait = match self.do_next_work(kind, stop).await {
                Ok(true) => continue,
                Ok(false) => POLL_INTERVAL,
                Err(error) => {
                    let kind = kind.name();
                    tracing::warn!(kind, "background work cannot go on: {error:#}");
                    RETRY_DELAY
                }
            };
            stop.run_until_cancelled(tokio::time::sleep(wait)).await;
        }
    }

    /// Whether there was some.
    async fn do_next_work(&self, kind: WorkKind, stop: &CancellationToken) -> Result<bool> {
        let Some(begun) = self.store.begin_work(kind).await? else {
            return Ok(false);
        };
        let reporter = Reporter::default();
        let outcome = tokio::select! {
            biased;
            () = stop.cancelled() => {
                self.store.put_back_work(&begun).await?;
                return Ok(true);
            }
            done = catch_panic(self.carry_out(&begun, &reporter)) => {
                done.map_err(Error::Internal).flatten()
            }
            never = self.pass_on(&begun, &reporter) => match never {},
        };
        let outcome = outcome.map_err(|error| error.chain());
        if let Err(reason) = &outcome {
            let (kind, object) = (kind.name(), &begun.object);
            tracing::warn!(kind, object, "background work failed: {reason}");
        }
        let ended = outcome.as_deref().map_err(String::as_str);
        self.store.end_work(&begun, ended).await?;
        Ok(true)
    }

    /// Writes what the work says into its row.
    async fn pass_on(&self, begun: &BegunWork, reporter: &Reporter) -> std::convert::Infallible {
        loop {
            tokio::time::sleep(NEWS_INTERVAL).await;
            if let Some(news) = reporter.news()
                && let Err(error) = self.store.note_progress(begun, &news).await
            {
                tracing::debug!("progress not told: {error:#}");
            }
        }
    }

    /// Does it for whoever asked; its result in words.
    async fn carry_out(&self, begun: &BegunWork, reporter: &Reporter) -> Result<String> {
        if begun.tries > MAX_TRIES {
            return Err(Error::Internal(anyhow::anyhow!(
                "{MAX_TRIES} workers ended while they were at it"
            )));
        }
        let work = serde_json::from_str(&begun.work).context("another version queued this")?;
        let engine = self.acting_for(begun.actor.clone());
        match work {
            Work::Verification { run, most } => {
                Box::pin(engine.verify_in_background(&run, most, reporter)).await
            }
            Work::Judge { run, plan } => {
                Box::pin(engine.judge_in_background(&run, *plan, begun.asked_at, reporter)).await
            }
            Work::Import { from, split } => {
                Box::pin(engine.import_in_background(&from, &split, reporter)).await
            }
        }
    }
}
