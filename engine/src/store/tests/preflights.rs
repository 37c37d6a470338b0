//! Runs that are tried before they begin.

use swe_ci_core::preflight::{Finding, PreflightState};

use super::*;

const BY: &Actor = &Actor::Operator;

fn finding(good: bool) -> Finding {
    Finding {
        subject: "agents".into(),
        good,
        says: "the provider answers 401".into(),
        advice: vec!["store the key again".into()],
        last_lines: Vec::new(),
    }
}

async fn state(store: &Store, run_id: &str) -> Option<PreflightState> {
    let found = store.preflight(run_id).await.unwrap();
    found.map(|found| found.state)
}

#[tokio::test]
async fn nothing_is_begun_before_it_is_over() {
    on_both(async |store| {
        let run_id = queue(&store, &[("a", 1.0)], true).await;
        let claim = async || store.claim("w/1", 60_000).await.unwrap();
        assert_eq!(store.next_preflight().await.unwrap(), Some(run_id.clone()));
        assert_eq!(claim().await, None);
        // One bad finding is enough.
        let findings = [finding(true), finding(false)];
        assert!(store.end_preflight(&run_id, &findings).await.unwrap());
        let failed = store.preflight(&run_id).await.unwrap().unwrap();
        assert_eq!(failed.state, PreflightState::Failed);
        assert_eq!(failed.findings, findings);
        assert_eq!(store.next_preflight().await.unwrap(), None);
        assert_eq!(claim().await, None);

        let again = PreflightState::Waiting;
        assert!(store.set_preflight(&run_id, again, BY).await.unwrap());
        assert!(!store.set_preflight(&run_id, again, BY).await.unwrap());
        assert_eq!(store.next_preflight().await.unwrap(), Some(run_id.clone()));
        assert!(
            store
                .end_preflight(&run_id, &[finding(true)])
                .await
                .unwrap()
        );
        assert_eq!(state(&store, &run_id).await, Some(PreflightState::Passed));
        // What went well is neither repeated nor left out.
        assert!(!store.set_preflight(&run_id, again, BY).await.unwrap());
        assert_eq!(claim().await.unwrap().run_id, run_id);
    })
    .await;
}

#[tokio::test]
async fn somebody_may_let_it_go() {
    on_both(async |store| {
        let run_id = queue(&store, &[("a", 1.0)], true).await;
        let skipped = PreflightState::Skipped;
        assert!(store.set_preflight(&run_id, skipped, BY).await.unwrap());
        // The try that was under way comes too late.
        assert!(
            !store
                .end_preflight(&run_id, &[finding(false)])
                .await
                .unwrap()
        );
        assert_eq!(state(&store, &run_id).await, Some(skipped));
        assert!(store.claim("w/1", 60_000).await.unwrap().is_some());
    })
    .await;
}

#[tokio::test]
async fn a_run_that_stands_still_is_not_tried() {
    on_both(async |store| {
        let run_id = queue(&store, &[("a", 1.0)], true).await;
        let pause =
            |paused| move |_, steering| Ok(swe_ci_core::steering::Steering { paused, ..steering });
        store.steer(&run_id, BY, pause(true)).await.unwrap();
        assert_eq!(store.next_preflight().await.unwrap(), None);
        store.steer(&run_id, BY, pause(false)).await.unwrap();
        assert_eq!(store.next_preflight().await.unwrap(), Some(run_id.clone()));
        store.cancel_run(&run_id, BY).await.unwrap();
        assert_eq!(store.next_preflight().await.unwrap(), None);
        // What a cancelled run left behind is taken up to be ended.
        let plain = run(&store, &[("b", 1.0)]).await;
        assert_eq!(state(&store, &plain).await, None);
    })
    .await;
}
