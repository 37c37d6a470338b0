//! Imported runs and recounts.

use swe_ci_core::finding::Decision;
use swe_ci_core::results::Change;
use swe_ci_core::run::{HarnessConfig, Kind};
use swe_ci_views::account::Standing;
use swe_ci_views::view::ImportedFrom;

use super::*;
use crate::FindingDecision;

pub(super) fn imported(digest: &str, passes: &[u32]) -> ImportedRun {
    let iterations: Vec<IterationRow> = (1..)
        .zip(passes)
        .map(|(iteration, passed)| IterationRow {
            iteration,
            verdict: Verdict::Scored {
                in_target: *passed,
                passed: *passed,
                lost: 0,
            },
            gained: 0,
            outcomes: Outcomes::from_letters(String::new()),
            collapse: None,
            findings: Vec::new(),
            code: String::new(),
            test_seconds: 0.0,
            finished_at: 1_000,
            contradicted: None,
        })
        .collect();
    let mut config = RunConfig::human("s");
    config.kind = Kind::Imported;
    config.harness = HarnessConfig::Elsewhere {
        program: "iflow".into(),
    };
    ImportedRun {
        source: "reference/exp".into(),
        standing: Standing::default(),
        submission: None,
        config,
        provenance: Provenance {
            imported: Some(ImportedFrom {
                layout: "reference".into(),
                experiment: "exp".into(),
                digest: digest.into(),
                notes: vec!["a note".into()],
            }),
            ..Provenance::default()
        },
        tasks: vec![task("a"), task("b")],
        evolutions: vec![ImportedEvolution {
            task_id: TaskId::new("a").unwrap(),
            sample: 1,
            suite: Suite::counts_only(SuiteCounts::counts_only(10, 10)),
            ending: Ending::CutShort,
            reason: Some("it ends there".into()),
            steps: vec![step(1, Role::Architect, StepOutcome::Done)],
            iterations,
        }],
    }
}

/// More rows than one statement takes: all of them, in order.
#[tokio::test]
async fn long_evolutions_are_imported_whole() {
    on_both(async |store| {
        let mut run = imported("d", &[7; 1_000]);
        let steps = (1..=1_000).map(|n| step(n, Role::Architect, StepOutcome::Done));
        run.evolutions[0].steps = steps.collect();
        let (id, _) = store.put_import(&run).await.unwrap();
        let evolution = &store.evolutions_of_run(&id).await.unwrap()[0];
        let steps = store.steps(&evolution.id).await.unwrap();
        assert!(steps.iter().map(|step| step.iteration).eq(1..=1_000));
        let iterations = store.iterations(&evolution.id).await.unwrap();
        assert!(iterations.iter().map(|row| row.iteration).eq(1..=1_000));
    })
    .await;
}

#[tokio::test]
async fn repeated_imports_make_one_run() {
    on_both(async |store| {
        let (id, put) = store.put_import(&imported("d1", &[12])).await.unwrap();
        assert_eq!(put, Change::New);
        let again = store.put_import(&imported("d1", &[12])).await.unwrap();
        assert_eq!(again, (id.clone(), Change::Unchanged));
        // What was imported before there were audits waits for one.
        sqlx::query(
            "INSERT INTO evolution_audits (evolution_id, worker, claimed_until, holds_rank, found)
             SELECT id, '', 0, 0, '' FROM evolutions",
        )
        .execute(&store.pool)
        .await
        .unwrap();
        let grown = store.put_import(&imported("d2", &[12, 15])).await.unwrap();
        assert_eq!(grown, (id.clone(), Change::Replaced));

        let evolutions = store.evolutions_of_run(&id).await.unwrap();
        assert_eq!(evolutions.len(), 1);
        let evolution = &evolutions[0];
        assert_eq!(evolution.ending, Some(Ending::CutShort));
        assert_eq!(evolution.counts, SuiteCounts::counts_only(10, 10));
        assert_eq!(store.iterations(&evolution.id).await.unwrap().len(), 2);
        let steps = store.steps(&evolution.id).await.unwrap();
        assert_eq!(steps[0].usage.unwrap().output_tokens, 1 << 40);
        let totals = store.totals_of_run(&id).await.unwrap();
        assert_eq!(totals.usage(), steps[0].usage);
        assert_eq!(totals.findings, 0);
        assert_eq!(store.verdicts_of_run(&id).await.unwrap().len(), 2);
        let split = store.tasks_of_split("s").await.unwrap();
        assert_eq!(split.len(), 2);
        // Workers never claim its evolutions.
        assert_eq!(store.claim("w", 1_000).await.unwrap(), None);
        let config = store.run(&id).await.unwrap().config;
        assert_eq!(config.harness.name(), "iflow");
    })
    .await;
}

/// Other results have other findings, in the same places.
#[tokio::test]
async fn an_import_of_other_results_forgets_decisions() {
    on_both(async |store| {
        let suspicious = |digest| {
            let mut run = imported(digest, &[12]);
            let findings = &mut run.evolutions[0].iterations[0].findings;
            findings.push(Finding::suspicious(FindingKind::Report, "odd"));
            run
        };
        let (id, _) = store.put_import(&suspicious("d1")).await.unwrap();
        let finding = store.open_findings().await.unwrap().remove(0);
        let decided = FindingDecision {
            decision: Decision::Cleared,
            reason: "read it",
        };
        store
            .review_finding(&id, &finding.finding_id, decided, &Actor::Operator)
            .await
            .unwrap();
        assert!(store.open_findings().await.unwrap().is_empty());
        store.put_import(&suspicious("d1")).await.unwrap();
        assert!(store.open_findings().await.unwrap().is_empty());
        let again = store.put_import(&suspicious("d2")).await.unwrap();
        assert_eq!(again, (id, Change::Replaced));
        assert_eq!(store.open_findings().await.unwrap().len(), 1);
    })
    .await;
}

#[tokio::test]
async fn a_contradicting_import_writes_nothing() {
    on_both(async |store| {
        store.put_task("s", 0, &task("a")).await.unwrap();
        let refused = store.put_import(&imported("d", &[12])).await;
        assert!(matches!(refused, Err(Error::Invalid(why)) if why.contains("no task `b`")));
        store.put_task("s", 1, &task("b")).await.unwrap();
        let mut other = imported("d", &[12]);
        other.tasks[1].target_sha = "c".repeat(40);
        let refused = store.put_import(&other).await;
        assert!(matches!(refused, Err(Error::Invalid(why)) if why.contains("`b` is known as")));
        let runs = store.runs(&Whose::All, &RunFilter::default(), "", 10).await;
        assert!(runs.unwrap().is_empty());
        // A shortened commit id is the same commit.
        let mut short = imported("d", &[12]);
        short.tasks[1].target_sha = "bbbbbbbb".into();
        store.put_import(&short).await.unwrap();
    })
    .await;
}

#[tokio::test]
async fn recounts_are_written_with_their_version() {
    on_both(async |store| {
        let (id, _) = store.put_import(&imported("d", &[12])).await.unwrap();
        let evolution = store.evolutions_of_run(&id).await.unwrap().remove(0);
        let verdict = Verdict::Scored {
            in_target: 11,
            passed: 12,
            lost: 1,
        };
        let change = IterationRow {
            verdict,
            gained: 2,
            ..store.iterations(&evolution.id).await.unwrap().remove(0)
        };
        let mut provenance = store.provenance(&id).await.unwrap();
        provenance.metric_version = 9;
        store
            .put_recounts(&id, &provenance, &[(evolution.id.clone(), change)])
            .await
            .unwrap();
        let row = store.iterations(&evolution.id).await.unwrap().remove(0);
        assert_eq!((row.verdict, row.gained), (verdict, 2));
        assert_eq!(store.provenance(&id).await.unwrap().metric_version, 9);
        assert_eq!(store.finished_runs().await.unwrap(), [id]);
    })
    .await;
}
