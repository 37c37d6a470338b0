//! Rescoring of stored runs after a change of the metric definitions. No test
//! runs again: verdicts follow from the reports, or where those are not stored,
//! from the recorded outcomes.

use std::collections::HashMap;

use serde::Serialize;
use swe_ci_base::error::Result;
use swe_ci_core::metrics::{SuiteCounts, Verdict};
use swe_ci_core::outcomes::Outcomes;
use swe_ci_core::report::Report;
use swe_ci_store::{EvolutionRow, IterationRow, Suite};
use swe_ci_views::account::AccountRole;

use crate::api::inspection::report_of;
use crate::{Engine, METRIC_VERSION, as_u32};

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Rescored {
    pub run_id: String,
    pub model: String,
    pub from_version: u32,
    pub to_version: u32,
    pub iterations: u32,
    /// Iterations whose counts changed.
    pub changed: u32,
}

#[swe_ci_boxed::boxed]
impl Engine {
    /// Rescores one run, or all that were scored by older definitions; for
    /// administrators. Each run is written in one transaction; running
    /// evolutions are left to their workers.
    ///
    /// # Errors
    /// [`crate::Error::Conflict`] when that run is still active.
    pub async fn rescore(&self, run_id: Option<&str>) -> Result<Vec<Rescored>> {
        self.require(AccountRole::Admin)?;
        if let Some(id) = run_id {
            return Ok(vec![self.rescore_run(id).await?]);
        }
        let mut rescored = Vec::new();
        for id in self.store.finished_runs().await? {
            if self.store.provenance(&id).await?.metric_version < METRIC_VERSION {
                rescored.push(self.rescore_run(&id).await?);
            }
        }
        Ok(rescored)
    }

    async fn rescore_run(&self, id: &str) -> Result<Rescored> {
        let run = self.store.run(id).await?;
        if !run.progress.is_over() {
            return Err(crate::Error::Conflict(format!(
                "run {id} is {}; it can be rescored when it is over",
                run.progress.name()
            )));
        }
        let mut provenance = self.store.provenance(id).await?;
        let from_version = provenance.metric_version;
        provenance.metric_version = METRIC_VERSION;
        let (mut changes, mut iterations) = (Vec::new(), 0);
        for evolution in self.store.evolutions_of_run(id).await? {
            let (count, changed) = self.recount(&evolution).await?;
            iterations += count;
            changes.extend(changed.into_iter().map(|row| (evolution.id.clone(), row)));
        }
        self.store.put_recounts(id, &provenance, &changes).await?;
        Ok(Rescored {
            run_id: run.run_id,
            model: run.config.model,
            from_version,
            to_version: METRIC_VERSION,
            iterations,
            changed: as_u32(changes.len()),
        })
    }

    /// The number of iterations of an evolution, and those whose counts change.
    async fn recount(&self, evolution: &EvolutionRow) -> Result<(u32, Vec<IterationRow>)> {
        let rows = self.store.iterations(&evolution.id).await?;
        let count = as_u32(rows.len());
        if evolution.counts.counts_only {
            return Ok((count, recount_by_count(evolution.counts, &rows)));
        }
        let suite = self.store.suite(&evolution.suite).await?;
        let steps = self.store.steps(&evolution.id).await?;
        let mut reports = HashMap::new();
        for row in &rows {
            if let Some(key) = report_of(&steps, row.iteration) {
                let report = Report::parse(&self.artifacts.get(&key).await?);
                let report = report.map_err(anyhow::Error::new)?;
                let counted = (Outcomes::of(&suite.tests, &report), report.passed());
                reports.insert(row.iteration, counted);
            }
        }
        Ok((count, recount_by_test(&suite, &rows, &reports)))
    }
}

/// The iterations that count otherwise than they say. Outcomes and passing tests of
/// an iteration are those of its report if that is stored, else as recorded.
pub(crate) fn recount_by_test(
    suite: &Suite,
    rows: &[IterationRow],
    reports: &HashMap<u32, (Outcomes, u32)>,
) -> Vec<IterationRow> {
    let mut before = suite.base_outcomes.clone();
    let mut changed = Vec::new();
    for row in rows {
        let reported = reports.get(&row.iteration).cloned();
        let (outcomes, verdict) = match row.verdict {
            Verdict::Scored { passed, .. } => {
                let (outcomes, passed) = reported.unwrap_or_else(|| (row.outcomes.clone(), passed));
                let verdict = Verdict::Scored {
                    in_target: outcomes.passed(),
                    passed,
                    lost: outcomes.lost_since(&before),
                };
                (outcomes, verdict)
            }
            Verdict::Collapsed { .. } => {
                let lost = row.outcomes.lost_since(&before);
                (row.outcomes.clone(), Verdict::Collapsed { lost })
            }
        };
        let gained = outcomes.gained_since(&before);
        changed.extend(recounted(row, verdict, gained, &outcomes));
        if matches!(verdict, Verdict::Scored { .. }) {
            before = outcomes;
        }
    }
    changed
}

/// Where only counts are known, losses and gains are net.
fn recount_by_count(counts: SuiteCounts, rows: &[IterationRow]) -> Vec<IterationRow> {
    let passed = rows.iter().map(|row| match row.verdict {
        Verdict::Scored { passed, .. } => Some(passed),
        Verdict::Collapsed { .. } => None,
    });
    let mut before = counts.base_in_target;
    let mut changed = Vec::new();
    for (row, verdict) in rows.iter().zip(Verdict::by_count(counts, passed)) {
        let gained = verdict.gained(before);
        changed.extend(recounted(row, verdict, gained, &row.outcomes));
        if let Verdict::Scored { in_target, .. } = verdict {
            before = in_target;
        }
    }
    changed
}

/// An iteration as it counts now, if its counts differ from the old.
fn recounted(
    row: &IterationRow,
    verdict: Verdict,
    gained: u32,
    outcomes: &Outcomes,
) -> Option<IterationRow> {
    let differs = verdict != row.verdict || gained != row.gained || *outcomes != row.outcomes;
    differs.then(|| IterationRow {
        verdict,
        gained,
        outcomes: outcomes.clone(),
        ..row.clone()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Config;
    use swe_ci_base::error::Error;
    use swe_ci_core::outcomes::TestList;
    use swe_ci_core::run::RunConfig;
    use swe_ci_core::step::{Ending, Role, StepOutcome};
    use swe_ci_core::task::TaskId;
    use swe_ci_store::{ImportedEvolution, ImportedRun, StepRow, TaskRow};
    use swe_ci_views::account::Standing;
    use swe_ci_views::view::{Provenance, TaskState};

    /// A report in which the tests a, b, c pass or fail by letter.
    fn report(letters: &str) -> Vec<u8> {
        let tests: Vec<String> = ["a", "b", "c"]
            .iter()
            .zip(letters.chars())
            .map(|(id, letter)| {
                let outcome = if letter == 'p' { "passed" } else { "failed" };
                format!(r#"{{"nodeid": "{id}", "outcome": "{outcome}"}}"#)
            })
            .collect();
        let passed = letters.matches('p').count();
        let tests = tests.join(",");
        format!(r#"{{"exitcode": 1, "summary": {{"passed": {passed}}}, "tests": [{tests}]}}"#)
            .into_bytes()
    }

    fn suite() -> Suite {
        let target = Report::parse(&report("ppp")).unwrap();
        Suite::of(
            TestList::of_target(&target),
            &Report::parse(&report("pff")).unwrap(),
        )
    }

    fn iteration(iteration: u32, verdict: Verdict, letters: &str) -> IterationRow {
        IterationRow {
            iteration,
            verdict,
            gained: 0,
            outcomes: Outcomes::from_letters(letters.into()),
            collapse: None,
            findings: Vec::new(),
            code: String::new(),
            test_seconds: 0.0,
            finished_at: 1,
            contradicted: None,
        }
    }

    fn scored(in_target: u32, passed: u32, lost: u32) -> Verdict {
        Verdict::Scored {
            in_target,
            passed,
            lost,
        }
    }

    /// The test step of the first iteration, whose report is stored at `key`.
    fn tested(key: String) -> StepRow {
        StepRow {
            iteration: 1,
            role: Role::Test,
            attempt: 1,
            outcome: StepOutcome::Scored { solved: false },
            detail: String::new(),
            product: Some(key),
            log: None,
            usage: None,
            traffic: None,
            truncation: None,
            trajectory: None,
            layer: None,
            container: None,
            started_at: 1,
            finished_at: 2,
        }
    }

    /// A run of metric version 0 with one evolution.
    async fn stored(
        engine: &Engine,
        suite: Suite,
        steps: Vec<StepRow>,
        iterations: Vec<IterationRow>,
    ) -> String {
        let task_id = TaskId::new("t").unwrap();
        let run = ImportedRun {
            source: "a test".into(),
            standing: Standing::default(),
            submission: None,
            config: RunConfig::human("s"),
            provenance: Provenance::default(),
            tasks: vec![TaskRow {
                id: task_id.clone(),
                repo: "r".into(),
                base_sha: "a".repeat(40),
                target_sha: "b".repeat(40),
                state: TaskState::Ready,
                image: String::new(),
                suite: suite.clone(),
                base_report: None,
                test_command: Default::default(),
                suite_seconds: 0.0,
                commits: 0,
                span_days: 0.0,
                target_time: None,
                preparation: Default::default(),
                extra: Vec::new(),
            }],
            evolutions: vec![ImportedEvolution {
                task_id,
                sample: 1,
                suite,
                ending: Ending::IterationsSpent,
                reason: None,
                steps,
                iterations,
            }],
        };
        engine.store.put_import(&run).await.unwrap().0
    }

    async fn engine(data: &std::path::Path) -> Engine {
        Engine::open(Config::new(data.to_owned())).await.unwrap()
    }

    async fn iterations(engine: &Engine, run: &str) -> Vec<(Verdict, u32, String)> {
        let rows = engine.store.iterations_of_run(run).await.unwrap();
        rows.into_iter()
            .map(|(_, row)| (row.verdict, row.gained, row.outcomes.letters().to_owned()))
            .collect()
    }

    #[tokio::test]
    async fn the_reports_decide() {
        let folder = tempfile::tempdir().unwrap();
        let engine = engine(folder.path()).await;
        let key = engine
            .artifacts
            .put("r/1.json", report("fpp"))
            .await
            .unwrap();
        let test = tested(key);
        // As an earlier version might have counted: no loss, and the second
        // iteration against the wrong code.
        let rows = vec![
            iteration(1, scored(3, 3, 0), "ppp"),
            iteration(2, Verdict::Collapsed { lost: 3 }, "---"),
            iteration(3, scored(1, 1, 0), "pff"),
        ];
        let run = stored(&engine, suite(), vec![test], rows).await;
        let rescored = engine.rescore(None).await.unwrap();
        assert_eq!(rescored.len(), 1);
        assert_eq!(
            (rescored[0].from_version, rescored[0].to_version),
            (0, METRIC_VERSION)
        );
        assert_eq!((rescored[0].iterations, rescored[0].changed), (3, 3));
        assert_eq!(
            iterations(&engine, &run).await,
            [
                (scored(2, 2, 1), 2, "fpp".into()),
                (Verdict::Collapsed { lost: 2 }, 0, "---".into()),
                (scored(1, 1, 2), 1, "pff".into()),
            ]
        );
        // All runs are current now; a rescore by name examines this one again,
        // and changes nothing.
        assert!(engine.rescore(None).await.unwrap().is_empty());
        let again = engine.rescore(Some(&run)).await.unwrap();
        assert_eq!(
            (again[0].from_version, again[0].changed),
            (METRIC_VERSION, 0)
        );
    }

    #[tokio::test]
    async fn counts_alone_are_counted_anew_too() {
        let folder = tempfile::tempdir().unwrap();
        let engine = engine(folder.path()).await;
        let suite = Suite::counts_only(SuiteCounts::counts_only(10, 10));
        let rows = vec![
            iteration(1, scored(12, 12, 0), ""),
            iteration(2, scored(25, 25, 7), ""),
        ];
        let run = stored(&engine, suite, Vec::new(), rows).await;
        assert_eq!(engine.rescore(Some(&run)).await.unwrap()[0].changed, 2);
        let found = iterations(&engine, &run).await;
        assert_eq!(found[0], (scored(12, 12, 0), 2, String::new()));
        assert_eq!(found[1], (scored(20, 25, 0), 8, String::new()));
    }

    #[tokio::test]
    async fn a_damaged_report_changes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let engine = engine(folder.path()).await;
        let test = tested("nowhere".into());
        let rows = vec![iteration(1, scored(3, 3, 0), "ppp")];
        let run = stored(&engine, suite(), vec![test], rows).await;
        let error = engine.rescore(Some(&run)).await.unwrap_err();
        assert!(
            error.to_string().contains("nowhere is not there"),
            "{error}"
        );
        assert_eq!(iterations(&engine, &run).await[0].0, scored(3, 3, 0));
        let nobody = engine.rescore(Some("nobody")).await;
        assert!(matches!(nobody, Err(Error::NotFound { .. })));
    }
}
