//! Limits the concurrent requests to a provider, with a limit found by trying.
//! The limit doubles with every round of answers until the provider throttles.
//! Throttling halves it; from then on it grows by one per round.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The limit for a provider that has not answered yet.
const INITIAL_LIMIT: usize = 4;
const MAX_LIMIT: usize = 512;
/// Throttled responses within this time belong to one burst and count once.
const ONE_BURST: Duration = Duration::from_secs(1);

/// The limiters of all providers, one for each address and key.
#[derive(Debug, Default)]
pub(super) struct ConcurrencyLimiters(Mutex<HashMap<Key, Arc<ConcurrencyLimiter>>>);

/// Address, and full name of the provider's key.
type Key = (String, Option<String>);

impl ConcurrencyLimiters {
    pub fn limiter(&self, url: &str, key: Option<String>) -> Arc<ConcurrencyLimiter> {
        let mut limiters = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        limiters.entry((url.to_owned(), key)).or_default().clone()
    }
}

#[derive(Debug)]
pub(super) struct ConcurrencyLimiter {
    /// Fair: first come, first served.
    permits: Arc<Semaphore>,
    window: Mutex<Window>,
}

#[derive(Debug)]
struct Window {
    /// Fractional, so that a round of answers raises it by one.
    limit: f64,
    /// Existing permits, including those in use.
    permits: usize,
    throttled_at: Option<Instant>,
}

/// Held while a request is in progress.
#[derive(Debug)]
pub(super) struct Permit {
    limiter: Arc<ConcurrencyLimiter>,
    permit: Option<OwnedSemaphorePermit>,
}

impl Default for ConcurrencyLimiter {
    fn default() -> Self {
        Self {
            permits: Arc::new(Semaphore::new(INITIAL_LIMIT)),
            window: Mutex::new(Window {
                limit: INITIAL_LIMIT as f64,
                permits: INITIAL_LIMIT,
                throttled_at: None,
            }),
        }
    }
}

impl ConcurrencyLimiter {
    pub async fn permit(self: &Arc<Self>) -> Permit {
        // The semaphore is never closed.
        let permit = self.permits.clone().acquire_owned().await.ok();
        Permit {
            limiter: self.clone(),
            permit,
        }
    }

    /// The provider answered: raises the limit.
    pub fn on_success(&self) {
        let mut window = self.window();
        let increase = match window.throttled_at {
            Some(_) => 1.0 / window.limit,
            None => 1.0,
        };
        window.limit = (window.limit + increase).min(MAX_LIMIT as f64);
        let wanted = permit_count(window.limit);
        if wanted > window.permits {
            self.permits.add_permits(wanted - window.permits);
            window.permits = wanted;
        }
    }

    /// The provider throttled a request: halves the limit.
    pub fn on_throttled(&self) {
        let mut window = self.window();
        if window
            .throttled_at
            .is_some_and(|at| at.elapsed() < ONE_BURST)
        {
            return;
        }
        window.throttled_at = Some(Instant::now());
        window.limit = (window.limit / 2.0).max(1.0);
        let surplus = window.permits - permit_count(window.limit);
        // Permits in use are removed when they are dropped.
        window.permits -= self.permits.forget_permits(surplus);
    }

    #[cfg(test)]
    fn limit(&self) -> usize {
        permit_count(self.window().limit)
    }

    fn window(&self) -> MutexGuard<'_, Window> {
        self.window.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let mut window = self.limiter.window();
        if window.permits > permit_count(window.limit)
            && let Some(permit) = self.permit.take()
        {
            permit.forget();
            window.permits -= 1;
        }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "between 1 and MAX_LIMIT"
)]
fn permit_count(limit: f64) -> usize {
    limit as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::FutureExt;

    #[tokio::test]
    async fn the_limit_grows_per_round_and_halves_when_throttled() {
        let limiter = Arc::new(ConcurrencyLimiter::default());
        let mut permits = Vec::new();
        for _ in 0..INITIAL_LIMIT {
            permits.push(limiter.permit().await);
        }
        assert!(limiter.permit().now_or_never().is_none());
        for _ in 0..INITIAL_LIMIT {
            limiter.on_success();
        }
        assert_eq!(
            limiter.limit(),
            2 * INITIAL_LIMIT,
            "doubles per round before the first throttling"
        );
        permits.push(limiter.permit().now_or_never().unwrap());
        limiter.on_throttled();
        limiter.on_throttled();
        assert_eq!(limiter.limit(), INITIAL_LIMIT, "one burst counts once");
        // One of the five permits in use is removed; then there are four.
        permits.pop();
        assert!(limiter.permit().now_or_never().is_none());
        permits.pop();
        assert!(limiter.permit().now_or_never().is_some());
        for _ in 0..INITIAL_LIMIT {
            limiter.on_success();
        }
        assert_eq!(
            limiter.limit(),
            INITIAL_LIMIT,
            "one answer short of a round"
        );
        limiter.on_success();
        assert_eq!(limiter.limit(), INITIAL_LIMIT + 1);
    }
}
