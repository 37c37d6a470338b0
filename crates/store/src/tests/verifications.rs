//! Verifications of runs, and the marks that depend on them.

use swe_ci_views::verification::{
    Difference, GradedIteration, Mark, Otherwise, Verification, Verified,
};

use super::*;

fn verification(differences: Vec<Difference>) -> Verification {
    Verification {
        at: "2026-11-20T14:00:00Z".into(),
        by: "operator".into(),
        platform_version: "0.1.0".into(),
        checked: 2,
        iterations: 2,
        differences,
        findings: Vec::new(),
    }
}

fn difference() -> Difference {
    let at = GradedIteration {
        evolution_id: "e".into(),
        task_id: TaskId::new("a").unwrap(),
        sample: 1,
        iteration: 1,
    };
    Difference {
        at,
        what: Otherwise::Ran,
    }
}

#[tokio::test]
async fn a_mark_depends_on_the_latest_verification() {
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
            .put_verification(&id, &verification(vec![]), &by)
            .await
            .unwrap();
        store.mark_verified(&id, &mark, &by).await.unwrap();
        // The first administrator to mark it stays recorded.
        let again = Verified {
            by: "bob".into(),
            ..mark.clone()
        };
        store.mark_verified(&id, &again, &by).await.unwrap();
        assert_eq!(store.verified(&id).await.unwrap(), Some(mark.clone()));
        assert_eq!(store.run(&id).await.unwrap().mark, Some(Mark::Verified));

        // Another verification keeps the mark as long as it finds no
        // differences.
        store
            .put_verification(&id, &verification(vec![]), &by)
            .await
            .unwrap();
        assert!(store.verified(&id).await.unwrap().is_some());
        let differs = verification(vec![difference()]);
        store.put_verification(&id, &differs, &by).await.unwrap();
        assert_eq!(store.verified(&id).await.unwrap(), None);
        assert_eq!(store.run(&id).await.unwrap().mark, None);
        let refused = store.mark_verified(&id, &mark, &by).await;
        assert!(matches!(refused, Err(Error::Conflict(_))), "{refused:?}");

        store
            .put_verification(&id, &verification(vec![]), &by)
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
