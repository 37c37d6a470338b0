//! Retries of requests: growing delays, and those that servers ask for.

use std::time::Duration;

use jiff::Timestamp;
use jiff::fmt::rfc2822;

/// When to try again, and how often.
#[derive(Debug, Clone, Copy)]
pub struct Retries {
    /// Before the second try; doubles from then on.
    pub first_delay: Duration,
    pub max_delay: Duration,
    /// The longest delay a server may ask for.
    pub max_requested: Duration,
    /// How many tries without progress before giving up.
    pub tries: u32,
}

impl Retries {
    /// The delay after so many failures.
    pub fn delay(&self, failures: u32) -> Duration {
        doubled(self.first_delay, failures).min(self.max_delay)
    }
}

/// A delay that doubles with each failure after the first.
pub fn doubled(delay: Duration, failures: u32) -> Duration {
    delay.saturating_mul(2_u32.saturating_pow(failures.saturating_sub(1)))
}

/// The tries of one request.
#[derive(Debug)]
pub struct Backoff {
    retries: Retries,
    failures: u32,
    most_bytes: u64,
}

impl Backoff {
    /// `bytes` were downloaded before the first try.
    pub fn new(retries: Retries, bytes: u64) -> Self {
        Self {
            retries,
            failures: 0,
            most_bytes: bytes,
        }
    }

    /// Failures since the last progress.
    pub fn failures(&self) -> u32 {
        self.failures
    }

    /// Reports the downloaded bytes. More than ever before is progress, and
    /// resets the count of failures. Bytes that were downloaded before and
    /// discarded are not, or two wrong answers could alternate forever.
    pub fn reached(&mut self, bytes: u64) {
        if bytes > self.most_bytes {
            self.most_bytes = bytes;
            self.failures = 0;
        }
    }

    /// Counts a failure. Returns the delay before the next try, `None` after
    /// the last one. `requested` is the delay the server asked for.
    pub fn failed(&mut self, requested: Option<Duration>) -> Option<Duration> {
        self.failures += 1;
        let own = self.retries.delay(self.failures);
        let requested = requested.unwrap_or_default();
        (self.failures < self.retries.tries)
            .then(|| requested.min(self.retries.max_requested).max(own))
    }
}

/// The delay in `Retry-After`: in seconds, or until a date.
pub fn retry_after(value: &str) -> Option<Duration> {
    let value = value.trim();
    if let Ok(seconds) = value.parse() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let left = Timestamp::now().duration_until(rfc2822::parse(value).ok()?.timestamp());
    Some(left.try_into().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    const RETRIES: Retries = Retries {
        first_delay: Duration::from_secs(1),
        max_delay: Duration::from_mins(1),
        max_requested: Duration::from_mins(5),
        tries: 7,
    };

    #[test]
    fn delays_grow_up_to_a_limit() {
        let check = |failures: u32, expect: u64, unlimited: u64| {
            assert_eq!(RETRIES.delay(failures).as_secs(), expect, "{failures}");
            let delay = doubled(Duration::from_mins(1), failures);
            assert_eq!(delay.as_secs(), unlimited, "{failures}");
        };
        check(1, 1, 60);
        check(2, 2, 120);
        check(4, 8, 480);
        check(6, 32, 1_920);
        check(7, 60, 3_840);
        check(u32::MAX, 60, 60 * u64::from(u32::MAX));
    }

    #[test]
    fn servers_may_ask_for_longer_delays() {
        let check = |failures: u32, wanted: Option<u64>, expect: Option<u64>| {
            let mut backoff = Backoff::new(RETRIES, 0);
            backoff.failures = failures - 1;
            let delay = backoff.failed(wanted.map(Duration::from_secs));
            let delay = delay.map(|delay| delay.as_secs());
            assert_eq!(delay, expect, "{failures} {wanted:?}");
        };
        check(1, None, Some(1));
        check(6, None, Some(32));
        check(7, None, None);
        check(1, Some(30), Some(30));
        check(1, Some(86_400), Some(300));
        // A server that requests no delay still gets the growing one.
        check(4, Some(0), Some(8));
    }

    #[test]
    fn the_delay_a_server_requests() {
        let check = |value: &str, expect: Option<u64>| {
            let delay = retry_after(value).map(|delay| delay.as_secs());
            assert_eq!(delay, expect, "{value}");
        };
        check("7", Some(7));
        check(" 1.5 ", Some(1));
        check("Wed, 21 Oct 2015 07:28:00 GMT", Some(0));
        check("-1", None);
        check("soon", None);
        let later = Timestamp::now() + Duration::from_mins(10);
        let later = later.to_zoned(jiff::tz::TimeZone::UTC);
        let delay = retry_after(&rfc2822::to_string(&later).unwrap()).unwrap();
        assert!((590..=600).contains(&delay.as_secs()), "{delay:?}");
    }

    #[test]
    fn only_new_bytes_are_progress() {
        let mut backoff = Backoff::new(RETRIES, 10);
        let mut check = |bytes: u64, failures: u32| {
            backoff.failures = 3;
            backoff.reached(bytes);
            assert_eq!(backoff.failures, failures, "{bytes}");
        };
        check(10, 3);
        check(11, 0);
        check(5, 3);
        check(11, 3);
        check(12, 0);
    }
}
