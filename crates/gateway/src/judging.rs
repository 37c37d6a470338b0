//! Judges failed exchanges: the provider or the request is at fault. Waits for a
//! provider that is.

use std::time::Duration;

use swe_ci_base::clock::now_ms;

use super::active_exchange::ActiveExchange;
use super::provider_request::{Failure, Judged, Next};
use super::recording::Retry;

/// The longest pause between two tries, unless the provider asks for more.
const LONGEST_PAUSE: Duration = Duration::from_mins(1);
/// Tries of a request whose provider answers others.
const MAX_TRIES: u32 = 5;

impl ActiveExchange {
    /// Decides who is at fault. Waits, and returns [`Judged::Again`] once the same
    /// request is worth another try.
    pub(super) async fn judge(&mut self, failure: &Failure) -> Judged {
        self.tries += 1;
        let passing = match failure.next {
            Next::Nothing => return Judged::Provider(failure.why.clone()),
            Next::Try => true,
            Next::Probe | Next::ProbeAlone => false,
        };
        // A provider need not support counting tokens in advance: no probe pays for it.
        if self.request.counting && !passing {
            return Judged::Request;
        }
        // Most of these pass: the first is worth no probe.
        if passing && self.tries == 1 && self.pause(failure, &failure.why).await {
            return Judged::Again;
        }
        let mut was_unable = false;
        loop {
            let session = self.session.clone();
            let waiting = (self.session.excluded.wait(), self.session.unable.wait());
            let verdict = self.keeping_alive(session.probe()).await;
            drop(waiting);
            let Err(unable) = verdict else {
                return match was_unable || self.deserves_another(failure).await {
                    true => Judged::Again,
                    false => Judged::Request,
                };
            };
            was_unable = true;
            (self.tries, self.refused) = (0, None);
            if !self.pause(failure, &unable).await {
                let seconds = self.session.unable.total().as_secs();
                return Judged::Provider(format!(
                    "the provider was waited for {seconds} s and still fails: {}; a request of the platform's own: {unable}",
                    failure.why
                ));
            }
        }
    }

    /// Whether a request may be sent again whose provider answers others: not if it was
    /// refused twice in the same way. Waits before. Half an answer is no refusal.
    async fn deserves_another(&mut self, failure: &Failure) -> bool {
        if failure.next == Next::ProbeAlone {
            return false;
        }
        let is_answer = failure.status().is_some_and(|status| status.is_success());
        let may_be_its_fault = failure.next == Next::Probe && !is_answer;
        let refused = may_be_its_fault.then_some(failure.status());
        let repeated = refused.is_some() && self.refused == refused;
        self.refused = refused;
        if repeated || self.tries >= MAX_TRIES {
            return false;
        }
        // Once the patience is spent, without a pause: that is nobody's fault here.
        self.pause(failure, &failure.why).await;
        true
    }

    /// Waits as long as the provider asks, otherwise twice as long each time, with
    /// jitter; `false` if the patience is spent before.
    async fn pause(&mut self, failure: &Failure, why: &str) -> bool {
        let pause = failure.pause.unwrap_or_else(|| with_jitter(self.own_pause));
        self.own_pause = self.own_pause.saturating_mul(2).min(LONGEST_PAUSE);
        let session = self.session.clone();
        if session.unable.total().saturating_add(pause) > session.config.patience {
            return false;
        }
        tracing::info!(
            model = session.config.endpoint.model,
            pause_ms = pause.as_millis(),
            "retrying the provider: {why}"
        );
        session.totals().last_failure = Some(why.to_owned());
        self.exchange.retries.push(Retry {
            status: failure.status().map(|status| status.as_u16()),
            why: why.to_owned(),
            waited_ms: u64::try_from(pause.as_millis()).unwrap_or(u64::MAX),
        });
        let _waiting = (session.excluded.wait(), session.unable.wait());
        let next = now_ms().saturating_add(i64::try_from(pause.as_millis()).unwrap_or(i64::MAX));
        session.totals().next_try = Some(next);
        self.keeping_alive(tokio::time::sleep(pause)).await;
        session.totals().next_try = None;
        true
    }

    /// The provider's fault in an answer that has ended badly, if it is that.
    pub(super) async fn trouble(&mut self, why: Option<String>) -> Option<String> {
        let why = why?;
        let session = self.session.clone();
        let _waiting = (session.excluded.wait(), session.unable.wait());
        let unable = session.probe().await.err()?;
        Some(format!("{why}; a request of the platform's own: {unable}"))
    }
}

/// Between half and all of a pause, so that requests refused together do not return
/// together.
fn with_jitter(pause: Duration) -> Duration {
    let random = f64::from(uuid::Uuid::now_v7().as_bytes()[15]) / 255.0;
    pause.mul_f64(0.5 + random / 2.0)
}
