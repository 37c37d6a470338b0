//! How long an idle slot waits until it looks for work again. Where the database
//! signals what is queued, slots are woken at once and look seldom; elsewhere,
//! and while nobody listens, they look often.

use std::convert::Infallible;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use swe_ci_base::error::Result;
use swe_ci_store::Store;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// How often an idle worker looks for work that nobody signals.
const LOOK: Duration = Duration::from_millis(500);
/// How often it looks while it hears signals: some work is not signalled, such as
/// what a lost worker held.
const LOOK_WHEN_WOKEN: Duration = Duration::from_secs(5);
/// The pause before a lost connection is opened again.
const RECONNECT: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub struct IdleSlots {
    signal: Notify,
    listening: AtomicBool,
    look: Duration,
    look_when_woken: Duration,
}

impl Default for IdleSlots {
    fn default() -> Self {
        Self::looking_every(LOOK, LOOK_WHEN_WOKEN)
    }
}

impl IdleSlots {
    /// `look` while it hears no signals, `look_when_woken` while it does.
    pub fn looking_every(look: Duration, look_when_woken: Duration) -> Self {
        Self {
            signal: Notify::new(),
            listening: AtomicBool::new(false),
            look,
            look_when_woken,
        }
    }

    /// Waits until it is worth looking for work again. A signal that came since
    /// the last look counts.
    pub(crate) async fn wait(&self, stop: &CancellationToken) {
        let pause = match self.listening.load(Ordering::Relaxed) {
            true => self.look_when_woken,
            false => self.look,
        };
        tokio::select! {
            () = stop.cancelled() => {}
            () = self.signal.notified() => {}
            () = tokio::time::sleep(pause) => {}
        }
    }

    /// Wakes slots by the signals of the database, for ever. When the connection
    /// is lost, slots look often until there is another.
    pub async fn listen(&self, store: &Store) -> Infallible {
        loop {
            let lost = self.listen_once(store).await;
            self.listening.store(false, Ordering::Relaxed);
            self.signal.notify_one();
            match lost {
                Ok(()) => return std::future::pending().await,
                Err(error) => tracing::warn!("not woken by the database: {error:#}"),
            }
            tokio::time::sleep(RECONNECT).await;
        }
    }

    /// Returns when the database sends no signals, or the connection is lost.
    async fn listen_once(&self, store: &Store) -> Result<()> {
        let Some(mut listener) = store.queue_listener().await? else {
            return Ok(());
        };
        self.listening.store(true, Ordering::Relaxed);
        loop {
            // At first for what was queued before it listened.
            self.signal.notify_one();
            listener.signalled().await?;
        }
    }
}
