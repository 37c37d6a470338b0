//! What came of checking runs, and the mark that rests on it.

use super::*;
use swe_ci_core::verification::{Difference, Mark, Otherwise, Verification, Verified};

fn found(differences: Vec<Difference>) -> Verification {
    Verification {
        at: "2026-11-20T14:00:00Z".into(),
        by: "operator".into(),
        platform_version: "0.1.0".into(),
        checked: 2,
        iterations: 2,
        differences,
    }
}

fn difference() -> Difference {
    Difference {
        evolution_id: "e".into(),
        task_id: TaskId::new("a").unwrap(),
        sample: 1,
        iteration: 1,
        what: Otherwise::Ran,
    }
}

#[tokio::test]
async fn a_mark_rests_on_the_last_check() {
    on_both(async |store| {
        let id = run(&store, &[("a", 1.0)]).await;
        let by = Actor::Operator;
        let mark = Verified {
            at: "2026-11-21T10:00:00Z".into(),
            by: "ada".into(),
        };
        let refused = store.mark_verified(&id, &mark, &by).await;
        assert!(matches!(refused, Err(Error::Conflict(_))), "{refused:?}");
        store
            .put_verification(&id, &found(vec![]), &by)
            .await
            .unwrap();
        store.mark_verified(&id, &mark, &by).await.unwrap();
        // Who said it first stays.
        let again = Verified {
            by: "bob".into(),
            ..mark.clone()
        };
        store.mark_verified(&id, &again, &by).await.unwrap();
        assert_eq!(store.verified(&id).await.unwrap(), Some(mark.clone()));
        assert_eq!(store.run(&id).await.unwrap().mark, Some(Mark::Verified));

        // Checked again, it stays as long as nothing comes out otherwise.
        store
            .put_verification(&id, &found(vec![]), &by)
            .await
            .unwrap();
        assert!(store.verified(&id).await.unwrap().is_some());
        let differs = found(vec![difference()]);
        store.put_verification(&id, &differs, &by).await.unwrap();
        assert_eq!(store.verified(&id).await.unwrap(), None);
        assert_eq!(store.run(&id).await.unwrap().mark, None);
        let refused = store.mark_verified(&id, &mark, &by).await;
        assert!(matches!(refused, Err(Error::Conflict(_))), "{refused:?}");

        store
            .put_verification(&id, &found(vec![]), &by)
            .await
            .unwrap();
        store.mark_verified(&id, &mark, &by).await.unwrap();
        store.unmark(&id, &by).await.unwrap();
        store.unmark(&id, &by).await.unwrap();
        assert_eq!(store.verified(&id).await.unwrap(), None);
        let refused = store.mark_verified("none", &mark, &by).await;
        assert!(
            matches!(refused, Err(Error::NotFound { .. })),
            "{refused:?}"
        );
    })
    .await;
}
