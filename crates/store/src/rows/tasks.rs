//! Rows of tasks.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use sqlx::any::AnyRow;
use swe_ci_base::digest::hex;
use swe_ci_base::error::{Error, Result};
use swe_ci_core::task::{TaskId, TestCommand};
use swe_ci_views::preparation::Preparation;
use swe_ci_views::view::{TaskState, TaskSummary};

use super::columns::{Columns, from_row};
use super::suites::{Suite, read_counts, read_suite};
use crate::to_json;

/// A task.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TaskRow {
    pub id: TaskId,
    pub repo: String,
    pub base_sha: String,
    pub target_sha: String,
    pub state: TaskState,
    /// Content digest of its image.
    pub image: String,
    pub suite: Suite,
    /// Artifact: the test report of its base code. `None` for a task that was
    /// not prepared here, and in rows written before there was this field.
    #[serde(default)]
    pub base_report: Option<String>,
    #[serde(default)]
    pub test_command: TestCommand,
    pub suite_seconds: f64,
    pub commits: u32,
    pub span_days: f64,
    /// When the target was committed, in unix milliseconds.
    pub target_time: Option<i64>,
    pub preparation: Preparation,
    /// Unknown columns of the metadata file.
    pub extra: Vec<(String, String)>,
}

impl TaskRow {
    pub fn summary(&self) -> TaskSummary {
        TaskSummary {
            task_id: self.id.clone(),
            repo: self.repo.clone(),
            base_sha: self.base_sha.clone(),
            target_sha: self.target_sha.clone(),
            state: self.state.clone(),
            base_passed: self.suite.counts.base_passed,
            target_passed: self.suite.counts.target,
            gap: self.suite.counts.gap(),
            commits: self.commits,
            span_days: self.span_days,
            suite_seconds: self.suite_seconds,
            modified_lines: self.preparation.modified_lines(),
            findings: self.preparation.number_of_findings(),
            left_away: self.preparation.left_away(),
            licence: self
                .preparation
                .licence
                .clone()
                .or_else(|| self.declared_licence()),
            from_results: false,
            difficulty: None,
            contradicted: None,
        }
    }

    /// As the metadata file names it.
    fn declared_licence(&self) -> Option<String> {
        let mut extra = self.extra.iter();
        let (_, licence) = extra.find(|(name, _)| matches!(&**name, "license" | "licence"))?;
        let licence = licence.trim();
        (!licence.is_empty()).then(|| licence.to_owned())
    }

    /// The digest of what the task asks.
    ///
    /// # Errors
    /// If its tests cannot be written as JSON.
    pub fn revision(&self) -> Result<String> {
        Ok(task_revision([
            &self.base_sha,
            &self.target_sha,
            &self.image,
            &self.test_command.to_string(),
            &self.suite.id(&to_json(&self.suite.tests)?),
        ]))
    }

    /// Its name and its revision, as [`Store::revisions_of_split`](crate::Store) has them.
    ///
    /// # Errors
    /// As [`Self::revision`].
    pub fn identity(&self) -> Result<[String; 2]> {
        Ok([self.id.to_string(), self.revision()?])
    }

    /// The values that a result depends on: id, commits, image.
    pub fn ends(&self) -> [&str; 4] {
        [
            self.id.as_str(),
            &self.base_sha,
            &self.target_sha,
            &self.image,
        ]
    }
}

/// The digest of what a task asks, whatever it is called: its base, target, image, test
/// command and the id of its suite.
pub fn task_revision(parts: [&str; 5]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part.as_bytes());
        hash.update([0]);
    }
    format!("sha256:{}", hex(&hash.finalize()))
}

pub(crate) fn read_task(row: &AnyRow) -> Result<TaskRow> {
    read_task_with(row, read_suite(row)?)
}

/// Needs no column with tests.
pub(crate) fn read_task_summary(row: &AnyRow) -> Result<TaskSummary> {
    let suite = Suite::counts_only(read_counts(row)?);
    Ok(read_task_with(row, suite)?.summary())
}

fn read_task_with(row: &AnyRow, known: Suite) -> Result<TaskRow> {
    Ok(from_row!(row => TaskRow {
        id, repo, base_sha, target_sha, image, base_report, suite_seconds, commits, span_days,
        target_time;
        suite: known,
        test_command: read_test_command(row)?.unwrap_or_default(),
        state: read_task_state(row)?,
        preparation: read_preparation(row)?,
        extra: row.json("extra", "metadata")?
    }))
}

/// Empty for tasks imported before this column existed.
pub(crate) fn read_preparation(row: &AnyRow) -> Result<Preparation> {
    let preparation = row.optional_json("preparation", "how a task was prepared")?;
    Ok(preparation.unwrap_or_default())
}

pub(crate) fn read_test_command(row: &AnyRow) -> Result<Option<TestCommand>> {
    let name: Option<String> = row.read("test_command")?;
    let unknown =
        |error| Error::Internal(anyhow::Error::new(error).context("a stored test command"));
    let command = name.map(|name| name.parse().map_err(unknown));
    command.transpose()
}

fn read_task_state(row: &AnyRow) -> Result<TaskState> {
    Ok(match row.read::<String>("state")?.as_str() {
        "ready" => TaskState::Ready,
        _ => TaskState::Unusable {
            reason: row.read("reason")?,
        },
    })
}
