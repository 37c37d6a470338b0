//! The order of style measurements: by a worker, as evolutions end; or all that
//! are missing, on request.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use serde::Serialize;
use swe_ci_base::error::{Error, Result};
use swe_ci_base::retry::doubled;
use swe_ci_store::artifacts::{is_missing, is_outage};
use swe_ci_views::account::AccountRole;
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

use crate::api::worker::{CLAIM, POLL_INTERVAL, RETRY_DELAY, work_on_claims};
use crate::style_tools::METHOD;
use crate::{Engine, Say};

/// The pauses of an evolution whose code is not there, such as on a disk that is
/// away: the first, from which on they double, and the longest.
const FIRST_PAUSE: Duration = Duration::from_secs(10);
const LONGEST_PAUSE: Duration = Duration::from_hours(1);

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

/// The search for evolutions to measure.
#[derive(Default)]
struct Search {
    /// The change counter of the store when there was none, and when that was: the
    /// search grows with the number of evolutions.
    found_none: Option<(i64, Instant)>,
    /// How often each of those that were put back has failed.
    failures: HashMap<String, u32>,
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
            let style = match self.measure(id, say).await {
                // Nothing is known of it yet.
                Err(error) if is_missing(&error) => Err(error.chain()),
                style => {
                    let style = style?;
                    self.store.put_style(id, METHOD, &style).await?;
                    style
                }
            };
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
        let (worker, search) = (&self.instance, Mutex::default());
        let release = || self.store.release_styles(worker);
        let next = || self.measure_next(worker, &search);
        work_on_claims("code style", stop, release, next).await;
    }

    /// Returns the pause before the next one.
    async fn measure_next(&self, worker: &str, search: &Mutex<Search>) -> Result<Duration> {
        let mut search = search.lock().await;
        let changes = self.store.changes().await?;
        let is_idle = search.found_none.is_some_and(|(then, at)| {
            then == changes && (search.failures.is_empty() || at.elapsed() < FIRST_PAUSE)
        });
        if is_idle {
            return Ok(POLL_INTERVAL);
        }
        let until = crate::after(CLAIM);
        let Some(id) = self.store.claim_style(worker, METHOD, until).await? else {
            search.found_none = Some((changes, Instant::now()));
            return Ok(POLL_INTERVAL);
        };
        let style = match self.measure(&id, &|line| tracing::info!("{line}")).await {
            Ok(style) => style,
            Err(error) if is_missing(&error) || is_passing(&error) => {
                // Other evolutions meet the same machine, but their own code.
                let (first, next) = match is_missing(&error) {
                    true => (FIRST_PAUSE, Duration::ZERO),
                    false => (RETRY_DELAY, RETRY_DELAY),
                };
                let failures = search.failures.entry(id.clone()).or_default();
                *failures += 1;
                let pause = doubled(first, *failures).min(LONGEST_PAUSE);
                tracing::warn!(evolution = id, ?pause, "code style: {}", error.chain());
                let until = crate::after(pause);
                self.store.put_back_style(&id, worker, until).await?;
                return Ok(next);
            }
            // Stored, so that it is not tried again and again.
            Err(error) => Err(error.to_string()),
        };
        if let Err(why) = &style {
            tracing::warn!(evolution = id, "no code style: {why}");
        }
        self.store.put_style(&id, METHOD, &style).await?;
        search.failures.remove(&id);
        Ok(Duration::ZERO)
    }
}
