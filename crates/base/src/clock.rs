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

/// Reads RFC 3339, also without an offset, which then is UTC.
pub fn unix_ms(text: &str) -> Option<i64> {
    let with_offset = || text.parse().ok();
    let without = || {
        let time = text.parse::<jiff::civil::DateTime>().ok()?;
        let time = time.to_zoned(jiff::tz::TimeZone::UTC).ok()?;
        Some(time.timestamp())
    };
    let time: jiff::Timestamp = with_offset().or_else(without)?;
    Some(time.as_millisecond())
}

/// The day in UTC, `2026-11-20`.
pub fn today() -> String {
    let now = jiff::Timestamp::now().to_zoned(jiff::tz::TimeZone::UTC);
    now.date().to_string()
}

/// Seconds between two unix milliseconds.
pub fn seconds_between(from_ms: i64, to_ms: i64) -> f64 {
    to_ms.saturating_sub(from_ms) as f64 / 1_000.0
}

/// Time in which an agent cannot work because it has to wait; it does not count
/// against the agent's limit. Overlapping waits count once. Cheap to clone; the
/// clones share their state.
#[derive(Debug, Clone, Default)]
pub struct ExcludedTime(Arc<Mutex<Waits>>);

#[derive(Debug, Default)]
struct Waits {
    running: u32,
    /// Start of the present waiting time, if any wait is running.
    since: Option<Instant>,
    /// The waiting times before, in order; none touches another.
    past: Vec<(Instant, Instant)>,
}

impl Waits {
    /// Adds the time from then to now; what is in it already counts once.
    fn add(&mut self, mut from: Instant) {
        while let Some((earlier, _)) = self.past.pop_if(|(_, to)| *to >= from) {
            from = from.min(earlier);
        }
        self.past.push((from, Instant::now()));
    }
}

/// A running wait; dropping it ends the wait.
#[derive(Debug)]
pub struct Wait(ExcludedTime);

impl ExcludedTime {
    /// Begins a wait.
    pub fn wait(&self) -> Wait {
        let mut waits = self.lock();
        waits.running += 1;
        waits.since.get_or_insert_with(Instant::now);
        Wait(self.clone())
    }

    /// Adds the time from then to now, which turned out to be a wait.
    pub fn exclude_since(&self, from: Instant) {
        self.lock().add(from);
    }

    /// The duration of all waits so far.
    pub fn total(&self) -> Duration {
        let waits = self.lock();
        let now = Instant::now();
        let since = waits.since.unwrap_or(now);
        let past = waits.past.iter();
        let past = past.map(|(from, to)| since.min(*to).saturating_duration_since(*from));
        past.sum::<Duration>() + now.saturating_duration_since(since)
    }

    /// Returns once this much time has passed from now, waits aside.
    pub async fn spent(&self, limit: Duration) {
        let (began, before) = (Instant::now(), self.total());
        loop {
            let waited = self.total().saturating_sub(before);
            let charged = began.elapsed().saturating_sub(waited);
            match limit.checked_sub(charged) {
                Some(left) if !left.is_zero() => tokio::time::sleep(left).await,
                _ => return,
            }
        }
    }

    /// Duration of the present waiting time; `None` when no wait is running.
    pub fn waiting(&self) -> Option<Duration> {
        self.lock().since.map(|since| since.elapsed())
    }

    fn lock(&self) -> MutexGuard<'_, Waits> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Wait {
    fn drop(&mut self) {
        let mut waits = self.0.lock();
        waits.running -= 1;
        if waits.running == 0
            && let Some(since) = waits.since.take()
        {
            waits.add(since);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_with_and_without_an_offset() {
        let check = |text: &str, expect: Option<i64>| assert_eq!(unix_ms(text), expect, "{text}");
        check("1970-01-01T00:00:01.5Z", Some(1_500));
        check("1970-01-01T01:00:00+01:00", Some(0));
        check("1970-01-01T00:00:01.25", Some(1_250));
        check("yesterday", None);
        check("", None);
    }

    #[tokio::test]
    async fn overlapping_waits_count_once() {
        let clock = ExcludedTime::default();
        let started_at = Instant::now();
        let (one, two) = (clock.wait(), clock.wait());
        tokio::time::sleep(Duration::from_millis(20)).await;
        drop(one);
        assert!(clock.total() >= Duration::from_millis(20));
        drop(two);
        let total = clock.total();
        assert!(total <= started_at.elapsed());
        tokio::time::sleep(Duration::from_millis(5)).await;
        assert_eq!(clock.total(), total);
        // Beside a running wait, and over earlier ones.
        let running = clock.wait();
        clock.exclude_since(started_at);
        assert!(clock.total() <= started_at.elapsed());
        assert!(clock.total() >= total + Duration::from_millis(5));
        drop(running);
        clock.exclude_since(started_at);
        assert!(clock.total() <= started_at.elapsed());
    }
}
