//! The silence of a provider that has a request. A queue may be long, so no request is
//! cut off for it: a probe beside it tells whether the provider answers others.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::FutureExt;
use futures::future::BoxFuture;
use swe_ci_base::clock::Wait;

use super::active_exchange::ActiveExchange;
use super::probe_results::Verdict;
use super::provider_request::{Failure, Next};
use super::session_state::SessionState;

pub(super) struct Silence {
    session: Arc<SessionState>,
    /// Since when nothing of an answer has come.
    since: Instant,
    /// The agent's clock stands.
    waiting: Option<Wait>,
    /// The probe beside the request.
    asking: Option<BoxFuture<'static, Verdict>>,
    /// No probe is needed, or it was answered.
    is_probed: bool,
    /// Since when the clock has run although the request may be in a queue.
    overdue: Option<Instant>,
    /// For so long a provider that answers others may go on; then the request is sent
    /// again.
    longest: Duration,
    /// It has been so silent that the request may be at fault.
    is_long: bool,
}

/// Shorter silences are usual, whatever the patience.
const LEAST: Duration = Duration::from_secs(1);

impl Silence {
    pub fn new(exchange: &ActiveExchange, waiting: Option<Wait>) -> Self {
        let session = exchange.session.clone();
        // Each try waits longer: the connection may be lost, or the queue be long.
        // Before a whole answer silence is usual.
        let (first, last) = bounds(&session);
        let longest = match exchange.request.streamed {
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
            asking: None,
            overdue: None,
        }
    }

    /// Waits for something of the provider's, which need not break the silence:
    /// comments and signs of a queue keep a connection alive and say nothing.
    ///
    /// # Errors
    /// The silence lasts, and the provider is unable; or it answers others, and has let
    /// this request wait for very long.
    pub async fn hear<T>(&mut self, awaited: impl Future<Output = T>) -> Result<T, Failure> {
        tokio::select! {
            biased;
            found = awaited => Ok(found),
            silent = self.lasted() => Err(silent),
        }
    }

    /// Dropped at any moment, it goes on where it was.
    async fn lasted(&mut self) -> Failure {
        let patience = self.session.config.patience.max(LEAST);
        self.until(patience).await;
        if !self.is_probed {
            let session = self.session.clone();
            let ask = || async move { session.probe().await }.boxed();
            let verdict = self.asking.get_or_insert_with(ask).await;
            self.asking = None;
            if let Err(unable) = verdict {
                self.session.unable.exclude(self.since.elapsed());
                return Failure {
                    unable: Some(unable),
                    ..self.failure(Next::Probe)
                };
            }
            self.is_probed = true;
            // The agent's time bounds what may be the fault of its request.
            if self.waiting.take().is_some() {
                self.session.totals().overdue += 1;
                self.overdue = Some(Instant::now());
            }
        }
        self.until(patience.saturating_add(self.longest)).await;
        let next = match self.is_long {
            true => Next::Probe,
            false => Next::Try,
        };
        Failure {
            is_left_alone: true,
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
    pub fn broken(&mut self) {
        self.since = Instant::now();
        self.waiting = None;
        self.asking = None;
        self.is_probed = false;
        // A part of the answer is paid: asking again would cost it twice.
        self.longest = bounds(&self.session).1;
        self.is_long = true;
        if let Some(overdue) = self.overdue.take() {
            let mut totals = self.session.totals();
            totals.overdue -= 1;
            // It was a queue. Of several at once, the time counts for none.
            if totals.overdue == 0 {
                self.session.excluded.exclude(overdue.elapsed());
            }
        }
    }
}

/// The shortest and the longest silence after the patience.
fn bounds(session: &SessionState) -> (Duration, Duration) {
    let first = session.gateway.inner.retry_policy.longest_silence;
    (first, first * 10)
}

impl Drop for Silence {
    fn drop(&mut self) {
        if self.overdue.is_some() {
            self.session.totals().overdue -= 1;
        }
    }
}
