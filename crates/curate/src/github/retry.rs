//! How the client deals with time.

use std::time::Duration;

use swe_ci_base::retry::{Retries, doubled};

#[derive(Debug, Clone, Copy)]
pub(super) struct Pace {
    pub(super) connect: Duration,
    /// For one answer.
    pub(super) whole: Duration,
    /// GitHub counts requests by the hour.
    pub(super) retries: Retries,
    /// When GitHub asks for less, and does not say how much: a minute at
    /// least, by its documentation; doubled from then on.
    pub(super) unannounced: Duration,
    /// After the end of a rate limit: clocks differ.
    pub(super) margin: Duration,
    /// How often a search is tried that GitHub does not finish in time.
    pub(super) searches: u32,
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(30),
            whole: Duration::from_mins(2),
            retries: Retries {
                first_delay: Duration::from_secs(1),
                max_delay: Duration::from_mins(1),
                max_requested: Duration::from_mins(65),
                tries: 7,
            },
            unannounced: Duration::from_mins(1),
            margin: Duration::from_secs(1),
            searches: 3,
        }
    }
}

impl Pace {
    pub(super) fn unannounced_pause(&self, failures: u32) -> Duration {
        doubled(self.unannounced, failures)
    }
}
