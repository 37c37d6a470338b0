//! Runs graded again, and the run that stands for a result.

use swe_ci_core::finding::Unranked;
use swe_ci_views::account::Visibility;

use super::*;
use crate::NewRegrade;
use crate::sql::query;

async fn regrade(store: &Store, original: &str) -> String {
    let evolutions = store.evolutions_of_run(original).await.unwrap();
    let regrade = NewRegrade {
        original: original.to_owned(),
        provenance: Provenance::default(),
        evolutions: evolutions.into_iter().map(|row| row.id).collect(),
    };
    store
        .insert_regrade(&regrade, &Actor::Operator)
        .await
        .unwrap()
}

async fn finish(store: &Store, run_id: &str) {
    query("UPDATE runs SET progress = 'finished', visibility = 'public' WHERE id = $1")
        .with(run_id)
        .run(&store.pool)
        .await
        .unwrap();
}

#[tokio::test]
async fn one_run_stands_for_a_result() {
    on_both(async |store| {
        let original = run(&store, &[("a", 1.0), ("b", 1.0)]).await;
        finish(&store, &original).await;
        let first = regrade(&store, &original).await;
        let summary = store.run(&first).await.unwrap();
        assert_eq!(summary.regraded_from.as_deref(), Some(original.as_str()));
        assert_eq!(summary.evolutions, 2);
        let execute = store.run_to_execute(&first).await.unwrap();
        assert_eq!(execute.regrades.as_deref(), Some(original.as_str()));

        let stands = async |id: &str| {
            let summary = store.run(id).await.unwrap();
            let leaderboard = store.leaderboard_run(id).await.unwrap();
            assert_eq!(summary.set_aside, leaderboard.set_aside);
            summary.set_aside
        };
        let beside = |id: &str| Some(Unranked::Regraded { run_id: id.into() });
        assert_eq!(stands(&original).await, None);
        assert_eq!(stands(&first).await, beside(&original));
        finish(&store, &first).await;
        assert_eq!(stands(&first).await, beside(&original));

        // A regrade with the content of today stands for runs with other content.
        let after = TaskRow {
            image: "sha256:1".into(),
            ..task("a")
        };
        store.put_task("s", 0, &after).await.unwrap();
        let other = Some(Unranked::OtherRevisions { tasks: 1 });
        assert_eq!(stands(&original).await, other);
        assert_eq!(stands(&first).await, other);
        let today = regrade(&store, &original).await;
        let evolutions = store.evolutions_of_run(&today).await.unwrap();
        assert_eq!(evolutions[0].pinned.as_ref().unwrap().image, "sha256:1");
        finish(&store, &today).await;
        assert_eq!(stands(&today).await, None);
        assert_eq!(stands(&first).await, beside(&today));

        store.put_task("s", 0, &task("a")).await.unwrap();
        assert_eq!(stands(&original).await, None);
        store
            .withdraw(&original, "a mistake", &Actor::Operator)
            .await
            .unwrap();
        let second = regrade(&store, &original).await;
        assert_eq!(stands(&first).await, beside(&today));
        // A run that is withdrawn has private regrades.
        assert_eq!(
            store.run(&second).await.unwrap().visibility,
            Visibility::Private
        );
        finish(&store, &second).await;
        assert_eq!(stands(&first).await, beside(&second));
        assert_eq!(stands(&second).await, None);
        assert_eq!(
            store.regrades_of(&original).await.unwrap(),
            [first, today, second]
        );
        let missing = NewRegrade {
            original: "none".into(),
            provenance: Provenance::default(),
            evolutions: Vec::new(),
        };
        let refused = store.insert_regrade(&missing, &Actor::Operator).await;
        assert!(
            matches!(refused, Err(Error::NotFound { .. })),
            "{refused:?}"
        );
    })
    .await;
}

#[tokio::test]
async fn clearing_marks_a_run_for_ever() {
    on_both(async |store| {
        let id = run(&store, &[("a", 1.0), ("b", 1.0)]).await;
        for ending in ["agent_gave_up", "blocked"] {
            query(
                "UPDATE evolutions SET progress = 'finished', ending = $2 WHERE id =
                     (SELECT min(id) FROM evolutions WHERE run_id = $1 AND ending IS NULL)",
            )
            .with((&id, ending))
            .run(&store.pool)
            .await
            .unwrap();
        }
        finish(&store, &id).await;
        let by = &Actor::Operator;
        let blocked = store.clear(&id, &[Ending::Blocked], by).await.unwrap();
        assert_eq!(blocked.len(), 1);
        assert_eq!(store.run(&id).await.unwrap().cleared, None);
        let gave_up = store.clear(&id, &[Ending::AgentGaveUp], by).await.unwrap();
        assert_eq!(gave_up.len(), 1);
        let summary = store.run(&id).await.unwrap();
        assert_eq!(summary.progress, Progress::Running);
        assert_eq!(summary.cleared.map(|cleared| cleared.evolutions), Some(1));
        assert_eq!(
            summary.set_aside,
            Some(Unranked::RunAgain { evolutions: 1 })
        );
        let steps = store.steps(&gave_up[0]).await.unwrap();
        let outcomes: Vec<StepOutcome> = steps.iter().map(|step| step.outcome).collect();
        assert_eq!(outcomes, [StepOutcome::Cleared]);
        // Its regrades inherit the mark.
        let again = regrade(&store, &id).await;
        let again = store.run(&again).await.unwrap();
        assert_eq!(again.cleared.map(|cleared| cleared.evolutions), Some(1));
    })
    .await;
}
