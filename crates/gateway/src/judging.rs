//! Judges failed exchanges: the provider or the request is at fault. Waits for a
//! provider that is.

use std::time::{Duration, Instant};

use swe_ci_base::clock::now_ms;

use super::active_exchange::ActiveExchange;
use super::probe_results::{LONGEST_PAUSE, is_refusal};
use super::protocol::Form;
use super::provider_request::{Failure, Judged, Next};
use super::recording::Retry;

/// Tries of a request whose provider answers others: some count the tokens of a minute.
const MAX_TRIES: u32 = 8;

impl ActiveExchange {
    /// Decides who is at fault. Waits, and returns [`Judged::Again`] once the same
    /// request is worth another try.
    pub(super) async fn judge(&mut self, failure: &Failure) -> Judged {
        self.tries += 1;
        let is_transient = match failure.next {
            Next::Nothing => return Judged::Provider(failure.why.clone()),
            Next::Try => true,
            Next::Probe => false,
        };
        // A provider need not support counting tokens in advance: no probe pays for it.
        if self.request.counting && !is_transient {
            return Judged::Request;
        }
        // Most of these pass: the first is worth no probe.
        if is_transient && self.tries == 1 && self.back_off(failure).await {
            return Judged::Again;
        }
        match self.wait_until_available(failure).await {
            Err(why) => Judged::Provider(why),
            Ok(Some(_)) => Judged::Again,
            Ok(None) if let Some(judged) = self.judge_form(failure) => judged,
            Ok(None) if self.may_be_retried(failure).await => Judged::Again,
            Ok(None) => Judged::Request,
        }
    }

    /// What follows if the platform's own request was refused in the form of this one. A
    /// harness that had an answer in another form of its own is to blame itself.
    fn judge_form(&self, failure: &Failure) -> Option<Judged> {
        let known = self.session.known.form();
        if !self.request.streamed || known <= self.form || !failure.status().is_some_and(is_refusal)
        {
            return None;
        }
        if known != Form::Whole || self.request.in_process {
            return Some(Judged::Again);
        }
        let is_first = self.session.totals().answers == 0;
        let why = &failure.why;
        is_first.then(|| {
            Judged::Provider(format!(
                "the harness asks for streams, and the provider answers only without streaming: {why}. Choose another provider, or the harness builtin"
            ))
        })
    }

    /// Probes until the provider answers. Returns its trouble before, if it had any.
    ///
    /// # Errors
    /// Why the provider is to blame: the patience is spent.
    async fn wait_until_available(&mut self, failure: &Failure) -> Result<Option<String>, String> {
        let session = self.session.clone();
        let mut found = failure.unable.clone().map(Err);
        let mut since = Instant::now();
        loop {
            let verdict = match found.take() {
                Some(verdict) => verdict,
                None => {
                    let _waiting = (session.excluded.wait(), session.unable.wait());
                    let probe = session.probe_since(since, false);
                    self.keeping_alive(probe).await
                }
            };
            let Err(unable) = verdict else {
                return Ok(self.trouble.take());
            };
            let why = &failure.why;
            self.trouble = Some(format!("{why}; a request of the platform's own: {unable}"));
            (self.tries, self.refused) = (0, None);
            // All sessions wait for the same moment, and one of them probes.
            let due = session.known.due();
            let waited = session.unable.total();
            let left = session.config.patience.saturating_sub(waited);
            let own = due.saturating_duration_since(Instant::now()).min(left);
            let pause = failure.pause.unwrap_or(own);
            if left.is_zero() || pause > left {
                let (seconds, why) = (waited.as_secs(), self.trouble.take().unwrap_or_default());
                return Err(format!(
                    "the provider was waited for {seconds} s and still fails: {why}"
                ));
            }
            self.pause(pause, failure, &unable).await;
            since = due.min(Instant::now());
        }
    }

    /// Whether a request may be sent again whose provider answers others: not if it was
    /// refused twice in the same way. Waits before. Half an answer is no refusal.
    async fn may_be_retried(&mut self, failure: &Failure) -> bool {
        let end = failure.end.as_deref();
        if end.is_some_and(|end| self.session.known.knows_end(end)) {
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
        self.back_off(failure).await;
        true
    }

    /// Waits as long as the provider asks, otherwise twice as long each time, with
    /// jitter; `false` if the patience is spent before.
    async fn back_off(&mut self, failure: &Failure) -> bool {
        let pause = failure.pause.unwrap_or_else(|| with_jitter(self.own_pause));
        self.own_pause = self.own_pause.saturating_mul(2).min(LONGEST_PAUSE);
        let total = self.session.unable.total().saturating_add(pause);
        let is_left = total <= self.session.config.patience;
        if is_left {
            self.pause(pause, failure, &failure.why).await;
        }
        is_left
    }

    async fn pause(&mut self, pause: Duration, failure: &Failure, why: &str) {
        let session = self.session.clone();
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
    }

    /// The provider's fault in an answer that has ended badly, if it is that: also where
    /// its trouble has passed, for the answer cannot be asked for again.
    pub(super) async fn fault_in_answer(&mut self, why: Option<String>) -> Option<String> {
        let failure = Failure::new(Next::Probe, why?);
        self.wait_until_available(&failure)
            .await
            .unwrap_or_else(Some)
    }
}

/// Between half and all of a pause, so that requests refused together do not return
/// together.
fn with_jitter(pause: Duration) -> Duration {
    let random = f64::from(uuid::Uuid::now_v7().as_bytes()[15]) / 255.0;
    pause.mul_f64(0.5 + random / 2.0)
}
