use std::time::Duration;

use super::GitHubError;

/// How the client deals with time.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pace {
    pub(super) connect: Duration,
    /// For one answer.
    pub(super) whole: Duration,
    /// Before the second try; doubled from then on.
    pub(super) first_pause: Duration,
    pub(super) longest_pause: Duration,
    /// When GitHub asks for less, and does not say how much: a minute at
    /// least, by its documentation; doubled from then on.
    pub(super) unannounced: Duration,
    /// After the end of a rate limit: clocks differ.
    pub(super) margin: Duration,
    /// The longest pause GitHub may ask for; it counts requests by the hour.
    pub(super) longest_asked: Duration,
    /// How often something is tried.
    pub(super) tries: u32,
    /// How often a search is tried that GitHub does not finish in time.
    pub(super) searches: u32,
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(30),
            whole: Duration::from_mins(2),
            first_pause: Duration::from_secs(1),
            longest_pause: Duration::from_mins(1),
            unannounced: Duration::from_mins(1),
            margin: Duration::from_secs(1),
            longest_asked: Duration::from_mins(65),
            tries: 7,
            searches: 3,
        }
    }
}

impl Pace {
    /// Before the next try, after so many that failed.
    pub(super) fn pause(&self, failures: u32) -> Duration {
        doubled(self.first_pause, failures).min(self.longest_pause)
    }

    pub(super) fn unannounced_pause(&self, failures: u32) -> Duration {
        doubled(self.unannounced, failures)
    }
}

fn doubled(pause: Duration, failures: u32) -> Duration {
    pause.saturating_mul(2_u32.saturating_pow(failures.saturating_sub(1)))
}

/// What went wrong with one try.
#[derive(Debug)]
pub(super) enum Trouble {
    /// Trying again may help.
    Passing(String),
    /// As soon as the rate limit allows it.
    Limited(String),
    Lasting(GitHubError),
}

impl From<GitHubError> for Trouble {
    fn from(error: GitHubError) -> Self {
        Self::Lasting(error)
    }
}

impl From<reqwest::Error> for Trouble {
    /// Without the address: it is in what is asked for already.
    fn from(error: reqwest::Error) -> Self {
        let error = anyhow::Error::new(error.without_url());
        Self::Passing(format!("{error:#}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_and_end() {
        let check = |failures: u32, pause: u64, unannounced: u64| {
            let pace = Pace::default();
            assert_eq!(pace.pause(failures).as_secs(), pause, "{failures}");
            let asked = pace.unannounced_pause(failures).as_secs();
            assert_eq!(asked, unannounced, "{failures}");
        };
        check(1, 1, 60);
        check(2, 2, 120);
        check(6, 32, 1_920);
        check(7, 60, 3_840);
        check(u32::MAX, 60, 60 * u64::from(u32::MAX));
    }
}
