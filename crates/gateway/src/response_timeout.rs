//! The time limit on a provider that has a request and says nothing. A queue may be long,
//! so no request is cut off for it: a probe beside it tells whether the provider answers
//! others.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use swe_ci_base::clock::Wait;
use tokio_util::task::AbortOnDropHandle;
use tracing::Instrument;

use super::active_exchange::ActiveExchange;
use super::concurrency::Permit;
use super::probe_results::Verdict;
use super::provider_request::{Failure, Next};
use super::session_state::SessionState;

pub(super) struct ResponseTimeout {
    session: Arc<SessionState>,
    /// Since when nothing of an answer has come.
    since: Instant,
    /// The agent's clock stands.
    waiting: Option<Wait>,
    /// Until the provider leaves this request alone and answers others, which must not
    /// wait for it.
    permit: Option<Permit>,
    /// The probe beside the request. A task of its own: others wait for its result, and
    /// the request may wait for its harness.
    probing: Option<AbortOnDropHandle<Verdict>>,
    /// No probe is needed, or it was answered.
    is_probed: bool,
    /// Since when the clock has run although the request may be in a queue.
    overdue: Option<Instant>,
    /// For so long a provider that answers others may go on; then the request is sent
    /// again.
    longest: Duration,
    /// It has been so silent that the request may be at fault.
    is_long: bool,
    /// Nothing comes of a whole answer before its end, queue or not.
    is_streamed: bool,
}

/// Shorter silences are usual, whatever the patience.
const LEAST: Duration = Duration::from_secs(1);

impl ResponseTimeout {
    pub fn new(exchange: &ActiveExchange, waiting: Option<Wait>, permit: Permit) -> Self {
        let session = exchange.session.clone();
        let is_streamed = exchange.request.streamed;
        // Each try waits longer: the connection may be lost, or the queue be long.
        // Before a whole answer silence is usual.
        let (first, last) = bounds(&session);
        let longest = match is_streamed {
            true => last.min(first * (1 << exchange.tries.min(4))),
            false => last,
        };
        Self {
            is_probed: exchange.request.counting,
            is_long: longest >= last,
            longest,
            session,
            since: Instant::now(),
            waiting,
            permit: Some(permit),
            probing: None,
            overdue: None,
            is_streamed,
        }
    }

    /// Waits for something of the provider's, which need not end the silence:
    /// comments and signs of a queue keep a connection alive and say nothing.
    ///
    /// # Errors
    /// The silence lasts, and the provider is unable; or it answers others, and has let
    /// this request wait for very long.
    pub async fn wait_for<T>(&mut self, awaited: impl Future<Output = T>) -> Result<T, Failure> {
        tokio::select! {
            biased;
            found = awaited => Ok(found),
            silent = self.expired() => Err(silent),
        }
    }

    /// Dropped at any moment, it goes on where it was.
    async fn expired(&mut self) -> Failure {
        let patience = self.session.config.patience.max(LEAST);
        self.until(patience).await;
        if !self.is_probed {
            let verdict = self.probing.get_or_insert_with(|| probe(&self.session));
            let verdict = verdict.await.unwrap_or_else(|error| Err(error.to_string()));
            self.probing = None;
            if let Err(unable) = verdict {
                self.session.unable.exclude_since(self.since);
                return Failure {
                    unable: Some(unable),
                    ..self.failure(Next::Probe)
                };
            }
            self.is_probed = true;
            // The agent's time bounds what may be the fault of its request.
            self.waiting = None;
            self.permit = None;
            self.overdue = Some(Instant::now());
            self.session.overdue.fetch_add(1, Ordering::Relaxed);
        }
        self.until(patience.saturating_add(self.longest)).await;
        let next = match self.is_long {
            true => Next::Probe,
            false => Next::Try,
        };
        Failure {
            is_unanswered: true,
            ..self.failure(next)
        }
    }

    fn until(&self, length: Duration) -> tokio::time::Sleep {
        tokio::time::sleep(length.saturating_sub(self.since.elapsed()))
    }

    fn failure(&self, next: Next) -> Failure {
        let seconds = self.since.elapsed().as_secs();
        Failure::new(next, format!("no part of an answer within {seconds} s"))
    }

    /// The provider is at work.
    pub fn restart(&mut self) {
        self.since = Instant::now();
        self.waiting = None;
        self.probing = None;
        self.is_probed = false;
        // A part of the answer is paid: asking again would cost it twice.
        self.longest = bounds(&self.session).1;
        self.is_long = true;
        if let Some(overdue) = self.end_overdue()
            && self.is_streamed
            && self.session.overdue.load(Ordering::Relaxed) == 0
        {
            // It was a queue. Of several at once, the time of the others counts for none.
            self.session.excluded.exclude_since(overdue);
        }
    }

    fn end_overdue(&mut self) -> Option<Instant> {
        let overdue = self.overdue.take()?;
        self.session.overdue.fetch_sub(1, Ordering::Relaxed);
        Some(overdue)
    }
}

fn probe(session: &Arc<SessionState>) -> AbortOnDropHandle<Verdict> {
    let of_session = session.clone();
    let probe = async move { of_session.probe().await };
    AbortOnDropHandle::new(session.tasks.spawn(probe.in_current_span()))
}

/// The shortest and the longest silence after the patience.
fn bounds(session: &SessionState) -> (Duration, Duration) {
    let first = session.gateway.inner.retry_policy.longest_silence;
    (first, first * 10)
}

impl Drop for ResponseTimeout {
    fn drop(&mut self) {
        self.end_overdue();
    }
}
