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
async fn waiters_are_notified() {
    let budget = Budget {
        requests: Some(1),
        ..Budget::default()
    };
    let ledgers = Ledgers::default();
    let new = || Ledger::new(budget, now_ms(), Usage::default(), Traffic::default());
    let ledger = ledgers.of_run("r", new);
    let same = ledgers.of_run("r", || unreachable!("it is open"));
    same.charge(Usage::default(), 1, None);
    assert_eq!(Some(ledger.spent().await), ledger.reached());
}

/// The spending of another process counts from the next settlement on. While
/// the account is away, a process keeps what it has to tell.
#[tokio::test]
async fn processes_share_an_account() {
    #[derive(Debug, Default, Clone)]
    struct Account(Arc<Mutex<Spent>>, Arc<std::sync::atomic::AtomicBool>);
    #[async_trait]
    impl SharedAccount for Account {
        async fn add(&self, more: Spent) -> anyhow::Result<Spent> {
            let away = self.1.load(std::sync::atomic::Ordering::Relaxed);
            anyhow::ensure!(!away, "away");
            let mut sum = self.0.lock().unwrap();
            *sum += more;
            Ok(*sum)
        }
    }
    let budget = Budget {
        requests: Some(4),
        ..Budget::default()
    };
    let account = Account::default();
    let process = || Arc::new(Ledger::shared(budget, now_ms(), Box::new(account.clone())));
    let (one, other) = (process(), process());
    one.charge(tokens(5), 2, None);
    one.settle().await;
    account.1.store(true, std::sync::atomic::Ordering::Relaxed);
    other.charge(tokens(5), 1, None);
    other.settle().await;
    assert_eq!(other.reached(), None, "it knows only of its own request");
    account.1.store(false, std::sync::atomic::Ordering::Relaxed);
    other.charge(tokens(5), 1, None);
    other.settle().await;
    assert!(other.reached().unwrap().contains("4 requests"));
    assert_eq!(one.reached(), None);
    one.settle().await;
    assert!(one.reached().is_some());
    assert_eq!(account.0.lock().unwrap().tokens, 15);
}

/// The account answers when the test lets it. A caller that is gone by then
/// loses nothing, and answers keep their order.
#[tokio::test]
async fn a_settlement_outlives_its_caller() {
    #[derive(Debug, Default, Clone)]
    struct Slow(Arc<Mutex<Spent>>, Arc<Notify>);
    #[async_trait]
    impl SharedAccount for Slow {
        async fn add(&self, more: Spent) -> anyhow::Result<Spent> {
            self.1.notified().await;
            let mut sum = self.0.lock().unwrap();
            *sum += more;
            Ok(*sum)
        }
    }
    let account = Slow::default();
    let ledger = Ledger::shared(Budget::default(), now_ms(), Box::new(account.clone()));
    let ledger = Arc::new(ledger);
    for _ in 0..2 {
        ledger.charge(tokens(5), 1, None);
        let settling = tokio::spawn({
            let ledger = ledger.clone();
            async move { ledger.settle().await }
        });
        tokio::task::yield_now().await;
        settling.abort();
        settling.await.unwrap_err();
    }
    for _ in 0..2 {
        account.1.notify_one();
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    account.1.notify_one();
    ledger.settle().await;
    let told = account.0.lock().unwrap().requests;
    let book = ledger.lock();
    assert_eq!((told, book.spent.requests), (2, 2));
    assert_eq!(book.untold, Spent::default());
}

#[tokio::test]
async fn a_raised_budget_holds_at_once() {
    let requests = |n| Budget {
        requests: Some(n),
        ..Budget::default()
    };
    let ledgers = Ledgers::default();
    let none = (Usage::default(), Traffic::default());
    let ledger = ledgers.of_run("r", || Ledger::new(requests(1), now_ms(), none.0, none.1));
    let waiting = tokio::spawn({
        let ledger = ledger.clone();
        async move { ledger.spent().await }
    });
    tokio::task::yield_now().await;
    ledgers.set_budget("r", requests(2));
    ledgers.set_budget("another", requests(9));
    ledger.charge(Usage::default(), 1, None);
    tokio::task::yield_now().await;
    assert!(!waiting.is_finished() && ledger.reached().is_none());
    ledger.charge(Usage::default(), 1, None);
    assert!(waiting.await.unwrap().contains("2 requests"));
    // A higher budget reopens a spent one.
    ledgers.set_budget("r", requests(3));
    assert_eq!(ledger.reached(), None);
    // Time limits take effect as well.
    let mut timed = requests(3);
    timed.seconds = Some(3_600);
    ledgers.set_budget("r", timed);
    timed.seconds = Some(0);
    ledgers.set_budget("r", timed);
    assert!(ledger.spent().await.contains("0 seconds"));
}
