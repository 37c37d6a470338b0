//! One iteration in detail: its requirements, its code change, its test
//! results, and the output of its steps.

use std::collections::BTreeSet;
use std::sync::Arc;

use swe_ci_base::blocking::blocking;
use swe_ci_base::error::{Error, Result};
use swe_ci_core::diff::Diff;
use swe_ci_core::metrics::Verdict;
use swe_ci_core::outcomes::{Outcomes, TestList};
use swe_ci_core::report::{Outcome, Report};
use swe_ci_core::requirement::{Document, Requirement};
use swe_ci_core::step::{Role, StepOutcome};
use swe_ci_core::task::TaskId;
use swe_ci_dataset::base_report_of;
use swe_ci_store::{EvolutionRow, IterationRow, StepRow};
use swe_ci_views::inspection::{ChangedTest, CodeChange, Inspection, KeptFiles, StepLog};
use swe_ci_views::view::IterationDetail;

use crate::heavy_reads::typed;
use crate::{Engine, as_u32};

/// The part of a step's log that a page shows.
const TAIL_LINES: usize = 200;
const TAIL_BYTES: usize = 24 << 10;
/// The part of a diff that a page shows.
const PAGE_FILES: usize = 200;
const PAGE_BYTES: usize = 96 << 10;
/// Larger code is not read for a diff.
const MAX_CODE: u64 = 512 << 20;
/// Larger reports are not read for the messages of changed tests, and no more
/// tests than this are looked up, of each kind.
const MAX_REPORT: u64 = 64 << 20;
const PAGE_TESTS: usize = 500;

#[swe_ci_boxed::boxed]
impl Engine {
    /// One iteration of a run's task in detail.
    pub async fn inspect(
        &self,
        run_id: &str,
        task: &TaskId,
        sample: u32,
        iteration: u32,
    ) -> Result<Inspection> {
        let row = self.sample_of(run_id, task, sample).await?;
        self.inspect_iteration(&row.id, iteration).await
    }

    /// The evolution of a run's task.
    pub(super) async fn sample_of(
        &self,
        run_id: &str,
        task: &TaskId,
        sample: u32,
    ) -> Result<EvolutionRow> {
        self.visible_run(run_id).await?;
        let mut rows = self.store.evolutions_of_run(run_id).await?.into_iter();
        let row = rows.find(|row| row.task_id == *task && row.sample == sample);
        row.ok_or_else(|| Error::not_found_in("this run", "sample of the task", sample))
    }

    /// An iteration in detail, with as much of its diff and its logs as a page
    /// shows.
    pub async fn inspect_iteration(
        &self,
        evolution_id: &str,
        iteration: u32,
    ) -> Result<Inspection> {
        let rows = self.iteration_rows(evolution_id, iteration).await?;
        let detail = self.detail(&rows).await?;
        let permit = self.heavy_reads.permit().await?;
        let changed = self.changed_tests(&detail, &rows).await;
        let logs = self.log_tails(&rows).await;
        // The diff is a heavy read of its own.
        drop(permit);
        let code = match self.change_of(&rows).await? {
            CodeChange::Known(diff) => CodeChange::Known(diff.cut(PAGE_FILES, PAGE_BYTES)),
            other => other,
        };
        Ok(Inspection {
            evolution_id: evolution_id.to_owned(),
            iteration: detail,
            code,
            changed,
            files: rows.files(),
            accusations: self.accusations(evolution_id, iteration).await?,
            logs,
        })
    }

    /// An iteration of an evolution that has reached it.
    pub async fn iteration(&self, evolution_id: &str, iteration: u32) -> Result<IterationDetail> {
        let rows = self.iteration_rows(evolution_id, iteration).await?;
        self.detail(&rows).await
    }

    /// The whole code change of an iteration since the last scored one before
    /// it.
    pub async fn code_change(&self, evolution_id: &str, iteration: u32) -> Result<CodeChange> {
        let rows = self.iteration_rows(evolution_id, iteration).await?;
        self.change_of(&rows).await
    }

    async fn detail(&self, rows: &IterationRows) -> Result<IterationDetail> {
        let suite = self.store.suite(&rows.evolution.suite).await?;
        let before = rows.before.as_ref();
        let before = before.map_or(&suite.base_outcomes, |row| &row.outcomes);
        let after = &rows.row.outcomes;
        Ok(IterationDetail {
            view: rows.row.view(),
            requirements: self.requirements(&rows.steps).await?,
            lost_tests: lost_between(&suite.tests, before, after),
            gained_tests: lost_between(&suite.tests, after, before),
            steps: rows.steps.iter().map(StepRow::view).collect(),
        })
    }

    pub(super) async fn requirements(&self, steps: &[StepRow]) -> Result<Vec<Requirement>> {
        let architect = steps
            .iter()
            .find(|s| s.role == Role::Architect && s.outcome == StepOutcome::Done);
        let Some(key) = architect.and_then(|s| s.product.as_deref()) else {
            return Ok(Vec::new());
        };
        let xml = self.artifacts.get(key).await.map_err(typed)?;
        let document = Document::parse_accepted(&String::from_utf8_lossy(&xml));
        let document = document.map_err(anyhow::Error::new)?;
        Ok(document.requirements().to_vec())
    }

    async fn change_of(&self, rows: &IterationRows) -> Result<CodeChange> {
        let (before, row) = (rows.before.as_ref(), &rows.row);
        let recorded = |row: &IterationRow| !row.code.is_empty();
        if !recorded(row) || !before.is_none_or(recorded) {
            return Ok(CodeChange::NotRecorded);
        }
        let diff = self.diff(&rows.evolution, before, row).await;
        match diff.map_err(typed) {
            Ok(diff) => Ok(CodeChange::Known(Diff {
                from: before.map_or(0, |row| row.iteration),
                ..Diff::clone(&diff)
            })),
            Err(passing @ (Error::Busy | Error::Unavailable(_))) => Err(passing),
            Err(error) => {
                let error = anyhow::Error::new(error);
                let (evolution, iteration) = (&rows.evolution.id, row.iteration);
                tracing::warn!(evolution, iteration, "no diff: {error:#}");
                Ok(CodeChange::Unreadable(
                    "The code of this iteration, or the code it was built upon, cannot be read on this server any more, or is too large to be compared.".into(),
                ))
            }
        }
    }

    async fn diff(
        &self,
        evolution: &EvolutionRow,
        before: Option<&IterationRow>,
        after: &IterationRow,
    ) -> anyhow::Result<Arc<Diff>> {
        let start = match (before, &evolution.start) {
            (Some(before), _) => before.code.clone(),
            (None, Some(start)) => start.code.clone(),
            (None, None) => {
                let task = self.store.task_of_evolution(evolution).await?;
                format!("{}@{}..{}", task.id, task.base_sha, task.target_sha)
            }
        };
        // It holds much across its awaits.
        let codes = Box::pin(async {
            let artifacts = &self.artifacts;
            let before = match before {
                Some(before) => artifacts.get_code_within(&before.code, MAX_CODE).await?,
                None => self.base_code(evolution).await?,
            };
            let after = artifacts.get_code_within(&after.code, MAX_CODE).await?;
            Ok((before, after))
        });
        let ends = (start, after.code.clone());
        self.diffs.between(ends, codes).await
    }

    /// The code that the evolution started from: the base with the oracle's
    /// tests, or what was handed over.
    pub(crate) async fn base_code(
        &self,
        evolution: &EvolutionRow,
    ) -> anyhow::Result<swe_ci_base::code::CodeTree> {
        if let Some(start) = &evolution.start {
            return self.artifacts.get_code_within(&start.code, MAX_CODE).await;
        }
        let row = self.store.task_of_evolution(evolution).await?;
        let history = self.folders.fetched(&row).await?;
        blocking(move || {
            let oracle = history.code(&row.target_sha)?;
            let is_test = |path: &str| row.test_command.is_test(path);
            Ok(history.code(&row.base_sha)?.with_files_of(is_test, &oracle))
        })
        .await
    }

    async fn iteration_rows(&self, evolution_id: &str, iteration: u32) -> Result<IterationRows> {
        let evolution = self.visible_evolution(evolution_id).await?;
        let mut rows = self.store.iterations(evolution_id).await?;
        let index = rows.iter().position(|row| row.iteration == iteration);
        let index = index.ok_or_else(|| Error::not_found("iteration", iteration))?;
        let row = rows.swap_remove(index);
        rows.truncate(index);
        let before = rows
            .into_iter()
            .rfind(|row| matches!(row.verdict, Verdict::Scored { .. }));
        let mut steps = self.store.steps(evolution_id).await?;
        let report_before = match &before {
            Some(before) => report_of(&steps, before.iteration),
            None => {
                let task = self.store.task_of_evolution(&evolution).await?;
                Some(base_report_of(&task))
            }
        };
        steps.retain(|step| step.iteration == iteration);
        Ok(IterationRows {
            evolution,
            before,
            row,
            steps,
            report_before,
        })
    }

    /// Empty where a report is missing or unreadable: the page works without
    /// it.
    async fn changed_tests(
        &self,
        detail: &IterationDetail,
        rows: &IterationRows,
    ) -> Vec<ChangedTest> {
        let after = report_of(&rows.steps, rows.row.iteration);
        let Some((before, after)) = rows.report_before.clone().zip(after) else {
            return Vec::new();
        };
        let shown = |tests: &[String]| tests[..tests.len().min(PAGE_TESTS)].to_vec();
        let tests = [shown(&detail.lost_tests), shown(&detail.gained_tests)].concat();
        if tests.is_empty() {
            return Vec::new();
        }
        let read = async {
            // One after the other, and of each only what is shown: a report takes
            // much more memory as JSON, and has all tests.
            let before = self.results_of(&tests, &before).await?;
            let after = self.results_of(&tests, &after).await?;
            let tests: Vec<&str> = tests.iter().map(String::as_str).collect();
            anyhow::Ok(ChangedTest::of(&tests, &before, &after))
        };
        read.await.unwrap_or_else(|error| {
            tracing::debug!("no messages of tests: {error:#}");
            Vec::new()
        })
    }

    /// A report without other tests than these.
    pub(super) async fn results_of(&self, tests: &[String], key: &str) -> anyhow::Result<Report> {
        let tests: BTreeSet<String> = tests.iter().cloned().collect();
        let json = self.artifacts.get_within(key, MAX_REPORT).await?;
        let parse = move || {
            let mut report = Report::parse(&json)?;
            report.tests.retain(|id, _| tests.contains(id));
            Ok(report)
        };
        blocking(parse).await
    }

    async fn log_tails(&self, rows: &IterationRows) -> Vec<StepLog> {
        let mut tails = Vec::new();
        let logs = rows.steps.iter();
        for (step, key) in logs.filter_map(|step| Some((step, step.log.as_ref()?))) {
            // A missing log does not fail the page.
            match self.log_tail(key, step.role, step.attempt).await {
                Ok(tail) => tails.push(tail),
                Err(error) => {
                    tracing::warn!(evolution = rows.evolution.id, "no log: {error:#}");
                }
            }
        }
        tails
    }

    async fn log_tail(&self, key: &str, role: Role, attempt: u32) -> anyhow::Result<StepLog> {
        let end = self.artifacts.last_lines(key, TAIL_BYTES).await?;
        let text = String::from_utf8_lossy(&end.bytes);
        let mut tail = StepLog::of(role, attempt, &text, TAIL_LINES, TAIL_BYTES);
        tail.earlier = tail.earlier.saturating_add(as_u32(end.lines_before));
        Ok(tail)
    }

    /// The end of the output of one attempt at a step, as much as pages show.
    ///
    /// # Errors
    /// [`Error::NotFound`] when there is no such attempt, or it printed
    /// nothing; [`Error::Busy`] when too many large files are being read.
    pub async fn step_log_tail(
        &self,
        evolution_id: &str,
        iteration: u32,
        role: Role,
        attempt: u32,
    ) -> Result<StepLog> {
        let key = self.log_key(evolution_id, iteration, role, attempt).await?;
        let _permit = self.heavy_reads.permit().await?;
        self.log_tail(&key, role, attempt).await.map_err(typed)
    }

    pub(super) async fn log_key(
        &self,
        evolution_id: &str,
        iteration: u32,
        role: Role,
        attempt: u32,
    ) -> Result<String> {
        let step = self.find_step(evolution_id, iteration, role, attempt);
        let key = step.await?.and_then(|step| step.log);
        let what = format!("{} {attempt} of iteration {iteration}", role.name());
        key.ok_or_else(|| Error::not_found("log of the step", what))
    }
}

#[derive(Debug)]
struct IterationRows {
    evolution: EvolutionRow,
    /// The iteration whose code it was built upon; none for the base.
    before: Option<IterationRow>,
    row: IterationRow,
    steps: Vec<StepRow>,
    /// Key of the report of the code before it.
    report_before: Option<String>,
}

impl IterationRows {
    fn files(&self) -> KeptFiles {
        let product = |role| {
            let mut steps = self.steps.iter();
            steps.any(|step| step.role == role && step.product.is_some())
        };
        KeptFiles {
            code: !self.row.code.is_empty(),
            report: product(Role::Test),
            document: product(Role::Architect),
        }
    }
}

/// The tests that pass before and not after.
pub(super) fn lost_between(tests: &TestList, before: &Outcomes, after: &Outcomes) -> Vec<String> {
    let passed = |outcome: Outcome| outcome == Outcome::Passed;
    let outcomes = before.iter().zip(after.iter());
    let tests = tests.node_ids().iter().zip(outcomes);
    let lost = tests.filter(|(_, (before, after))| passed(*before) && !passed(*after));
    lost.map(|(id, _)| id.clone()).collect()
}

pub(crate) fn report_of(steps: &[StepRow], iteration: u32) -> Option<String> {
    let mut latest = steps.iter().rev();
    let test = latest.find(|step| (step.iteration, step.role) == (iteration, Role::Test));
    test.and_then(|step| step.product.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Config;
    use sqlx::Connection;
    use swe_ci_base::code::CodeTree;
    use swe_ci_core::diff::Body;

    const ROWS: &str = r#"
        INSERT INTO splits (name, created_at) VALUES ('s', 1);
        INSERT INTO suites (id, base_in_target, target_passed, base_passed, counts_only, tests, base_outcomes)
            VALUES ('u', 0, 1, 0, 0, '["a"]', 'f');
        INSERT INTO tasks (id) VALUES ('t');
        INSERT INTO task_revisions (id, repo, base_sha, target_sha, state, reason, image, suite, suite_seconds,
                                    commits, span_days, extra, imported_at)
            VALUES ('t', 'r', 'a', 'b', 'ready', '', '', 'u', 1.0, 1, 1.0, '[]', 1);
        INSERT INTO runs (id, split, kind, config, provenance, progress, created_at)
            VALUES ('r', 's', 'measured', '{}', '{}', 'finished', 1);
        INSERT INTO evolutions (id, run_id, task_id, sample, progress, ending, lease_until, expected_seconds,
                                queued_at, at_iteration, at_role, at_attempt, suite)
            VALUES ('e', 'r', 't', 1, 'finished', 'iterations_spent', 0, 1.0, 1, 3, 'test', 1, 'u');
    "#;

    /// An evolution of three iterations with this code; the second collapsed.
    async fn engine_with(folder: &std::path::Path, codes: [&str; 3]) -> Engine {
        let config = Config::new(folder.to_owned());
        let engine = Engine::open(config).await.unwrap();
        let url = format!("sqlite:{}", folder.join("swe-ci.sqlite").display());
        let mut rows = ROWS.to_owned();
        for (number, text) in (1..).zip(codes) {
            let mut code = CodeTree::default();
            code.insert_file("a.py", text);
            let key = engine.artifacts.put_code(&Arc::new(code)).await.unwrap();
            let verdict = if number == 2 { "collapsed" } else { "scored" };
            rows.push_str(&format!(
                "INSERT INTO iterations (evolution_id, iteration, verdict, in_target, passed, lost, gained, outcomes,
                                         findings, code, test_seconds, finished_at)
                 VALUES ('e', {number}, '{verdict}', 0, 0, 0, 0, 'f', '[]', '{key}', 1.0, 1);"
            ));
        }
        let log = engine.artifacts.put("log", b"1\n2\n".to_vec());
        let log = log.await.unwrap();
        rows.push_str(&format!(
            "INSERT INTO steps (evolution_id, seq, iteration, role, attempt, outcome, detail, log, started_at, finished_at)
             VALUES ('e', 1, 3, 'programmer', 2, '\"done\"', '', '{log}', 1, 2),
                    ('e', 2, 3, 'test', 1, '\"collapsed\"', '', 'gone.zst', 2, 3);"
        ));
        let mut database = sqlx::SqliteConnection::connect(&url).await.unwrap();
        let rows = sqlx::raw_sql(sqlx::AssertSqlSafe(rows));
        rows.execute(&mut database).await.unwrap();
        engine
    }

    #[tokio::test]
    async fn since_the_last_scored_code() {
        let folder = tempfile::tempdir().unwrap();
        let engine = engine_with(folder.path(), ["1\n", "broken\n", "3\n"]).await;
        let CodeChange::Known(diff) = engine.code_change("e", 3).await.unwrap() else {
            panic!("its code is there")
        };
        // Collapsed code is not built upon.
        assert_eq!(diff.from, 1);
        let hunks = Body::Text("@@ -1 +1 @@\n-1\n+3\n".into());
        assert_eq!((diff.files.len(), &diff.files[0].body), (1, &hunks));
        // The base has no checkout here; the page says so and still works.
        let first = engine.inspect_iteration("e", 1).await.unwrap();
        assert!(matches!(first.code, CodeChange::Unreadable(_)));
        for number in [0, 4] {
            let missing = engine.code_change("e", number).await;
            assert!(matches!(missing, Err(Error::NotFound { .. })), "{number}");
        }
    }

    /// Each visitor makes the server read two large reports.
    #[tokio::test(flavor = "multi_thread")]
    async fn many_visitors_need_the_memory_of_few() {
        let folder = tempfile::tempdir().unwrap();
        let engine = engine_with(folder.path(), ["1\n", "2\n", "3\n"]).await;
        let mut rows = "UPDATE iterations SET outcomes = 'p' WHERE iteration = 3;".to_owned();
        for (iteration, outcome) in [(1, "failed"), (3, "passed")] {
            let key = engine.artifacts.put(outcome, large_report(outcome));
            let key = key.await.unwrap();
            rows.push_str(&format!(
                "INSERT INTO steps (evolution_id, seq, iteration, role, attempt, outcome, detail, product, started_at, finished_at)
                 VALUES ('e', {iteration}0, {iteration}, 'test', 2, '\"collapsed\"', '', '{key}', 2, 3);"
            ));
        }
        let url = format!("sqlite:{}", folder.path().join("swe-ci.sqlite").display());
        let mut database = sqlx::SqliteConnection::connect(&url).await.unwrap();
        let rows = sqlx::raw_sql(sqlx::AssertSqlSafe(rows));
        rows.execute(&mut database).await.unwrap();

        let before = peak_memory();
        let visits = (0..16).map(|_| engine.inspect_iteration("e", 3));
        for found in futures::future::join_all(visits).await {
            let changed = found.unwrap().changed;
            assert_eq!(changed.len(), 1);
            assert_eq!(changed[0].before.message, "AssertionError");
        }
        // Without `--exact`, which nextest gives, other tests share this process.
        if std::env::args().any(|argument| argument == "--exact") {
            let grown = peak_memory() - before;
            assert!(grown < 160, "{grown} MiB more than before");
        }
    }

    /// Of 8 MiB, with one test that counts.
    fn large_report(outcome: &str) -> Vec<u8> {
        let message = "x".repeat(1 << 14);
        let test = |id: &str, message: &str| {
            format!(
                r#"{{"nodeid":"{id}","outcome":"{outcome}","call":{{"duration":0.1,"outcome":"{outcome}","longrepr":"{message}"}}}}"#
            )
        };
        let mut tests: Vec<String> = (0..512).map(|n| test(&n.to_string(), &message)).collect();
        tests.push(test("a", "AssertionError"));
        let tests = tests.join(",");
        let exit = i32::from(outcome == "failed");
        format!(r#"{{"exitcode":{exit},"duration":1.0,"summary":{{"{outcome}":513}},"tests":[{tests}]}}"#)
            .into_bytes()
    }

    /// The most memory that this process has had, in MiB.
    fn peak_memory() -> u64 {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let peak = status.lines().find(|line| line.starts_with("VmHWM:"));
        let kibibytes = peak.and_then(|line| line.split_whitespace().nth(1));
        kibibytes.unwrap().parse::<u64>().unwrap() / 1024
    }

    #[tokio::test]
    async fn logs_that_are_there() {
        let folder = tempfile::tempdir().unwrap();
        let engine = engine_with(folder.path(), ["1\n", "2\n", "3\n"]).await;
        let found = engine.inspect_iteration("e", 3).await.unwrap();
        let logs: Vec<_> = found
            .logs
            .iter()
            .map(|l| (l.role, l.attempt, &*l.tail))
            .collect();
        assert_eq!(logs, [(Role::Programmer, 2, "1\n2\n")]);
        let whole = engine.log_file("e", 3, Role::Programmer, 2).await.unwrap();
        assert_eq!(crate::testing::text_of(whole).await, "1\n2\n");
        let other = engine.log_file("e", 3, Role::Programmer, 1).await;
        assert!(matches!(other, Err(Error::NotFound { .. })));
    }
}
