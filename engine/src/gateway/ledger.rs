//! What a run has taken of its budget, over all its evolutions.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use swe_ci_core::agent::Budget;
use swe_ci_core::usage::{Traffic, Usage};
use tokio_util::sync::CancellationToken;

use crate::clock::now_ms;

/// The ledgers of the runs that are being worked on.
#[derive(Debug, Clone, Default)]
pub struct Ledgers(Arc<Mutex<HashMap<String, Weak<Ledger>>>>);

impl Ledgers {
    /// The ledger of a run; `new` when nobody has it open. All evolutions of
    /// a run that are at work in this process share it.
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
}

/// One run's account.
#[derive(Debug)]
pub struct Ledger {
    budget: Budget,
    /// Unix milliseconds by which its time is over.
    until: Option<i64>,
    taken: Mutex<Taken>,
    spent: CancellationToken,
}

#[derive(Debug, Default)]
struct Taken {
    tokens: u64,
    requests: u64,
    micro_usd: u64,
    /// The limit that was reached first, in words.
    reached: Option<String>,
}

impl Ledger {
    /// Goes on from what earlier steps took. `began` is when the run began.
    pub fn new(budget: Budget, began: i64, usage: Usage, traffic: Traffic) -> Self {
        let until = budget.seconds.map(|seconds| {
            let allowed = i64::try_from(seconds.saturating_mul(1_000)).unwrap_or(i64::MAX);
            began.saturating_add(allowed)
        });
        let ledger = Self {
            budget,
            until,
            taken: Mutex::default(),
            spent: CancellationToken::new(),
        };
        ledger.charge(usage, traffic.requests, traffic.micro_usd);
        ledger
    }

    /// Writes down what was taken.
    pub fn charge(&self, usage: Usage, requests: u64, micro_usd: Option<u64>) {
        let mut taken = self.lock();
        taken.tokens = taken.tokens.saturating_add(usage.total());
        taken.requests = taken.requests.saturating_add(requests);
        taken.micro_usd = taken.micro_usd.saturating_add(micro_usd.unwrap_or(0));
        self.look(&mut taken);
    }

    /// Which limit was reached, in words.
    pub fn reached(&self) -> Option<String> {
        let mut taken = self.lock();
        self.look(&mut taken);
        taken.reached.clone()
    }

    /// Returns once a limit is reached.
    pub async fn spent(&self) {
        let time = async {
            match self.until {
                Some(until) => {
                    let left = u64::try_from(until.saturating_sub(now_ms())).unwrap_or(0);
                    tokio::time::sleep(Duration::from_millis(left)).await;
                }
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = self.spent.cancelled() => {}
            () = time => {}
        }
    }

    fn look(&self, taken: &mut Taken) {
        if taken.reached.is_none() {
            taken.reached = self.over(taken);
            if taken.reached.is_some() {
                self.spent.cancel();
            }
        }
    }

    fn over(&self, taken: &Taken) -> Option<String> {
        let Budget {
            tokens,
            usd,
            requests,
            seconds,
        } = self.budget;
        let reached = |limit: Option<u64>, taken: u64| limit.filter(|limit| taken >= *limit);
        if let Some(limit) = reached(tokens, taken.tokens) {
            return Some(format!("the run's budget of {limit} tokens is spent"));
        }
        if let Some(limit) = reached(requests, taken.requests) {
            return Some(format!("the run's budget of {limit} requests is spent"));
        }
        if let Some(limit) = usd.filter(|usd| taken.micro_usd as f64 >= usd * 1e6) {
            return Some(format!("the run's budget of {limit} US dollars is spent"));
        }
        let over = self.until.is_some_and(|until| now_ms() >= until);
        seconds
            .filter(|_| over)
            .map(|limit| format!("the run's budget of {limit} seconds is spent"))
    }

    fn lock(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(n: u64) -> Usage {
        Usage {
            input_tokens: n,
            ..Usage::default()
        }
    }

    #[test]
    fn the_first_limit_reached_is_named() {
        let check = |budget: Budget, expect: Option<&str>| {
            let before = Traffic {
                requests: 1,
                ..Traffic::default()
            };
            let ledger = Ledger::new(budget, now_ms() - 5_000, tokens(100), before);
            ledger.charge(tokens(50), 1, Some(1_500_000));
            let reached = ledger.reached();
            let found = reached.as_deref();
            let fine = match expect {
                Some(part) => found.is_some_and(|text| text.contains(part)),
                None => found.is_none(),
            };
            assert!(fine, "{budget:?} {found:?}");
        };
        let none = Budget::default();
        check(none, None);
        check(
            Budget {
                tokens: Some(150),
                ..none
            },
            Some("150 tokens"),
        );
        check(
            Budget {
                tokens: Some(151),
                ..none
            },
            None,
        );
        check(
            Budget {
                requests: Some(2),
                ..none
            },
            Some("2 requests"),
        );
        check(
            Budget {
                usd: Some(1.5),
                ..none
            },
            Some("1.5 US dollars"),
        );
        check(
            Budget {
                usd: Some(1.51),
                ..none
            },
            None,
        );
        check(
            Budget {
                seconds: Some(5),
                ..none
            },
            Some("5 seconds"),
        );
        check(
            Budget {
                seconds: Some(60),
                ..none
            },
            None,
        );
    }

    #[tokio::test]
    async fn those_who_wait_are_told() {
        let budget = Budget {
            requests: Some(1),
            ..Budget::default()
        };
        let ledgers = Ledgers::default();
        let new = || Ledger::new(budget, now_ms(), Usage::default(), Traffic::default());
        let ledger = ledgers.of_run("r", new);
        let same = ledgers.of_run("r", || unreachable!("it is open"));
        same.charge(Usage::default(), 1, None);
        ledger.spent().await;
        assert!(ledger.reached().is_some());
    }
}
