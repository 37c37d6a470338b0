//! Which evolutions are measured when: by a worker, as they are over; or all
//! that were not, when somebody asks for it.

use std::time::Duration;

use serde::Serialize;
use swe_ci_core::account::AccountRole;
use tokio_util::sync::CancellationToken;

use super::{METHOD, Say};
use crate::Engine;
use crate::clock::now_ms;
use crate::error::{Error, Result};

/// How often a worker looks for an evolution that is over.
const LOOK: Duration = Duration::from_secs(2);
/// How long it waits after trouble with the container engine, or with the
/// registry the tools come from.
const AFTER_TROUBLE: Duration = Duration::from_mins(5);
/// Nobody else begins with an evolution for so long.
const LEASE: Duration = Duration::from_hours(6);

/// What measuring came to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct StylesMeasured {
    pub measured: u32,
    /// Evolutions that could not be measured, and why.
    pub failed: Vec<(String, String)>,
}

impl Engine {
    /// Measures all evolutions of a run, or of all runs, that were not measured
    /// by the present method.
    ///
    /// # Errors
    /// [`Error::NotFound`] without such a run; [`Error::Unavailable`] when the
    /// container engine fails, with what was measured kept;
    /// [`Error::Unauthenticated`], [`Error::Forbidden`].
    pub async fn measure_styles(
        &self,
        run_id: Option<&str>,
        say: Say<'_>,
    ) -> Result<StylesMeasured> {
        self.require(AccountRole::Admin)?;
        if let Some(id) = run_id {
            self.seen_run(id).await?;
        }
        let store = &self.inner.store;
        let wanted = store.unmeasured(run_id, METHOD).await?;
        let mut all = StylesMeasured::default();
        for (n, id) in wanted.iter().enumerate() {
            let found = self.measure(id, say).await?;
            store.put_style(id, METHOD, &found).await?;
            let place = format!("{}/{}", n + 1, wanted.len());
            match found {
                Ok(_) => {
                    say(format!("{place} evolution {id}"));
                    all.measured += 1;
                }
                Err(why) => {
                    say(format!("{place} evolution {id}: {why}"));
                    all.failed.push((id.clone(), why));
                }
            }
        }
        Ok(all)
    }

    /// Measures evolutions as they are over, one at a time, until `stop`.
    pub(crate) async fn measure_ended(&self, stop: &CancellationToken) {
        let worker = &self.inner.instance;
        // What an earlier process of this data folder was at.
        if let Err(error) = self.inner.store.release_styles(worker).await {
            tracing::warn!("code style: {error}");
        }
        let mut looked_at = None;
        while !stop.is_cancelled() {
            let next = tokio::select! {
                next = self.measure_next(worker, &mut looked_at) => next,
                () = stop.cancelled() => return,
            };
            let wait = match next {
                Ok(true) => continue,
                Ok(false) => LOOK,
                Err(error) => {
                    tracing::warn!("code style: {:#}", anyhow::Error::new(error));
                    AFTER_TROUBLE
                }
            };
            tokio::select! {
                () = stop.cancelled() => {}
                () = tokio::time::sleep(wait) => {}
            }
        }
    }

    /// Whether there was one. `looked_at` is how much had changed in the store
    /// when there was none: until more has, there is none, and looking takes
    /// the longer the more evolutions there are.
    async fn measure_next(&self, worker: &str, looked_at: &mut Option<i64>) -> Result<bool> {
        let store = &self.inner.store;
        let changes = store.changes().await?;
        if *looked_at == Some(changes) {
            return Ok(false);
        }
        let until = now_ms() + i64::try_from(LEASE.as_millis()).unwrap_or(i64::MAX);
        let Some(id) = store.claim_style(worker, METHOD, until).await? else {
            *looked_at = Some(changes);
            return Ok(false);
        };
        let found = match self.measure(&id, &|line| tracing::info!("{line}")).await {
            Ok(found) => found,
            Err(error @ Error::Unavailable(_)) => {
                store.release_styles(worker).await?;
                return Err(error);
            }
            // Not again and again.
            Err(error) => Err(error.to_string()),
        };
        if let Err(why) = &found {
            tracing::warn!(evolution = id, "no code style: {why}");
        }
        store.put_style(&id, METHOD, &found).await?;
        Ok(true)
    }
}
