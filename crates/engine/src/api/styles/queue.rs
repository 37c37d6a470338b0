//! The order of style measurements: by a worker, as evolutions end; or all that
//! are missing, on request.

use std::time::Duration;

use serde::Serialize;
use swe_ci_base::error::{Error, Result};
use swe_ci_store::artifacts::is_outage;
use swe_ci_views::account::AccountRole;
use tokio_util::sync::CancellationToken;

use crate::style_tools::METHOD;
use crate::{Engine, Say};

const POLL_INTERVAL: Duration = Duration::from_secs(2);
/// The pause after a failure of the container engine, of the registry of the
/// tools, or of the store.
const RETRY_DELAY: Duration = Duration::from_mins(5);
/// How long a worker's claim on an evolution lasts.
const LEASE: Duration = Duration::from_hours(6);

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct StylesMeasured {
    pub measured: u32,
    /// Evolutions that could not be measured, and why.
    pub failed: Vec<(String, String)>,
}

/// Whether the machine or the store is at fault, so that a later try may succeed.
fn is_passing(error: &Error) -> bool {
    matches!(error, Error::Unavailable(_)) || is_outage(error)
}

#[swe_ci_boxed::boxed]
impl Engine {
    /// Measures all evolutions of a run, or of all runs, that the present
    /// method has not measured.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the container engine fails, with the results
    /// so far stored.
    pub async fn measure_styles(
        &self,
        run_id: Option<&str>,
        say: Say<'_>,
    ) -> Result<StylesMeasured> {
        self.require(AccountRole::Admin)?;
        if let Some(id) = run_id {
            self.visible_run(id).await?;
        }
        let wanted = self.store.unmeasured(run_id, METHOD).await?;
        let mut all = StylesMeasured::default();
        for (n, id) in wanted.iter().enumerate() {
            let style = self.measure(id, say).await?;
            self.store.put_style(id, METHOD, &style).await?;
            let evolution = format!("{}/{} evolution {id}", n + 1, wanted.len());
            match style {
                Ok(_) => {
                    say(evolution);
                    all.measured += 1;
                }
                Err(why) => {
                    say(format!("{evolution}: {why}"));
                    all.failed.push((id.clone(), why));
                }
            }
        }
        Ok(all)
    }

    /// Measures evolutions as they end, one at a time, until `stop`.
    pub(crate) async fn measure_ended(&self, stop: &CancellationToken) {
        let worker = &self.instance;
        // A failure, or an earlier process of this data folder, leaves a claim.
        let (mut may_hold_claim, mut checked_at) = (true, None);
        while !stop.is_cancelled() {
            let next = Box::pin(async {
                if may_hold_claim {
                    self.store.release_styles(worker).await?;
                    may_hold_claim = false;
                }
                self.measure_next(worker, &mut checked_at).await
            });
            let Some(next) = stop.run_until_cancelled(next).await else {
                return;
            };
            let wait = match next {
                Ok(true) => continue,
                Ok(false) => POLL_INTERVAL,
                Err(error) => {
                    tracing::warn!("code style: {}", error.chain());
                    may_hold_claim = true;
                    RETRY_DELAY
                }
            };
            stop.run_until_cancelled(tokio::time::sleep(wait)).await;
        }
    }

    /// Whether there was one. `checked_at` is the change counter of the store
    /// when there was none: the search, which grows with the number of
    /// evolutions, is skipped until it rises.
    async fn measure_next(&self, worker: &str, checked_at: &mut Option<i64>) -> Result<bool> {
        let changes = self.store.changes().await?;
        if *checked_at == Some(changes) {
            return Ok(false);
        }
        let until = crate::after(LEASE);
        let Some(id) = self.store.claim_style(worker, METHOD, until).await? else {
            *checked_at = Some(changes);
            return Ok(false);
        };
        let style = match self.measure(&id, &|line| tracing::info!("{line}")).await {
            Ok(style) => style,
            Err(error) if is_passing(&error) => return Err(error),
            // Stored, so that it is not tried again and again.
            Err(error) => Err(error.to_string()),
        };
        if let Err(why) = &style {
            tracing::warn!(evolution = id, "no code style: {why}");
        }
        self.store.put_style(&id, METHOD, &style).await?;
        Ok(true)
    }
}
