use std::time::Duration;

use reqwest::header::{HeaderMap, RETRY_AFTER};

use super::HubError;

/// How the client deals with time.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pace {
    pub(super) connect: Duration,
    /// How long a server may say nothing, before an answer and within it.
    pub(super) silence: Duration,
    /// Before the second try; doubled from then on.
    pub(super) first_pause: Duration,
    pub(super) longest_pause: Duration,
    /// The longest pause the hub may ask for; it counts requests in windows of
    /// five minutes.
    pub(super) longest_asked: Duration,
    /// How often something is tried without progress.
    pub(super) tries: u32,
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(30),
            silence: Duration::from_mins(1),
            first_pause: Duration::from_secs(1),
            longest_pause: Duration::from_mins(1),
            longest_asked: Duration::from_mins(5),
            tries: 7,
        }
    }
}

/// What went wrong with one try.
#[derive(Debug)]
pub(super) enum Trouble {
    /// Trying again may help.
    Passing {
        why: String,
        /// The pause the server asked for.
        pause: Option<Duration>,
    },
    Lasting(HubError),
}

impl Trouble {
    pub(super) fn passing(why: impl Into<String>) -> Self {
        Self::Passing {
            why: why.into(),
            pause: None,
        }
    }
}

impl From<HubError> for Trouble {
    fn from(error: HubError) -> Self {
        Self::Lasting(error)
    }
}

impl From<reqwest::Error> for Trouble {
    /// Without the address: it may be a signed one.
    fn from(error: reqwest::Error) -> Self {
        let error = anyhow::Error::new(error.without_url());
        Self::passing(format!("{error:#}"))
    }
}

/// The tries at one thing.
#[derive(Debug)]
pub(super) struct Patience {
    pace: Pace,
    failures: u32,
    farthest: u64,
}

impl Patience {
    /// `bytes` are here before the first try.
    pub(super) fn new(pace: Pace, bytes: u64) -> Self {
        Self {
            pace,
            failures: 0,
            farthest: bytes,
        }
    }

    /// So many bytes are here now. More than ever before is progress, and the
    /// tries are counted anew; bytes that were here once and had to be thrown
    /// away are not, or two wrong answers could go on for ever.
    pub(super) fn reached(&mut self, bytes: u64) {
        if bytes > self.farthest {
            self.farthest = bytes;
            self.failures = 0;
        }
    }

    /// Waits until it is time for the next try.
    ///
    /// # Errors
    /// What lasts, and that there were enough tries.
    pub(super) async fn wait(&mut self, trouble: Trouble, what: &str) -> Result<(), HubError> {
        let (why, asked) = match trouble {
            Trouble::Lasting(error) => return Err(error),
            Trouble::Passing { why, pause } => (why, pause),
        };
        self.failures += 1;
        if self.failures >= self.pace.tries {
            return Err(HubError::GaveUp {
                what: what.to_owned(),
                tries: self.failures,
                why,
            });
        }
        let pause = self.pause(asked);
        tracing::warn!(what, "asking again in {pause:?}: {why}");
        tokio::time::sleep(pause).await;
        Ok(())
    }

    fn pause(&self, asked: Option<Duration>) -> Duration {
        let doubled = 2_u32.saturating_pow(self.failures.saturating_sub(1));
        let own = self.pace.first_pause.saturating_mul(doubled);
        let own = own.min(self.pace.longest_pause);
        asked.map_or(own, |asked| asked.min(self.pace.longest_asked).max(own))
    }
}

/// The pause a server asks for: in `Retry-After` as seconds, or as the `t` of
/// the hub's own `RateLimit: "api";r=0;t=55`.
pub(super) fn asked_pause(headers: &HeaderMap) -> Option<Duration> {
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
    fn pauses_grow_and_end() {
        let check = |failures: u32, asked: Option<u64>, expect: u64| {
            let patience = Patience {
                pace: Pace::default(),
                failures,
                farthest: 0,
            };
            let pause = patience.pause(asked.map(Duration::from_secs));
            assert_eq!(pause.as_secs(), expect, "{failures} {asked:?}");
        };
        check(1, None, 1);
        check(2, None, 2);
        check(4, None, 8);
        check(7, None, 60);
        check(u32::MAX, None, 60);
        check(1, Some(30), 30);
        check(1, Some(86_400), 300);
        // Who asks for nothing still gets the growing pause.
        check(4, Some(0), 8);
    }

    #[test]
    fn the_pause_a_server_asks_for() {
        let check = |name: &'static str, value: &str, expect: Option<u64>| {
            let mut headers = HeaderMap::new();
            headers.insert(name, value.parse().unwrap());
            let asked = asked_pause(&headers).map(|pause| pause.as_secs());
            assert_eq!(asked, expect, "{name}: {value}");
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
        let mut patience = Patience::new(Pace::default(), 10);
        let mut check = |bytes: u64, failures: u32| {
            patience.failures = 3;
            patience.reached(bytes);
            assert_eq!(patience.failures, failures, "{bytes}");
        };
        check(10, 3);
        check(11, 0);
        check(5, 3);
        check(11, 3);
        check(12, 0);
    }
}
