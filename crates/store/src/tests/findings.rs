//! Findings, and the decisions about them.

use swe_ci_core::finding::{Decision, Grade, Unranked};
use swe_ci_views::account::AccountRole;
use swe_ci_views::finding::{FindingId, unranked};

use super::*;
use crate::FindingDecision;
use crate::testing::account;

fn suspicious(text: &str) -> Finding {
    Finding::suspicious(FindingKind::Construct, text)
}

/// A run of one tested iteration with these findings; the id of its evolution.
async fn tested(store: &Store, run_id: &str, findings: Vec<Finding>) -> String {
    let claim = store.claim("w/1", 60_000).await.unwrap().unwrap();
    assert_eq!(claim.run_id, run_id);
    let iteration = IterationRow {
        findings,
        ..all_passed("code/x")
    };
    let record = StepToRecord {
        step: &step(1, Role::Test, StepOutcome::Scored { solved: true }),
        iteration: Some(&iteration),
        next: Err((Ending::Solved, None)),
    };
    store.record_step(&claim, "w/1", &record).await.unwrap();
    claim.evolution_id
}

#[tokio::test]
async fn suspicious_findings_are_decided() {
    on_both(async |store| {
        let run_id = run(&store, &[("a", 1.0)]).await;
        let note = Finding::note(FindingKind::Steering, "a suspicious conftest.py");
        let findings = vec![note, suspicious("reads the report"), suspicious("exits")];
        let evolution_id = tested(&store, &run_id, findings.clone()).await;
        let id = |number| FindingId {
            evolution_id: evolution_id.clone(),
            iteration: 1,
            number,
        };

        let found = store.findings_of_run(&run_id).await.unwrap();
        let seen: Vec<Finding> = found.iter().map(|f| f.finding.clone()).collect();
        assert_eq!(seen, findings);
        assert_eq!(found[1].finding_id, id(2));
        assert_eq!(
            unranked(&RunConfig::human("s"), None, &found),
            Some(Unranked::HeldForReview { open: 2 })
        );
        let open = store.open_findings().await.unwrap();
        assert_eq!(open, found[1..], "a note is no suspicion");
        let of_split = store.suspicions_of_split("s").await.unwrap();
        assert_eq!(of_split[&run_id], found[1..]);
        assert!(store.suspicions_of_split("t").await.unwrap().is_empty());

        // Each decision counts as a change of the pages.
        let before = store.changes().await.unwrap();
        let clear = FindingDecision {
            decision: Decision::Cleared,
            reason: "a test of the command line",
        };
        let confirm = FindingDecision {
            decision: Decision::Confirmed,
            reason: "it patches pytest",
        };
        let by = Actor::Operator;
        store
            .review_finding(&run_id, &id(2), confirm, &by)
            .await
            .unwrap();
        assert!(store.changes().await.unwrap() > before);
        let found = store.findings_of_run(&run_id).await.unwrap();
        let text = "reads the report".to_owned();
        assert_eq!(
            unranked(&RunConfig::human("s"), None, &found),
            Some(Unranked::Confirmed { text })
        );
        assert_eq!(store.open_findings().await.unwrap(), found[2..]);

        // Deciding again replaces the decision, and the log keeps both.
        let ada = account("ada", AccountRole::Admin);
        for number in [2, 3] {
            store
                .review_finding(&run_id, &id(number), clear, &ada)
                .await
                .unwrap();
        }
        let found = store.findings_of_run(&run_id).await.unwrap();
        assert_eq!(unranked(&RunConfig::human("s"), None, &found), None);
        assert_eq!(found[1].grade(), Grade::Note);
        let review = found[1].review.as_ref().unwrap();
        assert_eq!(review.reason, clear.reason);
        assert!(store.open_findings().await.unwrap().is_empty());
        let log = store.audit(Some(&run_id), "", 10).await.unwrap();
        let log: Vec<(&str, &str)> = log
            .iter()
            .map(|entry| (entry.actor.as_str(), entry.action.as_str()))
            .filter(|(_, action)| action.starts_with("finding."))
            .collect();
        assert_eq!(
            log,
            [
                ("ada", "finding.clear"),
                ("ada", "finding.clear"),
                ("operator", "finding.confirm")
            ]
        );
    })
    .await;
}

#[tokio::test]
async fn only_suspicious_findings_of_the_run_are_decided() {
    on_both(async |store| {
        let run_id = run(&store, &[("a", 1.0)]).await;
        let note = Finding::note(FindingKind::Steering, "conftest.py differs");
        let tampered = Finding::tampered(FindingKind::Canary, "a canary is missing");
        let findings = vec![note, tampered, suspicious("exits")];
        let evolution_id = tested(&store, &run_id, findings).await;
        let decide = async |run: &str, id: &str| {
            let decided = FindingDecision {
                decision: Decision::Cleared,
                reason: "read it",
            };
            let id: FindingId = id.parse().unwrap();
            let done = store.review_finding(run, &id, decided, &Actor::Operator);
            done.await.err()
        };
        let check = async |id: &str, conflict: bool| {
            let refused = decide(&run_id, id).await;
            let as_expected = match refused {
                Some(Error::Conflict(_)) => conflict,
                Some(Error::NotFound { .. }) => !conflict,
                _ => false,
            };
            assert!(as_expected, "{id}: {refused:?}");
        };
        check(&format!("{evolution_id}.1.1"), true).await;
        check(&format!("{evolution_id}.1.2"), true).await;
        check(&format!("{evolution_id}.1.4"), false).await;
        check(&format!("{evolution_id}.2.1"), false).await;
        check("none.1.1", false).await;
        let refused = decide("none", &format!("{evolution_id}.1.3")).await;
        assert!(matches!(refused, Some(Error::NotFound { .. })));
        let done = decide(&run_id, &format!("{evolution_id}.1.3")).await;
        assert!(done.is_none(), "{done:?}");
    })
    .await;
}

/// The first edition wrote a list of texts.
#[tokio::test]
async fn findings_without_a_grade_are_notes() {
    on_both(async |store| {
        let run_id = run(&store, &[("a", 1.0)]).await;
        tested(&store, &run_id, Vec::new()).await;
        sqlx::query("UPDATE iterations SET findings = '[\"a suspicious conftest.py\"]'")
            .execute(&store.pool)
            .await
            .unwrap();
        let found = store.findings_of_run(&run_id).await.unwrap();
        let expect = Finding::note(FindingKind::Other, "a suspicious conftest.py");
        assert_eq!(found[0].finding, expect);
        assert_eq!(unranked(&RunConfig::human("s"), None, &found), None);
        assert!(store.open_findings().await.unwrap().is_empty());
        let rows = store.iterations_of_run(&run_id).await.unwrap();
        assert_eq!(rows[0].1.findings, [expect]);
    })
    .await;
}
