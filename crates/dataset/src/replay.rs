//! Tests what a task's suite says about other code than its two ends: the real
//! history in chunks, as the human baseline replays it, since historic code may
//! hang or not start and a run should not be the first to find out; and no code
//! at all.

use std::sync::Arc;

use swe_ci_base::blocking::blocking;
use swe_ci_base::code::CodeTree;
use swe_ci_base::error::{Error, Result};
use swe_ci_candidates::{Class, class};
use swe_ci_core::outcomes::Outcomes;
use swe_ci_core::report::{Outcome, Report};
use swe_ci_core::run::Limits;
use swe_ci_grading::{Grading, grade};
use swe_ci_sandbox::{ContainerSpec, Purpose};
use swe_ci_store::TaskRow;
use swe_ci_views::preparation::HistoryPoint;

use super::TaskPreparation;
use super::history::chunks;

/// A historic suite is stopped after so many times the target's time, and never
/// before [`SHORTEST`] seconds.
const SLOWEST: f64 = 5.0;
const SHORTEST: f64 = 60.0;

impl TaskPreparation<'_> {
    /// Tests the code after each of at most `max_chunks` chunks of the history of
    /// a prepared task, once.
    ///
    /// # Errors
    /// Failures of the platform.
    pub async fn replay(&self, row: &TaskRow, max_chunks: u32) -> Result<Vec<HistoryPoint>> {
        let history = self.folders.history(&row.id);
        let (base, target) = (row.base_sha.clone(), row.target_sha.clone());
        let read = blocking({
            let history = history.clone();
            move || {
                let chunks = chunks(history.between(&base, &target)?, max_chunks);
                let (base, oracle) = (history.code(&base)?, history.code(&target)?);
                Ok((chunks, Arc::new(base), Arc::new(oracle)))
            }
        });
        let (chunks, base, oracle) = read.await?;
        let seconds = (row.suite_seconds * SLOWEST).max(SHORTEST);
        let limits = Limits {
            test_seconds: self.limits.test_seconds.min(seconds as u32),
            ..self.limits
        };
        let mut points = Vec::new();
        for chunk in chunks {
            let Some(last) = chunk.last() else { continue };
            let (history, sha) = (history.clone(), last.sha.clone());
            let code = Arc::new(blocking(move || history.code(&sha)).await?);
            let grading = Grading {
                code,
                base: base.clone(),
                oracle: oracle.clone(),
                command: row.test_command,
                known_tests: None,
                limits,
            };
            let (seconds, result) = self.tested(row, &grading, &last.sha).await?;
            let passed = |report| Outcomes::of(&row.suite.tests, report).passed();
            points.push(HistoryPoint {
                sha: last.sha.clone(),
                commits: u32::try_from(chunk.len()).unwrap_or(u32::MAX),
                passed: result.as_ref().map_or(0, passed),
                seconds,
                problem: result.err(),
            });
        }
        Ok(points)
    }

    /// The tests of T that pass on the target with all its source files emptied:
    /// no agent has to do anything for them.
    ///
    /// # Errors
    /// Failures of the platform.
    pub async fn passing_without_code(&self, row: &TaskRow) -> Result<Vec<String>> {
        let (history, target) = (self.folders.history(&row.id), row.target_sha.clone());
        let oracle = Arc::new(blocking(move || history.code(&target)).await?);
        let mut empty = CodeTree::clone(&oracle);
        let source = oracle
            .paths()
            .filter(|path| class(path.as_bytes()) == Class::Source);
        for path in source {
            empty.insert_file(path, Vec::new());
        }
        let grading = Grading {
            code: Arc::new(empty),
            base: oracle.clone(),
            oracle,
            command: row.test_command,
            known_tests: None,
            limits: self.limits,
        };
        let (_, result) = self.tested(row, &grading, "without code").await?;
        let Ok(report) = result else {
            return Ok(Vec::new()); // usually the tests cannot even be imported
        };
        let ids = row.suite.tests.node_ids().iter();
        let outcomes = Outcomes::of(&row.suite.tests, &report);
        let passing = ids
            .zip(outcomes.iter())
            .filter(|(_, o)| *o == Outcome::Passed);
        Ok(passing.map(|(id, _)| id.clone()).collect())
    }

    /// The seconds of a suite, and its report or why there is none that can be
    /// believed.
    async fn tested(
        &self,
        row: &TaskRow,
        grading: &Grading,
        what: &str,
    ) -> Result<(f64, std::result::Result<Report, String>)> {
        let purpose = Purpose::Preparation(format!("{} {what}", row.id));
        let spec = ContainerSpec::new(&row.image, grading.limits, purpose);
        let run = async {
            let sandbox = self.sandbox.open(&spec).await?;
            grade(sandbox.as_ref(), grading, &mut |_| {}).await
        };
        match run.await {
            Ok(run) => Ok((
                run.seconds,
                match run.distrusted() {
                    Some(why) => Err(why),
                    None => run.result,
                },
            )),
            Err(error) if error.blames_the_code() => Ok((0.0, Err(error.to_string()))),
            Err(error) => Err(Error::Unavailable(error.to_string())),
        }
    }
}
