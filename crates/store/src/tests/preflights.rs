//! Preflights of runs.

use swe_ci_views::preflight::{Finding, PreflightState};

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
    let preflight = store.preflight(run_id).await.unwrap();
    preflight.map(|preflight| preflight.state)
}

#[tokio::test]
async fn no_evolution_starts_before_the_preflight_ends() {
    on_both(async |store| {
        let run_id = queue(&store, &[("a", 1.0)], true).await;
        let claim = async || store.claim("w/1", 60_000).await.unwrap();
        assert_eq!(store.next_preflight().await.unwrap(), Some(run_id.clone()));
        assert_eq!(claim().await, None);
        // One bad finding fails it.
        let findings = [finding(true), finding(false)];
        assert!(store.end_preflight(&run_id, &findings).await.unwrap());
        let failed = store.preflight(&run_id).await.unwrap().unwrap();
        assert_eq!(failed.state, PreflightState::Failed);
        assert_eq!(failed.findings, findings);
        assert_eq!(store.run(&run_id).await.unwrap().preflight, Some(failed));
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
        // A passed preflight is neither repeated nor skipped.
        assert!(!store.set_preflight(&run_id, again, BY).await.unwrap());
        assert_eq!(claim().await.unwrap().run_id, run_id);
    })
    .await;
}

#[tokio::test]
async fn a_preflight_can_be_skipped() {
    on_both(async |store| {
        let run_id = queue(&store, &[("a", 1.0)], true).await;
        let skipped = PreflightState::Skipped;
        assert!(store.set_preflight(&run_id, skipped, BY).await.unwrap());
        // The preflight that was running is too late.
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
async fn a_paused_run_gets_no_preflight() {
    on_both(async |store| {
        let run_id = queue(&store, &[("a", 1.0)], true).await;
        let pause =
            |paused| move |_, steering| Ok(swe_ci_views::steering::Steering { paused, ..steering });
        store.steer(&run_id, BY, pause(true)).await.unwrap();
        assert_eq!(store.next_preflight().await.unwrap(), None);
        store.steer(&run_id, BY, pause(false)).await.unwrap();
        assert_eq!(store.next_preflight().await.unwrap(), Some(run_id.clone()));
        store.cancel_run(&run_id, BY).await.unwrap();
        assert_eq!(store.next_preflight().await.unwrap(), None);
        // Evolutions of a cancelled run are claimed to be ended.
        let plain = run(&store, &[("b", 1.0)]).await;
        assert_eq!(state(&store, &plain).await, None);
    })
    .await;
}
