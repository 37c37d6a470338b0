//! The change counter, by which cached pages expire.

use super::*;

#[tokio::test]
async fn every_change_that_pages_show_is_counted() {
    on_both(async |store| {
        let mut last = store.changes().await.unwrap();
        let counted = async |what: &str, expect: bool, last: &mut i64| {
            let now = store.changes().await.unwrap();
            assert_eq!(now > *last, expect, "{what}");
            *last = now;
        };
        store.put_task("s", 0, &task("a")).await.unwrap();
        counted("a task", true, &mut last).await;
        let id = run(&store, &[("a", 1.0)]).await;
        counted("a run", true, &mut last).await;
        let claim = store.claim("w/1", 60_000).await.unwrap().unwrap();
        counted("a run that begins", true, &mut last).await;
        store
            .heartbeat(&claim.evolution_id, "w/1", 60_000)
            .await
            .unwrap();
        let architect = step(1, Role::Architect, StepOutcome::Done);
        let record = StepToRecord {
            step: &architect,
            iteration: None,
            next: Ok(at(1, Role::Programmer)),
        };
        store.record_step(&claim, "w/1", &record).await.unwrap();
        counted("a step in between", false, &mut last).await;
        let ended = StepToRecord {
            step: &architect,
            iteration: None,
            next: Err((Ending::AgentGaveUp, None)),
        };
        store.record_step(&claim, "w/1", &ended).await.unwrap();
        counted("an evolution that ends", true, &mut last).await;
        let provenance = store.provenance(&id).await.unwrap();
        store.put_recounts(&id, &provenance, &[]).await.unwrap();
        counted("a run counted anew", true, &mut last).await;
    })
    .await;
}
