//! Tests the real history of a task in chunks, as the human baseline replays it:
//! historic code may hang or not start, and a run should not be the first to find
//! out.

use std::sync::Arc;

use swe_ci_base::blocking::blocking;
use swe_ci_base::error::Result;
use swe_ci_core::outcomes::Outcomes;
use swe_ci_core::run::Limits;
use swe_ci_grading::Grading;
use swe_ci_store::TaskRow;
use swe_ci_views::preparation::HistoryPoint;

use super::TaskPreparation;
use super::history::chunks;
use super::trials::Setting;

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
        let history = self.folders.history(row);
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
                command: row.test_command.clone(),
                known_tests: None,
                limits,
                left_away: row.preparation.left_away(),
            };
            let (seconds, result) = self
                .tested(row, &grading, Setting::Usual, &last.sha)
                .await?;
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
}
