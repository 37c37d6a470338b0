//! Curations: results stay, and an ended curation stays ended.

use swe_ci_views::account::Actor;
use swe_ci_views::curation::{BuildAttempt, CurationState, Fate};

use super::*;
use crate::{CandidateRow, CuratedRepository};

fn candidate(task: &str, lines: u32) -> CandidateRow {
    CandidateRow {
        task_id: task.into(),
        repository: 1,
        base_sha: "a".repeat(40),
        target_sha: "b".repeat(40),
        commits: 7,
        days: 12.5,
        modified_lines: lines,
        environment: Fate::Waiting,
        filtered: Fate::Waiting,
        image: String::new(),
        attempts: Vec::new(),
        prepared: None,
    }
}

#[tokio::test]
async fn results_of_a_curation_stay() {
    on_both(async |store| {
        store
            .put_curation("c1", "mine", "plan", &Actor::Operator)
            .await
            .unwrap();
        let sources = [("one", "{}"), ("two", "{}")].map(|(n, s)| (n.to_owned(), s.to_owned()));
        store
            .put_curated_repositories("c1", &sources)
            .await
            .unwrap();
        // A repetition changes nothing.
        store
            .put_curated_repositories("c1", &sources)
            .await
            .unwrap();
        let mut repositories = store.curated_repositories("c1").await.unwrap();
        assert_eq!(repositories.len(), 2);
        assert_eq!(
            (&repositories[0].fate, &repositories[0].spans),
            (&Fate::Waiting, &None)
        );
        let two = CuratedRepository {
            fate: Fate::Survived,
            licence: Some("MIT".into()),
            commits: 90,
            spans: Some(vec![("too few lines".into(), 3)]),
            ..repositories.remove(1)
        };
        let inserted = [candidate("small", 10), candidate("large", 900)];
        store.put_found("c1", &two, &inserted).await.unwrap();
        assert_eq!(store.curated_repositories("c1").await.unwrap()[1], two);
        let mut candidates = store.candidates("c1").await.unwrap();
        let names: Vec<&str> = candidates.iter().map(|c| c.task_id.as_str()).collect();
        assert_eq!(names, ["large", "small"]);
        let mut large = candidates.remove(0);
        large.environment = Fate::Survived;
        large.filtered = Fate::dropped("small gap", "a gap of 1");
        large.image = "sha256:1".into();
        large.attempts = vec![BuildAttempt {
            change: String::new(),
            outcome: "it runs".into(),
            seconds: 1.5,
            dockerfile: vec!["FROM base".into()],
        }];
        large.prepared = Some(task("large"));
        store.put_candidate("c1", &large).await.unwrap();
        let stored = store.candidates("c1").await.unwrap().remove(0);
        assert_eq!(
            (
                stored.environment,
                stored.filtered,
                stored.image,
                stored.attempts
            ),
            (
                large.environment,
                large.filtered,
                large.image,
                large.attempts
            )
        );
        assert_eq!(stored.prepared.unwrap().suite, task("large").suite);
    })
    .await;
}

#[tokio::test]
async fn a_decision_is_made_once() {
    on_both(async |store| {
        let by = Actor::Operator;
        store.put_curation("c1", "c1", "plan", &by).await.unwrap();
        let sources = [("one".to_owned(), "{}".to_owned())];
        store
            .put_curated_repositories("c1", &sources)
            .await
            .unwrap();
        let found = store.curated_repositories("c1").await.unwrap().remove(0);
        let tasks = [candidate("kept", 2), candidate("dropped", 1)];
        store.put_found("c1", &found, &tasks).await.unwrap();
        let decided = || {
            let [mut kept, mut dropped] = tasks.clone();
            kept.filtered = Fate::Survived;
            dropped.filtered = Fate::dropped("dropped in review", "small");
            [kept, dropped]
        };
        // Not while it runs.
        let decide = async || store.decide_curation("c1", &decided(), &by).await.unwrap();
        assert!(!decide().await);
        let review = CurationState::InReview;
        assert!(store.move_curation("c1", &review).await.unwrap());
        let row = store.curation("c1").await.unwrap();
        assert_eq!(
            (&row.state, row.finished_at, row.reviewed_at),
            (&review, None, None)
        );
        assert!(store.next_curation().await.unwrap().is_none(), "it waits");
        let running = CurationState::Running;
        assert!(!store.move_curation("c1", &running).await.unwrap());

        assert!(decide().await);
        assert!(!decide().await);
        let row = store.next_curation().await.unwrap().unwrap();
        assert!(row.reviewed_at.is_some());
        let fates = store.candidates("c1").await.unwrap().into_iter();
        let fates: Vec<Fate> = fates.map(|c| c.filtered).collect();
        assert_eq!(fates, decided().map(|c| c.filtered));
    })
    .await;
}

#[tokio::test]
async fn a_curation_that_is_over_stays_over() {
    on_both(async |store| {
        let by = Actor::Operator;
        for id in ["c1", "c2"] {
            store.put_curation(id, id, "plan", &by).await.unwrap();
        }
        let next = async || store.next_curation().await.unwrap().map(|row| row.id);
        assert_eq!(next().await.as_deref(), Some("c1"));
        let running = CurationState::Running;
        assert!(store.move_curation("c1", &running).await.unwrap());
        assert_eq!(next().await.as_deref(), Some("c1"), "it continues");
        let failed = CurationState::Failed {
            reason: "no task".into(),
        };
        assert!(store.move_curation("c1", &failed).await.unwrap());
        assert!(!store.move_curation("c1", &running).await.unwrap());
        let row = store.curation("c1").await.unwrap();
        assert_eq!(row.state, failed);
        assert!(row.finished_at.is_some());
        assert_eq!(next().await.as_deref(), Some("c2"));
        assert!(store.cancel_curation("c2", &by).await.unwrap());
        assert!(!store.cancel_curation("c2", &by).await.unwrap());
        assert_eq!(next().await, None);
        let ids: Vec<String> = store
            .curations()
            .await
            .unwrap()
            .into_iter()
            .map(|c| c.id)
            .collect();
        assert_eq!(ids.len(), 2);
        assert!(store.curation("c3").await.is_err());
        let actions = store.audit(None, "", 10).await.unwrap();
        let actions: Vec<&str> = actions.iter().map(|entry| entry.action.as_str()).collect();
        assert_eq!(
            actions,
            ["dataset.curate.cancel", "dataset.curate", "dataset.curate"]
        );
    })
    .await;
}
