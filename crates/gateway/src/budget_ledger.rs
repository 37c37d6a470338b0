//! Counts a run's usage against its budget, over all its evolutions and all
//! workers: each process tells a shared account what its requests took, and
//! learns from it what those of the others took.

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::fmt::Debug;
use std::ops::AddAssign;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use async_trait::async_trait;
use swe_ci_base::clock::now_ms;
use swe_ci_core::agent::Budget;
use swe_ci_core::usage::{Traffic, Usage};
use tokio::sync::Notify;

/// The ledgers of the runs with active evolutions in this process.
#[derive(Debug, Clone, Default)]
pub struct Ledgers(Arc<Mutex<HashMap<String, Weak<Ledger>>>>);

impl Ledgers {
    /// The ledger of a run; `new` creates it if none is open. All active
    /// evolutions of the run in this process share it.
    pub fn of_run(&self, run_id: &str, new: impl FnOnce() -> Ledger) -> Arc<Ledger> {
        let mut ledgers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        ledgers.retain(|_, ledger| ledger.strong_count() > 0);
        if let Some(ledger) = ledgers.get(run_id).and_then(Weak::upgrade) {
            return ledger;
        }
        let ledger = Arc::new(new());
        ledgers.insert(run_id.to_owned(), Arc::downgrade(&ledger));
        ledger
    }

    pub fn at_work(&self) -> Vec<String> {
        let ledgers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let held = ledgers.iter().filter(|(_, l)| l.strong_count() > 0);
        held.map(|(run_id, _)| run_id.clone()).collect()
    }

    /// Changes a run's budget. Does nothing if the run has no open ledger: its
    /// next ledger reads the new budget.
    pub fn set_budget(&self, run_id: &str, budget: Budget) {
        let ledgers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(ledger) = ledgers.get(run_id).and_then(Weak::upgrade) {
            ledger.set_budget(budget);
        }
    }
}

/// The tokens, requests and money that requests took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Spent {
    pub tokens: u64,
    pub requests: u64,
    pub micro_usd: u64,
}

impl AddAssign for Spent {
    fn add_assign(&mut self, more: Self) {
        self.tokens = self.tokens.saturating_add(more.tokens);
        self.requests = self.requests.saturating_add(more.requests);
        self.micro_usd = self.micro_usd.saturating_add(more.micro_usd);
    }
}

/// The account of a run, to which all processes add.
#[async_trait]
pub trait SharedAccount: Debug + Send + Sync {
    /// Adds what requests of this process took; returns the sum of all
    /// processes.
    async fn add(&self, more: Spent) -> anyhow::Result<Spent>;
}

/// The usage of one run, and its budget.
#[derive(Debug)]
pub struct Ledger {
    /// Of the run, or of one evolution.
    whose: &'static str,
    /// Only this process spends anything when absent.
    shared: Option<Box<dyn SharedAccount>>,
    /// When the run began, in unix milliseconds.
    began: i64,
    book: Mutex<Book>,
    /// One settlement at a time, so that an older sum never replaces a newer one.
    settling: tokio::sync::Mutex<()>,
    /// Notified when a limit is reached and when the budget changes.
    changed: Notify,
}

#[derive(Debug, Default)]
struct Book {
    budget: Budget,
    spent: Spent,
    /// The part that the shared account does not know yet.
    untold: Spent,
    /// Message about the limit reached first.
    reached: Option<String>,
}

impl Ledger {
    /// Starts with the usage of earlier steps. `began` is when the run began.
    pub fn new(budget: Budget, began: i64, usage: Usage, traffic: Traffic) -> Self {
        let book = Book {
            budget,
            ..Book::default()
        };
        let ledger = Self {
            whose: "the run's",
            shared: None,
            began,
            book: Mutex::new(book),
            settling: tokio::sync::Mutex::default(),
            changed: Notify::new(),
        };
        ledger.charge(usage, traffic.requests, traffic.micro_usd);
        ledger
    }

    /// For a run that several processes may work on.
    pub fn shared(budget: Budget, began: i64, account: Box<dyn SharedAccount>) -> Self {
        let none = (Usage::default(), Traffic::default());
        Self {
            shared: Some(account),
            ..Self::new(budget, began, none.0, none.1)
        }
    }

    /// For one evolution, which only one process works on.
    pub fn of_evolution(budget: Budget) -> Self {
        let none = (Usage::default(), Traffic::default());
        Self {
            whose: "the evolution's",
            ..Self::new(budget, now_ms(), none.0, none.1)
        }
    }

    pub fn charge(&self, usage: Usage, requests: u64, micro_usd: Option<u64>) {
        let more = Spent {
            tokens: usage.total(),
            requests,
            micro_usd: micro_usd.unwrap_or(0),
        };
        let mut book = self.lock();
        book.spent += more;
        book.untold += more;
        self.check_limits(&mut book);
    }

    /// Tells the shared account what was charged here, and takes over its sum.
    /// While it does not answer, this process goes on counting by itself. A
    /// settlement that has begun is completed although its caller is dropped: the
    /// account may have been told already.
    pub async fn settle(self: &Arc<Self>) {
        if self.shared.is_none() {
            return;
        }
        let ledger = Arc::clone(self);
        if let Err(error) = tokio::spawn(async move { ledger.tell().await }).await {
            tracing::error!("the run's spending was not shared: {error:#}");
        }
    }

    async fn tell(&self) {
        let Some(shared) = &self.shared else { return };
        let _turn = self.settling.lock().await;
        let told = std::mem::take(&mut self.lock().untold);
        let sum = shared.add(told).await;
        let mut book = self.lock();
        match sum {
            Ok(mut sum) => {
                sum += book.untold;
                book.spent = sum;
                self.check_limits(&mut book);
            }
            Err(error) => {
                book.untold += told;
                tracing::warn!("the run's spending is not shared at the moment: {error:#}");
            }
        }
    }

    /// Compares past and future usage with another budget.
    fn set_budget(&self, budget: Budget) {
        let mut book = self.lock();
        if book.budget != budget {
            book.budget = budget;
            book.reached = None;
            self.check_limits(&mut book);
            self.changed.notify_waiters();
        }
    }

    /// Message about the limit that is reached, if any.
    pub fn reached(&self) -> Option<String> {
        let mut book = self.lock();
        self.check_limits(&mut book);
        book.reached.clone()
    }

    /// Waits until a limit is reached; returns the message about it.
    pub async fn spent(&self) -> String {
        loop {
            // Register before the check, so that no notification is missed.
            let mut changed = pin!(self.changed.notified());
            changed.as_mut().enable();
            if let Some(reached) = self.reached() {
                return reached;
            }
            let until = self.until(&self.lock().budget);
            match until {
                Some(until) => {
                    let left = u64::try_from(until.saturating_sub(now_ms())).unwrap_or(0);
                    let _ = tokio::time::timeout(Duration::from_millis(left), changed).await;
                }
                None => changed.await,
            }
        }
    }

    /// The end of the run's time, in unix milliseconds.
    fn until(&self, budget: &Budget) -> Option<i64> {
        budget.seconds.map(|seconds| {
            let allowed = i64::try_from(seconds.saturating_mul(1_000)).unwrap_or(i64::MAX);
            self.began.saturating_add(allowed)
        })
    }

    fn check_limits(&self, book: &mut Book) {
        if book.reached.is_none() {
            book.reached = self.reached_limit(book);
            if book.reached.is_some() {
                self.changed.notify_waiters();
            }
        }
    }

    fn reached_limit(&self, book: &Book) -> Option<String> {
        let budget = &book.budget;
        let count = |limit: Option<u64>, used: u64, unit: &str| {
            let limit = limit.filter(|limit| used >= *limit)?;
            Some(format!("{limit} {unit}"))
        };
        let usd = budget
            .usd
            .filter(|usd| book.spent.micro_usd as f64 >= usd * 1e6);
        let over = self.until(budget).is_some_and(|until| now_ms() >= until);
        let seconds = budget.seconds.filter(|_| over);
        let limit = count(budget.tokens, book.spent.tokens, "tokens")
            .or_else(|| count(budget.requests, book.spent.requests, "requests"))
            .or_else(|| usd.map(|limit| format!("{limit} US dollars")))
            .or_else(|| seconds.map(|limit| format!("{limit} seconds")))?;
        Some(format!("{} budget of {limit} is spent", self.whose))
    }

    fn lock(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
