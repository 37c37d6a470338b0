//! Retries with growing delays.

use std::time::Duration;

use reqwest::header::{HeaderMap, RETRY_AFTER};

use super::HubError;

/// Timeouts and retries.
#[derive(Debug, Clone, Copy)]
pub(super) struct Timing {
    pub(super) connect: Duration,
    /// The longest silence of a server, before and within a response.
    pub(super) read_timeout: Duration,
    /// Delay before the second attempt; doubles from then on.
    pub(super) first_delay: Duration,
    pub(super) max_delay: Duration,
    /// The longest delay the hub may request; it counts requests in windows of
    /// five minutes.
    pub(super) max_server_delay: Duration,
    /// How many attempts without progress before giving up.
    pub(super) tries: u32,
}

impl Default for Timing {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(30),
            read_timeout: Duration::from_mins(1),
            first_delay: Duration::from_secs(1),
            max_delay: Duration::from_mins(1),
            max_server_delay: Duration::from_mins(5),
            tries: 7,
        }
    }
}

/// Why one attempt failed.
#[derive(Debug)]
pub(super) enum AttemptError {
    /// A retry may help.
    Transient {
        why: String,
        /// The delay that the server requested.
        server_delay: Option<Duration>,
    },
    Permanent(HubError),
}

impl AttemptError {
    pub(super) fn transient(why: impl Into<String>) -> Self {
        Self::Transient {
            why: why.into(),
            server_delay: None,
        }
    }
}

impl From<HubError> for AttemptError {
    fn from(error: HubError) -> Self {
        Self::Permanent(error)
    }
}

impl From<reqwest::Error> for AttemptError {
    /// Omits the address: it may be a signed one.
    fn from(error: reqwest::Error) -> Self {
        let error = anyhow::Error::new(error.without_url());
        Self::transient(format!("{error:#}"))
    }
}

/// The attempts at one request.
#[derive(Debug)]
pub(super) struct Backoff {
    timing: Timing,
    failures: u32,
    most_bytes: u64,
}

impl Backoff {
    /// `bytes` were downloaded before the first attempt.
    pub(super) fn new(timing: Timing, bytes: u64) -> Self {
        Self {
            timing,
            failures: 0,
            most_bytes: bytes,
        }
    }

    /// Reports the downloaded bytes. More than ever before is progress, and
    /// resets the count of failures. Bytes that were downloaded before and
    /// discarded are not, or two wrong answers could alternate forever.
    pub(super) fn reached(&mut self, bytes: u64) {
        if bytes > self.most_bytes {
            self.most_bytes = bytes;
            self.failures = 0;
        }
    }

    /// Waits before the next attempt.
    ///
    /// # Errors
    /// A permanent error, or [`HubError::GaveUp`] after too many attempts.
    pub(super) async fn wait(&mut self, error: AttemptError, what: &str) -> Result<(), HubError> {
        let (why, server_delay) = match error {
            AttemptError::Permanent(error) => return Err(error),
            AttemptError::Transient { why, server_delay } => (why, server_delay),
        };
        self.failures += 1;
        if self.failures >= self.timing.tries {
            return Err(HubError::GaveUp {
                what: what.to_owned(),
                tries: self.failures,
                why,
            });
        }
        let delay = self.delay(server_delay);
        tracing::warn!(what, "retrying in {delay:?}: {why}");
        tokio::time::sleep(delay).await;
        Ok(())
    }

    fn delay(&self, server_delay: Option<Duration>) -> Duration {
        let factor = 2_u32.saturating_pow(self.failures.saturating_sub(1));
        let own = self.timing.first_delay.saturating_mul(factor);
        let own = own.min(self.timing.max_delay);
        server_delay.map_or(own, |wanted| {
            wanted.min(self.timing.max_server_delay).max(own)
        })
    }
}

/// The delay that a server requests: in `Retry-After` as seconds, or as the `t`
/// of the hub's own `RateLimit: "api";r=0;t=55`.
pub(super) fn requested_delay(headers: &HeaderMap) -> Option<Duration> {
    let text = |name: &str| headers.get(name)?.to_str().ok();
    let after = text(RETRY_AFTER.as_str()).and_then(|after| after.trim().parse().ok());
    let window = || {
        text("ratelimit")?
            .split(';')
            .find_map(|part| part.trim().strip_prefix("t=")?.parse().ok())
    };
    after.or_else(window).map(Duration::from_secs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_grow_up_to_a_limit() {
        let check = |failures: u32, wanted: Option<u64>, expect: u64| {
            let backoff = Backoff {
                timing: Timing::default(),
                failures,
                most_bytes: 0,
            };
            let delay = backoff.delay(wanted.map(Duration::from_secs));
            assert_eq!(delay.as_secs(), expect, "{failures} {wanted:?}");
        };
        check(1, None, 1);
        check(2, None, 2);
        check(4, None, 8);
        check(7, None, 60);
        check(u32::MAX, None, 60);
        check(1, Some(30), 30);
        check(1, Some(86_400), 300);
        // A server that requests no delay still gets the growing one.
        check(4, Some(0), 8);
    }

    #[test]
    fn the_delay_a_server_requests() {
        let check = |name: &'static str, value: &str, expect: Option<u64>| {
            let mut headers = HeaderMap::new();
            headers.insert(name, value.parse().unwrap());
            let delay = requested_delay(&headers).map(|delay| delay.as_secs());
            assert_eq!(delay, expect, "{name}: {value}");
        };
        check("retry-after", "7", Some(7));
        check("retry-after", "Wed, 21 Oct 2015 07:28:00 GMT", None);
        check("retry-after", "-1", None);
        check("ratelimit", "\"resolvers\";r=0;t=55", Some(55));
        check("ratelimit", "\"api\"; r=0; t=x", None);
        check("date", "7", None);
    }

    #[test]
    fn only_new_bytes_are_progress() {
        let mut backoff = Backoff::new(Timing::default(), 10);
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
