//! Submitted runs and outside results.

use swe_ci_views::account::{AccountRole, Standing, Visibility};
use swe_ci_views::leaderboard::{Published, PublishedRow};
use swe_ci_views::submitted::ReviewDecision;

use super::imports::imported;
use super::*;
use crate::NewSubmission;
use crate::testing::account;

#[tokio::test]
async fn a_submitted_run_is_private_and_decided_once() {
    on_both(async |store| {
        let mut run = imported("d", &[12]);
        run.standing = Standing {
            owner: Some("ada".into()),
            visibility: Visibility::Private,
        };
        run.submission = Some(NewSubmission {
            account: "ada".into(),
            signer: "key".into(),
            digest: "d".into(),
        });
        let (id, _) = store.put_import(&run).await.unwrap();
        assert_eq!(store.standing(&id).await.unwrap(), run.standing);
        let found = store.submitted_run(&id).await.unwrap().unwrap();
        assert_eq!((&*found.account, &*found.split), ("ada", "s"));
        assert_eq!(found.decision, None);
        assert_eq!(store.submitted_runs(Some("bob")).await.unwrap(), []);
        assert_eq!(store.submitted_runs(None).await.unwrap().len(), 1);
        let owner = store.other_owner_of_key("key", "bob").await.unwrap();
        assert_eq!(owner.as_deref(), Some("ada"));
        assert_eq!(store.other_owner_of_key("key", "ada").await.unwrap(), None);
        assert_eq!(
            store.run_of_submission("d").await.unwrap(),
            Some(id.clone())
        );

        let root = account("root", AccountRole::Admin);
        let decision = ReviewDecision {
            published: false,
            by: "root".into(),
            reason: "why".into(),
        };
        store
            .decide_submission(&id, &decision, &root)
            .await
            .unwrap();
        let again = store.decide_submission(&id, &decision, &root).await;
        assert!(matches!(again, Err(Error::Conflict(_))), "{again:?}");
        let found = store.submitted_run(&id).await.unwrap().unwrap();
        assert_eq!(found.decision.as_ref(), Some(&decision));
        assert_eq!(store.standing(&id).await.unwrap(), run.standing);
        store.delete_run(&id, &root).await.unwrap();
        assert_eq!(store.submitted_run(&id).await.unwrap(), None);

        let (id, _) = store.put_import(&run).await.unwrap();
        let decision = ReviewDecision {
            published: true,
            ..decision
        };
        store
            .decide_submission(&id, &decision, &root)
            .await
            .unwrap();
        let standing = store.standing(&id).await.unwrap();
        assert_eq!(standing.visibility, Visibility::Public);
    })
    .await;
}

#[tokio::test]
async fn outside_results_replace_earlier_ones() {
    on_both(async |store| {
        store.put_import(&imported("d", &[12])).await.unwrap();
        assert_eq!(store.outside_results("s").await.unwrap(), None);
        for evoscore in [0.25, 0.5] {
            let row = PublishedRow {
                model: "m".into(),
                provider: "p".into(),
                release_date: String::new(),
                evoscore,
                zero_regression_rate: None,
            };
            let results = Published {
                split: "s".into(),
                rows: vec![row],
                ..Published::default()
            };
            store.put_outside_results("s", &results).await.unwrap();
            assert_eq!(store.outside_results("s").await.unwrap(), Some(results));
        }
    })
    .await;
}
