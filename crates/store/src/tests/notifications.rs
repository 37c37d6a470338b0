//! Notifications: when deliveries are written, for whom, and who claims them.

use swe_ci_base::clock::now_ms;
use swe_ci_core::permissions::Keyring;
use swe_ci_views::account::{AccountRole, Identity};
use swe_ci_views::notification::{Channel, DeliveryState, DeliveryView, Occasion, TargetView};

use super::accounts::{BY, HOUR, account, audited};
use super::*;
use crate::sql::{only, query};
use crate::{AfterTry, Confirmation, NewTarget};

const HOLD: i64 = 60_000;

async fn webhook(store: &Store, who: &Identity, events: &[Occasion]) -> TargetView {
    let new = NewTarget {
        account_id: &who.account_id,
        address: "https://hooks.example.org/secret-path",
        events,
    };
    let mut keys = store.keys_alone().await.unwrap();
    let seal = |id: &str| Ok(format!("sealed {id}"));
    let target = keys.insert_webhook(&new, BY, seal).await.unwrap();
    keys.commit("m1").await.unwrap();
    target
}

async fn mailbox(store: &Store, who: &Identity) -> TargetView {
    let new = NewTarget {
        account_id: &who.account_id,
        address: "ada@example.org",
        events: &Occasion::OF_RUNS,
    };
    store.insert_mailbox(&new, BY).await.unwrap()
}

/// Submits a run of this account over these tasks.
async fn run_of(store: &Store, who: &Identity, tasks: &[(&str, f64)]) -> String {
    let id = run(store, tasks).await;
    sqlx::query("UPDATE runs SET owner = $2 WHERE id = $1")
        .bind(&id)
        .bind(&who.account_id)
        .execute(&store.pool)
        .await
        .unwrap();
    id
}

async fn end_next(store: &Store, ending: Ending) {
    let claim = store.claim("w/1", HOLD).await.unwrap().unwrap();
    let outcome = match ending {
        Ending::Blocked => StepOutcome::InfraFailed,
        Ending::BudgetSpent => StepOutcome::BudgetSpent,
        _ => StepOutcome::NothingLeft,
    };
    let last = step(1, Role::Architect, outcome);
    let record = StepToRecord {
        step: &last,
        iteration: None,
        next: Err((ending, Some("why"))),
    };
    store.record_step(&claim, "w/1", &record).await.unwrap();
}

/// The deliveries to an account, oldest first.
async fn deliveries(store: &Store, who: &Identity) -> Vec<DeliveryView> {
    let mut all = store.deliveries(&who.account_id, 50).await.unwrap();
    all.reverse();
    all
}

async fn events(store: &Store, who: &Identity) -> Vec<&'static str> {
    let all = deliveries(store, who).await;
    all.iter().map(|delivery| delivery.event.name()).collect()
}

#[tokio::test]
async fn the_owner_is_notified_once_of_each_event() {
    on_both(async |store| {
        let ada = account(&store, "ada", AccountRole::Submitter).await;
        let bob = account(&store, "bob", AccountRole::Submitter).await;
        webhook(&store, &ada, &Occasion::OF_RUNS).await;
        webhook(&store, &bob, &Occasion::OF_RUNS).await;
        let tasks = [("a", 5.0), ("b", 4.0), ("c", 3.0), ("d", 2.0)];
        let id = run_of(&store, &ada, &tasks).await;
        end_next(&store, Ending::Blocked).await;
        end_next(&store, Ending::Blocked).await;
        end_next(&store, Ending::BudgetSpent).await;
        assert_eq!(events(&store, &ada).await, ["run.blocked", "run.budget"]);
        end_next(&store, Ending::BudgetSpent).await;
        let all = ["run.blocked", "run.budget", "run.finished"];
        assert_eq!(events(&store, &ada).await, all);
        assert!(deliveries(&store, &bob).await.is_empty(), "it is not bob's");

        let due = store.claim_delivery(HOLD).await.unwrap().unwrap();
        let news = due.news.unwrap();
        assert_eq!(
            (news.run_id.as_str(), news.split.as_str()),
            (id.as_str(), "s")
        );
        assert_eq!((news.evolutions, news.evolutions_blocked), (4, 1));
        let cause = news.cause.unwrap();
        assert_eq!(
            (cause.task_id.as_str(), cause.reason.as_str()),
            ("a", "why")
        );
        store.claim_delivery(HOLD).await.unwrap().unwrap();
        let over = store.claim_delivery(HOLD).await.unwrap().unwrap();
        let news = over.news.unwrap();
        assert_eq!(news.progress, Progress::Finished);
        assert_eq!(
            (news.evolutions_blocked, news.evolutions_out_of_budget),
            (2, 2)
        );
        assert_eq!(news.cause, None);

        // A retry notifies again; a cancellation notifies once.
        store.retry(&id, BY).await.unwrap();
        end_next(&store, Ending::Blocked).await;
        assert!(store.cancel_run(&id, BY).await.unwrap());
        assert!(!store.cancel_run(&id, BY).await.unwrap());
        let all = events(&store, &ada).await;
        assert_eq!(all[3..], ["run.blocked", "run.finished"]);
    })
    .await;
}

#[tokio::test]
async fn only_confirmed_subscribed_targets_are_notified() {
    on_both(async |store| {
        let ada = account(&store, "ada", AccountRole::Submitter).await;
        account(&store, "root", AccountRole::Admin).await;
        let hook = webhook(&store, &ada, &[Occasion::RunBlocked]).await;
        let box_ = mailbox(&store, &ada).await;
        assert!(hook.confirmed && !box_.confirmed);
        // Nobody owns this run.
        run(&store, &[("x", 9.0)]).await;
        end_next(&store, Ending::Blocked).await;
        run_of(&store, &ada, &[("a", 2.0)]).await;
        end_next(&store, Ending::NothingLeft).await;
        // Only the code for the mailbox.
        assert_eq!(events(&store, &ada).await, ["code"]);
        store
            .set_code(&box_.target_id, "digest", now_ms() + HOUR)
            .await
            .unwrap();
        let confirmation = store
            .confirm(&ada.account_id, &box_.target_id, "digest", BY)
            .await;
        assert_eq!(confirmation.unwrap(), Confirmation::Confirmed);
        run_of(&store, &ada, &[("b", 2.0)]).await;
        end_next(&store, Ending::NothingLeft).await;
        let all = deliveries(&store, &ada).await;
        assert_eq!(all[1].target_id, box_.target_id);
        assert_eq!((all[1].event, all.len()), (Occasion::RunFinished, 2));

        store.set_disabled("ada", true, BY).await.unwrap();
        assert_eq!(store.claim_delivery(HOLD).await.unwrap(), None);
        run_of(&store, &ada, &[("c", 2.0)]).await;
        end_next(&store, Ending::NothingLeft).await;
        assert_eq!(deliveries(&store, &ada).await.len(), 2);
        store.set_disabled("ada", false, BY).await.unwrap();
        let due = store.claim_delivery(HOLD).await.unwrap().unwrap();
        assert_eq!((due.event, due.channel), (Occasion::Code, Channel::Mail));
        assert!(!due.of_admin);
    })
    .await;
}

/// A delivery exists exactly if its change was committed.
#[tokio::test]
async fn an_uncommitted_change_is_not_notified() {
    on_both(async |store| {
        let ada = account(&store, "ada", AccountRole::Submitter).await;
        webhook(&store, &ada, &Occasion::OF_RUNS).await;
        run_of(&store, &ada, &[("a", 1.0)]).await;
        let claim = store.claim("w/1", HOLD).await.unwrap().unwrap();
        let last = step(1, Role::Architect, StepOutcome::InfraFailed);
        let record = StepToRecord {
            step: &last,
            iteration: None,
            next: Err((Ending::Blocked, None)),
        };
        let lost = store.record_step(&claim, "w/2", &record).await;
        assert!(matches!(lost, Err(Error::Conflict(_))));
        assert!(deliveries(&store, &ada).await.is_empty());
        store.record_step(&claim, "w/1", &record).await.unwrap();
        let again = store.record_step(&claim, "w/1", &record).await;
        assert!(matches!(again, Err(Error::Conflict(_))));
        let all = events(&store, &ada).await;
        assert_eq!(all, ["run.blocked", "run.finished"]);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_delivery_is_claimed_once() {
    on_both(async |store| {
        let ada = account(&store, "ada", AccountRole::Submitter).await;
        let hook = webhook(&store, &ada, &Occasion::OF_RUNS).await;
        store
            .send_one(&hook.target_id, Occasion::Test, BY)
            .await
            .unwrap();
        let all = [(); 6].map(|()| {
            let store = store.clone();
            tokio::spawn(async move { store.claim_delivery(HOLD).await.unwrap() })
        });
        let mut claimed = Vec::new();
        for one in all {
            claimed.extend(one.await.unwrap());
        }
        let [due] = &claimed[..] else {
            panic!("{claimed:?}")
        };
        assert_eq!(
            (due.event, due.tries, &due.news),
            (Occasion::Test, 1, &None)
        );

        let id = &due.delivery_id;
        let again = AfterTry::Again(now_ms() + HOUR);
        store.note_try(id, "500", again).await.unwrap();
        assert_eq!(store.claim_delivery(HOLD).await.unwrap(), None);
        let waits = &deliveries(&store, &ada).await[0];
        assert_eq!(
            (waits.state, waits.answer.as_str()),
            (DeliveryState::Waiting, "500")
        );
        assert!(waits.next_try_at > waits.tried_at && waits.tried_at.is_some());

        store.note_try(id, "500", AfterTry::Again(0)).await.unwrap();
        // Its process dies: another one claims it when the hold expires.
        let due = store.claim_delivery(-1).await.unwrap().unwrap();
        assert_eq!(due.tries, 2);
        let due = store.claim_delivery(HOLD).await.unwrap().unwrap();
        assert_eq!((due.tries, &due.delivery_id), (3, id));
        store
            .note_try(id, "204", AfterTry::Delivered)
            .await
            .unwrap();
        // A delivered one stays delivered, despite a late result.
        store.note_try(id, "500", AfterTry::Again(0)).await.unwrap();
        assert_eq!(store.claim_delivery(HOLD).await.unwrap(), None);
        let done = &deliveries(&store, &ada).await[0];
        assert_eq!(
            (done.state, done.answer.as_str()),
            (DeliveryState::Delivered, "204")
        );
        assert_eq!((done.tries, &done.next_try_at), (3, &None));

        assert_eq!(store.sweep_deliveries(now_ms() - HOUR).await.unwrap(), 0);
        assert_eq!(store.sweep_deliveries(now_ms() + 1).await.unwrap(), 1);
        assert!(deliveries(&store, &ada).await.is_empty());
    })
    .await;
}

/// It would be claimed for ever, and hold up those behind it.
#[tokio::test]
async fn a_delivery_that_cannot_be_read_is_given_up() {
    on_both(async |store| {
        let ada = account(&store, "ada", AccountRole::Submitter).await;
        let target = webhook(&store, &ada, &Occasion::OF_RUNS).await;
        let insert = async |id: &str, event: &str| {
            query(
                "INSERT INTO deliveries (id, target_id, event, made_at, state, tries, next_try_at, answer)
                 VALUES ($1, $2, $3, 0, 'waiting', 0, 0, '')",
            )
            .with((id, &target.target_id, event))
            .run(&store.pool)
            .await
            .unwrap();
        };
        insert("1", "of another version").await;
        insert("2", "test").await;
        let due = store.claim_delivery(HOLD).await.unwrap().unwrap();
        assert_eq!(due.delivery_id, "2");
        let states: Vec<String> = query("SELECT state FROM deliveries ORDER BY id")
            .all(&store.pool, only)
            .await
            .unwrap();
        assert_eq!(states, ["given_up", "waiting"]);
    })
    .await;
}

#[tokio::test]
async fn a_target_is_removed_with_its_key_and_deliveries() {
    on_both(async |store| {
        let ada = account(&store, "ada", AccountRole::Submitter).await;
        let bob = account(&store, "bob", AccountRole::Submitter).await;
        let hook = webhook(&store, &ada, &[Occasion::RunBudget]).await;
        let id = &hook.target_id;
        let all = store.targets(&ada.account_id).await.unwrap();
        assert_eq!(all, std::slice::from_ref(&hook));
        assert_eq!(store.target(&ada.account_id, id).await.unwrap(), hook);
        let sealed = store.sealed_key(&Keyring::Webhooks, id).await.unwrap();
        assert_eq!(sealed.unwrap().sealed, format!("sealed {id}"));
        // It appears in no list of keys.
        let ring = Keyring::Account(ada.account_id.clone());
        assert!(store.keys(&ring).await.unwrap().is_empty());
        store.send_one(id, Occasion::Test, BY).await.unwrap();

        for strange in [
            store.target(&bob.account_id, id).await.map(|_| ()),
            store.remove_target(&bob.account_id, id, BY).await,
            store.confirm(&ada.account_id, id, "", BY).await.map(|_| ()),
        ] {
            assert!(
                matches!(strange, Err(Error::NotFound { .. })),
                "{strange:?}"
            );
        }
        store.remove_target(&ada.account_id, id, BY).await.unwrap();
        assert!(store.targets(&ada.account_id).await.unwrap().is_empty());
        assert!(
            store
                .sealed_key(&Keyring::Webhooks, id)
                .await
                .unwrap()
                .is_none()
        );
        assert!(deliveries(&store, &ada).await.is_empty());
        assert_eq!(store.claim_delivery(HOLD).await.unwrap(), None);
        let actions: Vec<(String, String)> = audited(&store, id)
            .await
            .into_iter()
            .map(|(_, action, detail)| (action, detail))
            .collect();
        let deed = |action: &str, detail: &str| (action.to_owned(), detail.to_owned());
        // The path of a webhook is its secret.
        assert_eq!(
            actions,
            [
                deed("notification.add", "hooks.example.org"),
                deed("notification.test", ""),
                deed("notification.remove", "hooks.example.org"),
            ]
        );
        let tests = store
            .times_done(BY, "notification.test", now_ms() - HOUR)
            .await;
        assert_eq!(tests.unwrap(), 1);
        let tests = store
            .times_done(BY, "notification.test", now_ms() + HOUR)
            .await;
        assert_eq!(tests.unwrap(), 0);
    })
    .await;
}

#[tokio::test]
async fn a_code_works_once_until_it_expires_or_is_guessed_at() {
    on_both(async |store| {
        use Confirmation::{Confirmed, Spent, Wrong};
        let ada = account(&store, "ada", AccountRole::Submitter).await;
        let id = mailbox(&store, &ada).await.target_id;
        let confirm = async |digest: &str| {
            let confirmation = store.confirm(&ada.account_id, &id, digest, BY).await;
            confirmation.unwrap()
        };
        // No code was sent yet.
        assert_eq!(confirm("").await, Wrong);
        store.set_code(&id, "one", now_ms() - 1).await.unwrap();
        assert_eq!(confirm("one").await, Spent);
        store.set_code(&id, "two", now_ms() + HOUR).await.unwrap();
        for _ in 0..5 {
            assert_eq!(confirm("one").await, Wrong);
        }
        assert_eq!(confirm("two").await, Spent);
        store.set_code(&id, "three", now_ms() + HOUR).await.unwrap();
        assert_eq!(confirm("three").await, Confirmed);
        assert_eq!(confirm("three").await, Wrong);
        let view = store.target(&ada.account_id, &id).await.unwrap();
        assert!(view.confirmed);
    })
    .await;
}
