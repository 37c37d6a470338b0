//! The state of one gateway session, shared by all its requests, and the totals
//! of its exchanges.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::AtomicU32;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use secrecy::ExposeSecret;
use swe_ci_base::clock::ExcludedTime;
use swe_ci_core::step::Truncation;
use swe_ci_core::usage::{Traffic, Usage};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::Span;

use super::recording::{Exchange, Recorder};
use super::{Gateway, SessionConfig, UsageStore, trajectory};
use crate::concurrency::ConcurrencyLimiter;

/// Names of refused tools that are counted one by one.
const MAX_REFUSED_NAMES: usize = 20;

const KEPT_EVERY: Duration = Duration::from_secs(3);

#[derive(Debug)]
pub(super) struct SessionState {
    pub token: String,
    pub config: SessionConfig,
    pub gateway: Gateway,
    /// Of the step whose session it is.
    pub span: Span,
    pub limiter: Arc<ConcurrencyLimiter>,
    pub known: Arc<super::probe_results::ProviderRecord>,
    /// The waiting time because the provider was unable; its end is the patience's.
    pub unable: ExcludedTime,
    /// Waiting time that does not count against the agent's time limit.
    pub excluded: ExcludedTime,
    /// Permits in kibibytes for the bodies of concurrent requests.
    pub request_memory: Arc<Semaphore>,
    /// The exchanges, and probes beside them.
    pub tasks: TaskTracker,
    /// Locked while the usage is kept, so that an older one never replaces a newer;
    /// none when the session is closed.
    pub keeping: tokio::sync::Mutex<Option<Arc<dyn UsageStore>>>,
    /// Requests that the provider leaves alone while it answers a probe.
    pub overdue: AtomicU32,
    /// Cancels active exchanges.
    pub closed: CancellationToken,
    /// Set when the gateway has given up on the provider.
    pub stopped: CancellationToken,
    pub totals: Mutex<ExchangeTotals>,
}

#[derive(Debug, Default)]
pub(super) struct ExchangeTotals {
    pub arrived: u32,
    /// Requests that do not repeat the previous one, and the digest of the last
    /// of them.
    pub distinct: u32,
    pub last_body: Option<[u8; 32]>,
    pub last_arrived: Option<Instant>,
    /// Its answer comes whole, and a queue cannot be told from work.
    pub last_is_whole: bool,
    /// Whole ones of the provider's.
    pub answers: u32,
    pub usage: Usage,
    pub traffic: Traffic,
    /// Estimates of the tokens of answers under way, by the ordinals of their requests.
    pub streaming: BTreeMap<u32, u64>,
    /// Why the provider is to blame, if the last finished exchange failed.
    pub trouble: Option<String>,
    /// The refused requests by the names of the hosted tools they asked for.
    pub refused_tools: BTreeMap<String, u32>,
    /// Why the gateway last retried.
    pub last_failure: Option<String>,
    /// When it asks the provider next, in unix milliseconds.
    pub next_try: Option<i64>,
    /// Of the last answer.
    pub truncation: Option<(Truncation, Vec<u64>)>,
    /// How often in a row the harness has sent the same request, or the model has made
    /// the same call; the first does not count.
    pub repeats: u32,
    /// Stands for the last answer.
    pub last_said: Option<u64>,
    pub recorder: Recorder,
}

impl ExchangeTotals {
    /// Requests that have arrived and not ended.
    pub fn under_way(&self) -> u64 {
        u64::from(self.arrived).saturating_sub(self.traffic.requests)
    }

    fn streamed(&self) -> u64 {
        self.streaming.values().sum()
    }
}

impl SessionState {
    /// The usage of the step so far. A request under way counts as one whose tokens are
    /// unknown, and are estimated.
    pub fn taken(&self) -> (Usage, Traffic) {
        let waited = self.excluded.total().as_millis();
        let totals = self.totals();
        let under_way = totals.under_way();
        let traffic = Traffic {
            requests: totals.traffic.requests + under_way,
            unfinished: totals.traffic.unfinished + under_way,
            streamed_tokens: totals.traffic.streamed_tokens + totals.streamed(),
            waiting_ms: u64::try_from(waited).unwrap_or(u64::MAX),
            ..totals.traffic
        };
        (totals.usage, traffic)
    }

    /// Shares what the step has taken with the run's other workers, and keeps it.
    pub async fn settle(&self) {
        self.config.ledger.settle().await;
        self.keep_usage().await;
    }

    /// Writes down what the step has taken, where the next process finds it.
    pub async fn keep_usage(&self) {
        let keeping = self.keeping.lock().await;
        if let Some(store) = keeping.as_deref() {
            let (usage, traffic) = self.taken();
            if let Err(error) = store.keep(usage, traffic).await {
                tracing::warn!("a step's usage is not kept at the moment: {error:#}");
            }
        }
    }

    /// Keeps the estimates of long answers from now on, while they grow.
    pub fn keep_estimates(self: &Arc<Self>) {
        let (state, closed) = (self.clone(), self.closed.clone());
        let keep = async move {
            let mut kept = 0;
            loop {
                tokio::time::sleep(KEPT_EVERY).await;
                let streamed = state.totals().streamed();
                if streamed != std::mem::replace(&mut kept, streamed) {
                    state.keep_usage().await;
                }
            }
        };
        tokio::spawn(closed.run_until_cancelled_owned(keep));
    }

    pub fn totals(&self) -> MutexGuard<'_, ExchangeTotals> {
        self.totals.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn count_exchange(&self, exchange: &Exchange, is_repeated: bool) {
        let said = trajectory::said(exchange);
        let usage = exchange.usage.unwrap_or_default();
        let prices = self.config.endpoint.prices;
        let cost = prices.map(|prices| prices.micro_usd(usage));
        let mut totals = self.totals();
        totals.usage += usage;
        totals.traffic.requests += 1;
        totals.streaming.remove(&exchange.ordinal);
        let same = totals.last_said.replace(said) == Some(said) || is_repeated;
        totals.repeats = if same { totals.repeats + 1 } else { 0 };
        totals.traffic.retries += exchange.retries.len() as u64;
        if let Some((sum, cost)) = totals.traffic.micro_usd.as_mut().zip(cost) {
            *sum = sum.saturating_add(cost);
        }
        if let Err(error) = totals.recorder.record(exchange) {
            tracing::warn!("cannot record an exchange: {error:#}");
        }
        drop(totals);
        self.config.ledger.charge(usage, 1, cost);
        if let Some(ledger) = &self.config.evolution_ledger {
            ledger.charge(usage, 1, cost);
        }
    }

    /// Charges a probe to the run's budget. The usage of the agent and of the
    /// evolution does not include it.
    pub fn count_probe(&self, usage: Usage) {
        let cost = self.config.endpoint.prices.map(|p| p.micro_usd(usage));
        let mut totals = self.totals();
        totals.traffic.probes += 1;
        totals.traffic.probe_micro_usd += cost.unwrap_or(0);
        drop(totals);
        self.config.ledger.charge(usage, 1, cost);
    }

    /// Counts a request that asked the provider to execute these tools. The
    /// agent can invent any number of names; further ones count as `others`.
    pub fn count_refused_tools(&self, names: &BTreeSet<String>) {
        let mut totals = self.totals();
        let counts = &mut totals.refused_tools;
        for name in names {
            let full = counts.len() >= MAX_REFUSED_NAMES && !counts.contains_key(name);
            let name = if full { "others" } else { name.as_str() };
            let count = counts.entry(name.to_owned()).or_default();
            *count = count.saturating_add(1);
        }
    }

    /// A request of the agent's that was sent at this moment was answered. If a probe was
    /// refused before, another one now tells whether this provider ever answers one: an
    /// answer that had begun already does not tell, for credit may have ended since.
    pub fn on_answer(self: &Arc<Self>, sent: Instant) {
        self.totals().answers += 1;
        self.known.learn_speed(sent.elapsed());
        if self.known.has_refused_before(sent) {
            let (session, closed) = (self.clone(), self.closed.clone());
            let probe = async move { session.probe_since(Instant::now(), true).await };
            self.tasks.spawn(closed.run_until_cancelled_owned(probe));
        }
    }

    pub fn give_up(&self, why: String) {
        self.totals().trouble = Some(why);
        self.stopped.cancel();
    }

    /// Removes the keys from a text of the provider, in case it repeats them.
    pub fn without_key(&self, text: &str) -> String {
        let keys = self.config.keys.values();
        keys.fold(text.to_owned(), |text, key| {
            text.replace(key.expose_secret(), "[key]")
        })
    }
}
