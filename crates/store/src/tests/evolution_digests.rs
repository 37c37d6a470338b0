//! The stored numbers of recordings and code changes.

use super::imports::imported;
use super::*;
use crate::StoredDigest;

const FORMAT: u32 = 1;

async fn digests(store: &Store, run_id: &str, format: u32) -> Vec<StoredDigest> {
    store.evolution_digests(run_id, format).await.unwrap()
}

#[tokio::test]
async fn the_latest_digest_of_the_format_is_found() {
    on_both(async |store| {
        let (run, _) = store.put_import(&imported("d", &[12])).await.unwrap();
        let evolution = store.evolutions_of_run(&run).await.unwrap().remove(0).id;
        assert_eq!(digests(&store, &run, FORMAT).await, []);
        let changes = store.changes().await.unwrap();
        for digest in ["first", "second"] {
            let state = store.changes_and_digests().await.unwrap();
            for _ in 0..2 {
                let losses = format!("losses of {digest}");
                let put = store.put_evolution_digest(&evolution, FORMAT, digest, &losses);
                put.await.unwrap();
                // The same again is nothing new.
                assert_eq!(store.changes_and_digests().await.unwrap(), state + 1);
            }
        }
        assert_eq!(store.changes().await.unwrap(), changes);
        let runs = ["another".to_owned(), run.clone()];
        let losses = store.losses_of_runs(&runs, FORMAT).await.unwrap();
        assert_eq!(losses, [(run.clone(), "losses of second".to_owned())]);
        assert_eq!(store.losses_of_runs(&[], FORMAT).await.unwrap(), []);
        let older = "UPDATE evolution_digests SET losses = NULL";
        sqlx::query(older).execute(&store.pool).await.unwrap();
        let losses = store.losses_of_runs(&runs, FORMAT).await.unwrap();
        assert_eq!(losses, [(run.clone(), "second".to_owned())]);
        let second = StoredDigest {
            evolution_id: evolution,
            digest: "second".into(),
        };
        assert_eq!(digests(&store, &run, FORMAT).await, [second]);
        assert_eq!(digests(&store, &run, FORMAT + 1).await, []);
        assert_eq!(digests(&store, "another", FORMAT).await, []);
        // Another import replaces the evolutions.
        store.put_import(&imported("e", &[13])).await.unwrap();
        assert_eq!(digests(&store, &run, FORMAT).await, []);
    })
    .await;
}

#[tokio::test]
async fn the_steps_of_a_run_are_those_of_its_evolutions() {
    on_both(async |store| {
        for id in ["a", "b"] {
            store.put_task("s", 0, &task(id)).await.unwrap();
        }
        let run = run(&store, &[("a", 1.0), ("b", 1.0)]).await;
        for _ in 0..2 {
            let claim = store.claim("w/1", 60_000).await.unwrap().unwrap();
            let step = step(1, Role::Architect, StepOutcome::Done);
            let ended = StepToRecord {
                step: &step,
                iteration: None,
                next: Err((Ending::Blocked, Some("no engine"))),
            };
            store.record_step(&claim, "w/1", &ended).await.unwrap();
        }
        let steps = store.steps_of_run(&run).await.unwrap();
        let mut of: Vec<&str> = steps.iter().map(|(id, _)| id.as_str()).collect();
        let evolutions = store.evolutions_of_run(&run).await.unwrap();
        let mut expect: Vec<&str> = evolutions.iter().map(|row| row.id.as_str()).collect();
        of.sort_unstable();
        expect.sort_unstable();
        assert_eq!(of, expect);
    })
    .await;
}
