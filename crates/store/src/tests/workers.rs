//! Workers, leases, spending and events that several processes share.

use std::time::Duration;

use swe_ci_core::labels::Labels;
use swe_ci_views::preflight::PreflightState;
use swe_ci_views::steering::Steering;
use swe_ci_views::workers::{AtHand, WorkerFigures, WorkerState};

use super::*;
use crate::sql::{Dialect, query};
use crate::{MOST_EVENTS, NewWorker, Spending};

const BY: &Actor = &Actor::Operator;

#[tokio::test]
async fn workers_are_listed_with_what_they_hold() {
    on_both(async |store| {
        run(&store, &[("a", 3.0), ("b", 2.0)]).await;
        let labels: Labels = "gpu=no".parse().unwrap();
        for id in ["i/0", "i/1", "j/12"] {
            let new = NewWorker {
                id,
                name: "node",
                version: "1",
                slots: 2,
                labels: &labels,
            };
            store.put_worker(&new).await.unwrap();
        }
        // Workers of one moment stand by their ids.
        sqlx::query("UPDATE workers SET started_at = 1")
            .execute(&store.pool)
            .await
            .unwrap();
        let claim = store.claim("j/12/1", 60_000).await.unwrap().unwrap();
        let workers = store.workers().await.unwrap();
        let held: Vec<usize> = workers.iter().map(|w| w.claims.len()).collect();
        assert_eq!(held, [0, 1]);
        assert_eq!(workers[1].claims[0].evolution_id, claim.evolution_id);
        assert_eq!(workers[1].labels, labels);
        assert!(workers.iter().all(|w| w.state == WorkerState::Working));

        let figures = WorkerFigures {
            claims: 3,
            image_pull_seconds: 1.5,
            layers: Some(AtHand { count: 2, bytes: 7 }),
            ..WorkerFigures::default()
        };
        assert!(!store.worker_lives("i/1", &figures).await.unwrap());
        assert_eq!(store.drain_workers("node", true, BY).await.unwrap(), 2);
        assert!(store.worker_lives("i/1", &figures).await.unwrap());
        let workers = store.workers().await.unwrap();
        assert!(workers.iter().all(|w| w.state == WorkerState::Draining));
        let told: Vec<WorkerFigures> = workers.iter().map(|w| w.figures).collect();
        assert_eq!(told, [figures, WorkerFigures::default()]);
        assert_eq!(store.drain_workers("nobody", true, BY).await.unwrap(), 0);

        store.remove_worker("i/1").await.unwrap();
        let gone = store.worker_lives("i/1", &figures).await.unwrap_err();
        assert!(matches!(gone, Error::NotFound { .. }));
        sqlx::query("UPDATE workers SET seen_at = seen_at - 60001")
            .execute(&store.pool)
            .await
            .unwrap();
        let workers = store.workers().await.unwrap();
        assert_eq!(workers[0].state, WorkerState::Lost);
        assert!(workers[0].silent_seconds > 60.0);
    })
    .await;
}

#[tokio::test]
async fn a_lease_that_nobody_renews_is_noticed() {
    on_both(async |store| {
        let ends_within = async |ms| store.some_lease_ends_within(ms).await.unwrap();
        run(&store, &[("a", 1.0)]).await;
        assert!(!ends_within(60_000).await, "nobody holds it");
        let claim = store.claim("w/1", 50_000).await.unwrap().unwrap();
        assert!(!ends_within(40_000).await);
        assert!(ends_within(60_000).await);
        let renewed = store.heartbeat(&claim.evolution_id, "w/1", 90_000).await;
        assert_eq!(renewed.unwrap(), Lease::Held);
        assert!(!ends_within(60_000).await);
    })
    .await;
}

/// Several slots are shared among the runs, and one slot works for each in turn.
/// Within a run the longest is first.
#[tokio::test]
async fn runs_take_turns() {
    on_both(async |store| {
        for slots in [5, 1] {
            run(&store, &[("a", 8.0), ("b", 9.0), ("c", 7.0)]).await;
            run(&store, &[("d", 2.0), ("e", 3.0)]).await;
            let mut claimed = Vec::new();
            for _ in 0..5 {
                // Turns are known to the millisecond.
                tokio::time::sleep(Duration::from_millis(2)).await;
                let claim = store.claim("w/1", 60_000).await.unwrap().unwrap();
                claimed.push(claim.task_id.as_str().to_owned());
                if slots == 1 || claimed.len() == 5 {
                    query("UPDATE evolutions SET progress = 'finished' WHERE progress = 'running'")
                        .run(&store.pool)
                        .await
                        .unwrap();
                }
            }
            assert_eq!(claimed, ["b", "e", "a", "d", "c"], "{slots} slots");
        }
    })
    .await;
}

/// A run that comes later gets the slots that fall free until it has its share.
#[tokio::test]
async fn a_later_run_gets_its_share_of_the_slots() {
    on_both(async |store| {
        let claim = async || store.claim("w/1", 60_000).await.unwrap().unwrap();
        let tasks: Vec<(&str, f64)> = ["a", "b", "c", "d", "e"].map(|id| (id, 9.0)).into();
        let first = run(&store, &tasks).await;
        for _ in 0..3 {
            claim().await;
        }
        let later = run(&store, &tasks).await;
        let mut runs = Vec::new();
        for _ in 0..4 {
            runs.push(claim().await.run_id);
        }
        // Of two runs with three slots each, the one that waited longer is first.
        let later = later.as_str();
        assert_eq!(runs, [later, later, later, first.as_str()]);
    })
    .await;
}

#[tokio::test]
async fn a_run_goes_to_workers_that_have_what_it_needs() {
    on_both(async |store| {
        let labels = |text: &str| text.parse::<Labels>().unwrap();
        let needy = async |needs: &str| {
            let config = RunConfig {
                needs: labels(needs),
                ..RunConfig::human("s")
            };
            run_of(&store, config, &[("a", 9.0), ("b", 8.0)]).await
        };
        let claim = async |offered: &str| {
            let offered = labels(offered);
            let claim = store.claim_offering(&offered, "w/1", 60_000).await;
            claim.unwrap().map(|claim| claim.run_id)
        };
        let two = needy("gpu=yes, arch=amd64").await;
        let one = needy("gpu=yes").await;
        let waiting = store.needy_runs().await.unwrap();
        let needs: Vec<String> = waiting.iter().map(|run| run.needs.to_string()).collect();
        assert_eq!(needs, ["arch=amd64, gpu=yes", "gpu=yes"]);
        for offered in ["", "arch=amd64", "gpu=no", "gpu=no, arch=amd64"] {
            assert_eq!(claim(offered).await, None, "{offered}");
        }
        assert_eq!(claim("gpu=yes").await.as_ref(), Some(&one));
        let all = "arch=amd64, gpu=yes, pool=big";
        assert_eq!(claim(all).await.as_ref(), Some(&two));
        assert_eq!(claim(all).await.as_ref(), Some(&one));
        assert_eq!(store.needy_runs().await.unwrap().len(), 1);
        assert_eq!(claim(all).await.as_ref(), Some(&two));
        // What any worker may take does not wait behind what none has.
        let plain = run(&store, &[("a", 1.0)]).await;
        assert_eq!(claim("").await.as_ref(), Some(&plain));
        assert_eq!(claim("").await, None);
        // Any worker ends what was cancelled.
        store.cancel_run(&two, BY).await.unwrap();
        store.release("w").await.unwrap();
        for next in [&two, &plain, &two] {
            assert_eq!(claim("").await.as_ref(), Some(next));
        }
        assert_eq!(claim("").await, None);
    })
    .await;
}

/// Each signal is awaited before the next cause, so a cause that sends none
/// makes the test hang.
#[tokio::test]
async fn what_lets_workers_go_on_wakes_them() {
    on_both(async |store| {
        let Some(mut listener) = store.queue_listener().await.unwrap() else {
            assert_eq!(store.dialect, Dialect::Sqlite);
            return;
        };
        let mut heard = async || listener.signalled().await.unwrap();
        let id = run(&store, &[("a", 2.0), ("b", 1.0)]).await;
        heard().await;
        let claim = store.claim("w/1", 60_000).await.unwrap().unwrap();
        let evolution = claim.evolution_id.as_str();
        assert!(store.release_claim(evolution, "w/1").await.unwrap());
        heard().await;
        store.claim("w/1", 60_000).await.unwrap().unwrap();
        assert_eq!(store.release("w/").await.unwrap(), 1);
        heard().await;
        store.claim("w/1", -1).await.unwrap().unwrap();
        store.claim("w/2", 60_000).await.unwrap().unwrap();
        heard().await;
        for paused in [true, false] {
            let steer = |_, steering| Ok(Steering { paused, ..steering });
            store.steer(&id, BY, steer).await.unwrap();
            heard().await;
        }
        let waits = queue(&store, &[("c", 1.0)], true).await;
        heard().await;
        let skipped = PreflightState::Skipped;
        assert!(store.set_preflight(&waits, skipped, BY).await.unwrap());
        heard().await;
    })
    .await;
}

#[tokio::test]
async fn a_lease_has_one_holder_at_a_time() {
    on_both(async |store| {
        let lease = async |holder, ms| store.lease("curations", holder, ms).await.unwrap();
        assert!(lease("a", 60_000).await);
        assert!(!lease("b", 60_000).await);
        assert!(store.lease("preflights", "b", 60_000).await.unwrap());
        assert!(lease("a", -1).await, "its holder renews it");
        assert!(lease("b", 60_000).await, "it had expired");
        assert!(!lease("a", 60_000).await);
        store.end_lease("curations", "a").await.unwrap();
        assert!(!lease("a", 60_000).await, "only its holder ends it");
        store.end_lease("curations", "b").await.unwrap();
        assert!(lease("a", 60_000).await);
        store.end_leases("x").await.unwrap();
        assert!(!lease("b", 60_000).await);
        store.end_leases("a").await.unwrap();
        assert!(lease("b", 60_000).await, "its holder is known to be dead");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn spending_of_all_workers_adds_up() {
    on_both(async |store| {
        let id = run(&store, &[("a", 3.0)]).await;
        let more = |requests| Spending {
            tokens: 10 * requests,
            requests,
            micro_usd: 3 * requests,
        };
        assert_eq!(store.spend(&id, more(0)).await.unwrap(), more(0));
        let workers = (0..8).map(|_| {
            let (store, id) = (store.clone(), id.clone());
            tokio::spawn(async move {
                for _ in 0..5 {
                    store.spend(&id, more(1)).await.unwrap();
                }
            })
        });
        for worker in workers.collect::<Vec<_>>() {
            worker.await.unwrap();
        }
        assert_eq!(store.spend(&id, more(0)).await.unwrap(), more(40));
    })
    .await;
}

#[tokio::test]
async fn events_live_for_a_while() {
    on_both(async |store| {
        let events: Vec<(String, String)> = (0..2_050)
            .map(|n| (format!("run{}", n % 2), n.to_string()))
            .collect();
        let before = store.now().await.unwrap();
        store.put_events(&events).await.unwrap();
        let mut found = store.events_since(before, "").await.unwrap();
        assert_eq!(found.len(), MOST_EVENTS);
        let last = found[MOST_EVENTS - 1].id.clone();
        found.extend(store.events_since(before, &last).await.unwrap());
        let found: Vec<(String, String)> = found.into_iter().map(|e| (e.run_id, e.what)).collect();
        assert_eq!(found, events);
        let after = store.now().await.unwrap() + 1;
        assert_eq!(store.remove_events_before(after).await.unwrap(), 2_050);
        assert_eq!(store.events_since(before, "").await.unwrap(), []);
    })
    .await;
}

#[tokio::test]
async fn a_worker_takes_no_database_of_another_schema() {
    on_both_urls(async |url| {
        let store = Store::open(&url).await.unwrap();
        store.ensure_own_schema().await.unwrap();
        let newer =
            "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
                     SELECT version + 1, 'later', success, checksum, 0 FROM _sqlx_migrations
                     ORDER BY version DESC LIMIT 1";
        sqlx::query(newer).execute(&store.pool).await.unwrap();
        let error = store.ensure_own_schema().await.unwrap_err().to_string();
        assert!(
            error.contains("install the server's version here"),
            "{error}"
        );
        store.pool.close().await;
        let opened = Store::open_migrated(&url).await;
        assert!(matches!(opened, Err(Error::Conflict(_))));
    })
    .await;
}

#[tokio::test]
async fn the_queue_is_counted() {
    on_both(async |store| {
        let id = run(&store, &[("a", 3.0), ("b", 2.0), ("c", 1.0)]).await;
        store.claim("w/1", 60_000).await.unwrap().unwrap();
        let state = store.queue_state().await.unwrap();
        assert_eq!((state.queued, state.running, state.blocked), (2, 1, 0));
        assert!((0.0..60.0).contains(&state.oldest_seconds));
        store.cancel_run(&id, BY).await.unwrap();
        let state = store.queue_state().await.unwrap();
        assert_eq!((state.queued, state.running), (0, 1));
        assert_eq!(store.steps_done().await.unwrap(), []);
    })
    .await;
}
