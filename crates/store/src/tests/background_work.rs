//! Work that pages start and workers carry out.

use swe_ci_views::background::{BackgroundWork, WorkKind, WorkState};

use super::*;

const BY: &Actor = &Actor::Operator;

async fn state(store: &Store, kind: WorkKind, object: &str) -> Option<(WorkState, String)> {
    let work = store.background_work(kind, object).await.unwrap();
    work.map(
        |BackgroundWork {
             state, progress, ..
         }| (state, progress),
    )
}

#[tokio::test]
async fn background_work_is_done_one_after_the_other() {
    on_both(async |store| {
        let kind = WorkKind::Verification;
        let queue = async |object: &str| store.queue_work(kind, object, "{}", BY).await;
        assert_eq!(state(&store, kind, "b").await, None);
        assert!(store.begin_work(kind).await.unwrap().is_none());
        queue("b").await.unwrap();
        assert!(matches!(queue("b").await, Err(Error::Conflict(_))));
        queue("a").await.unwrap();
        sqlx::query("UPDATE background_work SET asked_at = CASE object WHEN 'b' THEN 1 ELSE 2 END")
            .execute(&store.pool)
            .await
            .unwrap();
        let queued = Some((WorkState::Queued, String::new()));
        assert_eq!(state(&store, kind, "b").await, queued);
        assert!(store.begin_work(WorkKind::Judge).await.unwrap().is_none());

        let first = store.begin_work(kind).await.unwrap().unwrap();
        assert_eq!((first.object.as_str(), first.tries), ("b", 1));
        assert_eq!((first.work.as_str(), &first.actor), ("{}", BY));
        store.note_progress(&first, "1 of 2").await.unwrap();
        let working = Some((WorkState::Working, "1 of 2".to_owned()));
        assert_eq!(state(&store, kind, "b").await, working);
        assert!(matches!(queue("b").await, Err(Error::Conflict(_))));

        // Its worker stops, and the next one dies.
        store.put_back_work(&first).await.unwrap();
        assert_eq!(state(&store, kind, "b").await, queued);
        let dead = store.begin_work(kind).await.unwrap().unwrap();
        assert_eq!(dead.tries, 1);
        let again = store.begin_work(kind).await.unwrap().unwrap();
        assert_eq!((again.object.as_str(), again.tries), ("b", 2));

        // A worker that comes back late changes nothing that another one does.
        store.note_progress(&dead, "1 of 2").await.unwrap();
        store.end_work(&dead, Err("late")).await.unwrap();
        store.put_back_work(&dead).await.unwrap();
        let working = Some((WorkState::Working, String::new()));
        assert_eq!(state(&store, kind, "b").await, working);
        store.end_work(&again, Ok("2 of 2")).await.unwrap();
        let result = "2 of 2".to_owned();
        let done = Some((WorkState::Done { result }, String::new()));
        assert_eq!(state(&store, kind, "b").await, done);

        store.note_progress(&dead, "1 of 2").await.unwrap();
        store.put_back_work(&dead).await.unwrap();
        assert_eq!(state(&store, kind, "b").await, done);

        let next = store.begin_work(kind).await.unwrap().unwrap();
        assert_eq!(next.object, "a");
        store.end_work(&next, Err("no engine")).await.unwrap();
        let reason = "no engine".to_owned();
        let failed = Some((WorkState::Failed { reason }, String::new()));
        assert_eq!(state(&store, kind, "a").await, failed);
        queue("a").await.unwrap();
        let again = store.begin_work(kind).await.unwrap().unwrap();
        assert_eq!(again.tries, 1);

        // Nor what was asked for later, though its tries begin anew.
        store.end_work(&next, Err("late")).await.unwrap();
        let working = Some((WorkState::Working, String::new()));
        assert_eq!(state(&store, kind, "a").await, working);
    })
    .await;
}
