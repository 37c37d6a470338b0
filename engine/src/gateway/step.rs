//! What the gateway knows of one step, shared by all its requests.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use secrecy::{ExposeSecret, SecretString};
use swe_ci_core::agent::Endpoint;
use swe_ci_core::usage::{Traffic, Usage};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::lanes::Lane;
use super::recording::{Exchange, Recorder};
use super::{Ledger, Pace, Recording};
use crate::clock::OffClock;
use crate::grant::Reach;

#[derive(Debug)]
pub(super) struct Step {
    pub token: String,
    pub endpoint: Endpoint,
    pub key: Option<SecretString>,
    pub recording: Option<Arc<Recording>>,
    pub client: reqwest::Client,
    pub reach: Reach,
    pub lane: Arc<Lane>,
    pub pace: Pace,
    /// The most waiting in all before the provider is given up.
    pub patience: Duration,
    pub off: OffClock,
    pub ledger: Arc<Ledger>,
    /// For the requests under way, in kibibytes.
    pub room: Arc<Semaphore>,
    /// Exchanges under way.
    pub exchanges: TaskTracker,
    /// Nothing is answered any more.
    pub closed: CancellationToken,
    pub doomed: CancellationToken,
    pub said: Mutex<Said>,
}

/// What was said so far.
#[derive(Debug)]
pub(super) struct Said {
    pub arrived: u32,
    /// Requests before this one that were no repetition of the one before,
    /// and the digest of the last of them.
    pub distinct: u32,
    pub last_body: Option<[u8; 32]>,
    pub usage: Usage,
    pub traffic: Traffic,
    /// Why the provider is to blame, if the last exchange to end failed.
    pub trouble: Option<String>,
    /// Why the provider was asked again last.
    pub setback: Option<String>,
    pub recorder: Recorder,
}

impl Step {
    pub fn said(&self) -> MutexGuard<'_, Said> {
        self.said.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An exchange has ended: counted, charged, written down.
    pub fn ended(&self, exchange: &Exchange) {
        let usage = exchange.usage.unwrap_or_default();
        let cost = self.endpoint.prices.map(|prices| prices.micro_usd(usage));
        let mut said = self.said();
        said.usage += usage;
        said.traffic.requests += 1;
        said.traffic.retries += exchange.retries.len() as u64;
        if let Some((sum, cost)) = said.traffic.micro_usd.as_mut().zip(cost) {
            *sum = sum.saturating_add(cost);
        }
        if let Err(error) = said.recorder.record(exchange) {
            tracing::warn!("an exchange could not be written down: {error:#}");
        }
        drop(said);
        self.ledger.charge(usage, 1, cost);
    }

    /// The provider is given up for this step.
    pub fn give_up(&self, why: String) {
        self.said().trouble = Some(why);
        self.doomed.cancel();
    }

    /// A text of the provider's without the key, should it repeat it.
    pub fn without_key(&self, text: &str) -> String {
        match &self.key {
            Some(key) => text.replace(key.expose_secret(), "[key]"),
            None => text.to_owned(),
        }
    }
}
