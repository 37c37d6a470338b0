//! The stored counts of runs, which every change of the results makes stale.

use super::imports::imported;
use super::*;
use crate::StoredCounts;
use swe_ci_views::view::TaskState;

const FORMAT: u32 = 1;

/// Stores counts of the present results, and checks that they are found.
async fn count(store: &Store, run_id: &str) {
    let run = store.leaderboard_run(run_id).await.unwrap();
    store.put_counts(&run, FORMAT, "counted").await.unwrap();
    assert!(is_counted(store, run_id).await);
}

async fn is_counted(store: &Store, run_id: &str) -> bool {
    !counts(store, &[run_id], FORMAT).await.is_empty()
}

async fn counts(store: &Store, run_ids: &[&str], format: u32) -> Vec<StoredCounts> {
    let run_ids: Vec<String> = run_ids.iter().map(|id| (*id).to_owned()).collect();
    store.stored_counts(&run_ids, format).await.unwrap()
}

#[tokio::test]
async fn counts_of_another_format_are_not_found() {
    on_both(async |store| {
        let (id, _) = store.put_import(&imported("d", &[12])).await.unwrap();
        count(&store, &id).await;
        assert_eq!(counts(&store, &[&id], FORMAT + 1).await, []);
        assert_eq!(counts(&store, &["another"], FORMAT).await, []);
        assert_eq!(counts(&store, &[], FORMAT).await, []);
        assert_eq!(counts(&store, &["another", &id], FORMAT).await.len(), 1);
        let runs = store.leaderboard_runs("s").await.unwrap();
        assert_eq!(runs.len(), 1);
        assert_eq!(runs[0].run_id, id);
    })
    .await;
}

/// Those that can be run, and those that have results from elsewhere.
#[tokio::test]
async fn scorable_tasks_are_ready_or_have_results() {
    on_both(async |store| {
        assert_eq!(store.scorable_tasks("s").await.unwrap(), 0);
        store.put_import(&imported("d", &[12])).await.unwrap();
        let with_results = store.scorable_tasks("s").await.unwrap();
        assert_eq!(with_results, 2);
        let mut broken = task("broken");
        broken.state = TaskState::Unusable {
            reason: "its image is gone".into(),
        };
        store.put_task("s", 8, &broken).await.unwrap();
        store.put_task("s", 9, &task("ready")).await.unwrap();
        let ready = with_results + 1;
        assert_eq!(store.scorable_tasks("s").await.unwrap(), ready);
        // One that became unusable counts where a public run has a score of it.
        run(&store, &[("late", 1.0)]).await;
        let mut late = task("late");
        late.state = broken.state.clone();
        store.put_task("s", 10, &late).await.unwrap();
        for (change, tasks) in [
            ("UPDATE runs SET visibility = 'public'", ready),
            (
                "UPDATE evolutions SET ending = 'blocked' WHERE task_id = 'late'",
                ready,
            ),
            (
                "UPDATE evolutions SET ending = 'solved' WHERE task_id = 'late'",
                ready + 1,
            ),
            (
                "UPDATE evolutions SET base_sha = 'f' WHERE task_id = 'late'",
                ready,
            ),
            (
                "UPDATE evolutions SET base_sha = NULL WHERE task_id = 'late'",
                ready + 1,
            ),
            (
                "UPDATE runs SET progress = 'cancelled' WHERE source IS NULL",
                ready,
            ),
        ] {
            sqlx::query(change).execute(&store.pool).await.unwrap();
            assert_eq!(store.scorable_tasks("s").await.unwrap(), tasks, "{change}");
        }
    })
    .await;
}

#[tokio::test]
async fn steps_make_counts_stale() {
    on_both(async |store| {
        store.put_task("s", 0, &task("a")).await.unwrap();
        let id = run(&store, &[("a", 1.0)]).await;
        count(&store, &id).await;
        let claim = store.claim("w/1", 60_000).await.unwrap().unwrap();
        let step = step(1, Role::Architect, StepOutcome::Done);
        let ended = StepToRecord {
            step: &step,
            iteration: None,
            next: Err((Ending::Blocked, Some("no engine"))),
        };
        store.record_step(&claim, "w/1", &ended).await.unwrap();
        assert!(!is_counted(&store, &id).await, "an evolution ended");
        count(&store, &id).await;
        store.retry(&id, &Actor::Operator).await.unwrap();
        assert!(
            !is_counted(&store, &id).await,
            "an evolution is queued again"
        );
        count(&store, &id).await;
        store.cancel_run(&id, &Actor::Operator).await.unwrap();
        assert!(!is_counted(&store, &id).await, "the run is cancelled");
    })
    .await;
}

#[tokio::test]
async fn corrections_make_counts_stale() {
    on_both(async |store| {
        let (id, _) = store.put_import(&imported("d", &[12])).await.unwrap();
        count(&store, &id).await;
        let provenance = store.provenance(&id).await.unwrap();
        store.put_recounts(&id, &provenance, &[]).await.unwrap();
        assert!(!is_counted(&store, &id).await, "a recount");
        count(&store, &id).await;
        let evolution = store.evolutions_of_run(&id).await.unwrap().remove(0);
        let failed = Err("no code".to_owned());
        store.put_style(&evolution.id, 1, &failed).await.unwrap();
        assert!(!is_counted(&store, &id).await, "a style");
        count(&store, &id).await;
        let (same, _) = store.put_import(&imported("e", &[13])).await.unwrap();
        assert_eq!(same, id);
        assert!(!is_counted(&store, &id).await, "another import");
    })
    .await;
}
