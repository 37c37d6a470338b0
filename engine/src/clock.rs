//! Times: unix milliseconds in the store, RFC 3339 on the way out; and the
//! time an agent is not charged for.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Milliseconds since 1970.
pub fn now_ms() -> i64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// `2026-11-20T14:03:00Z`
pub fn rfc3339(ms: i64) -> String {
    let seconds = ms.div_euclid(1_000);
    jiff::Timestamp::from_second(seconds)
        .unwrap_or_default()
        .to_string()
}

/// The day in UTC, `2026-11-20`.
pub fn today() -> String {
    let now = jiff::Timestamp::now().to_zoned(jiff::tz::TimeZone::UTC);
    now.date().to_string()
}

/// Seconds between two unix milliseconds.
pub fn seconds_between(from_ms: i64, to_ms: i64) -> f64 {
    (to_ms - from_ms) as f64 / 1_000.0
}

/// Time in which an agent cannot work because it is kept waiting; not charged
/// to it. Waits that overlap count once. Cheap to clone; clones share it.
#[derive(Debug, Clone, Default)]
pub struct OffClock(Arc<Mutex<Off>>);

#[derive(Debug, Default)]
struct Off {
    waits: u32,
    since: Option<Instant>,
    total: Duration,
}

/// A wait; it ends when this is dropped.
#[derive(Debug)]
pub struct Wait(OffClock);

impl OffClock {
    /// A wait begins.
    pub fn wait(&self) -> Wait {
        let mut off = self.lock();
        off.waits += 1;
        off.since.get_or_insert_with(Instant::now);
        Wait(self.clone())
    }

    /// A wait that was one only in hindsight.
    pub fn forgive(&self, time: Duration) {
        self.lock().total += time;
    }

    /// All waits until now.
    pub fn total(&self) -> Duration {
        let off = self.lock();
        off.total + off.since.map_or(Duration::ZERO, |since| since.elapsed())
    }

    /// How long it is being waited, if it is.
    pub fn waiting(&self) -> Option<Duration> {
        self.lock().since.map(|since| since.elapsed())
    }

    fn lock(&self) -> MutexGuard<'_, Off> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Wait {
    fn drop(&mut self) {
        let mut off = self.0.lock();
        off.waits -= 1;
        if off.waits == 0
            && let Some(since) = off.since.take()
        {
            off.total += since.elapsed();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn waits_that_overlap_count_once() {
        let clock = OffClock::default();
        let began = Instant::now();
        let (one, two) = (clock.wait(), clock.wait());
        tokio::time::sleep(Duration::from_millis(20)).await;
        drop(one);
        assert!(clock.total() >= Duration::from_millis(20));
        drop(two);
        let total = clock.total();
        assert!(total <= began.elapsed());
        tokio::time::sleep(Duration::from_millis(5)).await;
        assert_eq!(clock.total(), total);
    }
}
