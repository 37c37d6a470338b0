//! The hub's timeouts, and how it asks for delays.

use std::time::Duration;

use reqwest::header::{HeaderMap, RETRY_AFTER};
use swe_ci_base::retry::{Retries, retry_after};

#[derive(Debug, Clone, Copy)]
pub(super) struct Timing {
    pub(super) connect: Duration,
    /// The longest silence of a server, before and within a response.
    pub(super) read_timeout: Duration,
    /// The hub counts requests in windows of five minutes.
    pub(super) retries: Retries,
}

impl Default for Timing {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(30),
            read_timeout: Duration::from_mins(1),
            retries: Retries {
                first_delay: Duration::from_secs(1),
                max_delay: Duration::from_mins(1),
                max_requested: Duration::from_mins(5),
                tries: 7,
            },
        }
    }
}

/// The delay that a server requests: in `Retry-After`, or as the `t` of the
/// hub's own `RateLimit: "api";r=0;t=55`.
pub(super) fn requested_delay(headers: &HeaderMap) -> Option<Duration> {
    let text = |name: &str| headers.get(name)?.to_str().ok();
    let after = text(RETRY_AFTER.as_str()).and_then(retry_after);
    let window = || {
        text("ratelimit")?
            .split(';')
            .find_map(|part| part.trim().strip_prefix("t=")?.parse().ok())
            .map(Duration::from_secs)
    };
    after.or_else(window)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_delay_a_server_requests() {
        let check = |name: &'static str, value: &str, expect: Option<u64>| {
            let mut headers = HeaderMap::new();
            headers.insert(name, value.parse().unwrap());
            let delay = requested_delay(&headers).map(|delay| delay.as_secs());
            assert_eq!(delay, expect, "{name}: {value}");
        };
        check("retry-after", "7", Some(7));
        check("retry-after", "-1", None);
        check("ratelimit", "\"resolvers\";r=0;t=55", Some(55));
        check("ratelimit", "\"api\"; r=0; t=x", None);
        check("date", "7", None);
    }
}
