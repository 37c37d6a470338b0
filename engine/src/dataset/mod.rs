//! Datasets: folders in the official layout
//! (`metadata/<split>.csv`, `data/<task>/{code.zip,image.tar.gz}`), read into
//! the store. Every task is tested at both ends before it may be run.

pub mod demo;
mod history;
mod metadata;
pub mod tiny;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use swe_ci_core::outcomes::TestList;
use swe_ci_core::report::Report;
use swe_ci_core::run::Limits;
use swe_ci_core::task::TaskId;
use swe_ci_core::view::TaskState;
use tokio::sync::Mutex;

pub use history::{CommitInfo, History};
pub use metadata::TaskLine;
pub(crate) use metadata::read as read_metadata;
pub(crate) use {history::write as write_history, metadata::write as write_metadata};

use crate::artifacts::Artifacts;
use crate::blocking::blocking;
use crate::code::CodeTree;
use crate::error::{Error, Result};
use crate::files::{self, FileIdentity, UnpackLimits};
use crate::images::Images;
use crate::sandbox::{BoxSpec, Purpose, Sandbox, SandboxError};
use crate::store::{Store, Suite, TaskRow};
use crate::suite;

/// What a checkout may unpack to.
const CHECKOUT: UnpackLimits = UnpackLimits {
    files: 1_000_000,
    bytes: 16 << 30,
};

/// Where the checkouts of imported tasks stand.
#[derive(Debug, Clone)]
pub struct TaskFolders {
    root: PathBuf,
}

impl TaskFolders {
    pub fn new(root: PathBuf) -> Self {
        Self { root }
    }

    /// The git checkout of a task.
    pub fn history(&self, task: &TaskId) -> History {
        History::new(self.checkout(task))
    }

    fn checkout(&self, task: &TaskId) -> PathBuf {
        self.root.join(task.as_str()).join("code")
    }
}

/// Artifact with the report of a task's base code.
pub fn base_report_key(task: &TaskId) -> String {
    format!("tasks/{task}/base-report.json")
}

/// Reads dataset folders into the store.
#[derive(Debug)]
pub struct Importer<'a> {
    pub store: &'a Store,
    pub artifacts: &'a Artifacts,
    pub sandbox: Arc<dyn Sandbox>,
    pub images: &'a Images,
    pub folders: &'a TaskFolders,
    pub limits: Limits,
    /// Images loaded so far: tasks often share one archive file.
    pub loaded: Mutex<HashMap<FileIdentity, String>>,
}

impl Importer<'_> {
    /// Imports a split. A bad metadata file imports nothing; a task that
    /// cannot be used is recorded as unusable with the reason and does not
    /// stop the rest. A task that is ready already is left as it is.
    pub async fn import(
        &self,
        folder: &Path,
        split: &str,
        say: &(dyn Fn(String) + Send + Sync),
    ) -> Result<Vec<TaskRow>> {
        if !swe_ci_core::task::is_plain_name(split) {
            return Err(Error::Invalid(format!("`{split}` cannot name a split")));
        }
        let csv = folder.join("metadata").join(format!("{split}.csv"));
        let lines = metadata::read(&csv).map_err(|error| Error::Invalid(format!("{error:#}")))?;
        let mut rows = Vec::new();
        for (position, line) in (0u32..).zip(&lines) {
            let row = match self.store.find_task(&line.task_id).await? {
                Some(row)
                    if row.state == TaskState::Ready
                        && row.base_sha == line.base_sha
                        && row.target_sha == line.target_sha =>
                {
                    row
                }
                _ => self.prepare(folder, line).await?,
            };
            self.store.put_task(split, position, &row).await?;
            say(describe(position as usize + 1, lines.len(), line, &row));
            rows.push(row);
        }
        Ok(rows)
    }

    /// A task as a row: ready, or unusable with the reason. Only trouble that
    /// is nobody's fault but the platform's is an error.
    async fn prepare(&self, folder: &Path, line: &TaskLine) -> Result<TaskRow> {
        let mut row = TaskRow {
            id: line.task_id.clone(),
            repo: line.repo(),
            base_sha: line.base_sha.clone(),
            target_sha: line.target_sha.clone(),
            state: TaskState::Ready,
            image: String::new(),
            suite: Suite::none(),
            suite_seconds: 0.0,
            commits: 0,
            span_days: 0.0,
            target_time: None,
            extra: line.extra.clone(),
        };
        match self.fill(folder, line, &mut row).await {
            Ok(()) => {}
            Err(Trouble::Platform(error)) => return Err(error),
            Err(Trouble::Task(reason)) => row.state = TaskState::Unusable { reason },
        }
        Ok(row)
    }

    async fn fill(
        &self,
        folder: &Path,
        line: &TaskLine,
        row: &mut TaskRow,
    ) -> std::result::Result<(), Trouble> {
        let data = folder.join("data").join(line.task_id.as_str());
        let history = self.unpack(&data, &line.task_id).await?;
        let (base_sha, target_sha) = (line.base_sha.clone(), line.target_sha.clone());
        let (base, oracle, commits, ends) = blocking(move || {
            let commits = history.between(&base_sha, &target_sha)?;
            let ends = (
                history.commit(&base_sha)?.time,
                history.commit(&target_sha)?.time,
            );
            anyhow::Ok((
                history.code(&base_sha)?,
                history.code(&target_sha)?,
                commits.len(),
                ends,
            ))
        })
        .await
        .map_err(|e| Trouble::task(&e))?;
        row.commits = u32::try_from(commits).unwrap_or(u32::MAX);
        row.span_days = (ends.1 - ends.0) as f64 / 86_400.0;
        row.target_time = Some(ends.1 * 1_000);
        row.image = self
            .load_image(&data.join("image.tar.gz"))
            .await
            .map_err(|e| Trouble::task(&e))?;

        let (target_report, _, seconds) = self.test(row, &oracle, "target").await?;
        row.suite_seconds = seconds;
        let tests = TestList::of_target(&target_report);
        if tests.is_empty() {
            return Err(Trouble::Task("the target passes no test".into()));
        }
        let base = base.with_folder_of(suite::TESTS, &oracle);
        let (base_report, raw, _) = self.test(row, &base, "base").await?;
        row.suite = Suite::of(tests, &base_report);
        self.artifacts.put(&base_report_key(&row.id), raw).await?;
        Ok(())
    }

    async fn unpack(&self, data: &Path, task: &TaskId) -> std::result::Result<History, Trouble> {
        let (archive, checkout) = (data.join("code.zip"), self.folders.checkout(task));
        blocking(move || {
            if let Some(parent) = checkout.parent() {
                std::fs::create_dir_all(parent)
                    .with_context(|| format!("cannot create {}", parent.display()))?;
            }
            files::unzip(&archive, &checkout, CHECKOUT)
        })
        .await
        .map_err(|e| Trouble::task(&e))?;
        Ok(self.folders.history(task))
    }

    /// Loads an image archive, unless this very file was loaded before.
    async fn load_image(&self, archive: &Path) -> anyhow::Result<String> {
        let identity = files::identity(archive)?;
        let mut loaded = self.loaded.lock().await;
        if let Some(digest) = loaded.get(&identity) {
            return Ok(digest.clone());
        }
        let digest = self.images.load(archive).await?;
        loaded.insert(identity, digest.clone());
        Ok(digest)
    }

    /// Tests one end of a task: report, report as written, seconds.
    async fn test(
        &self,
        row: &TaskRow,
        code: &CodeTree,
        end: &str,
    ) -> std::result::Result<(Report, Vec<u8>, f64), Trouble> {
        let spec = BoxSpec {
            image: row.image.clone(),
            limits: self.limits,
            purpose: Purpose::Preparation(format!("import {} {end}", row.id)),
            agent: None,
        };
        let sandbox = self.sandbox.open(&spec).await?;
        let mut last_lines: Vec<String> = Vec::new();
        let mut on_line = |line: &str| {
            last_lines.push(line.to_owned());
            if last_lines.len() > 20 {
                last_lines.remove(0);
            }
        };
        let run = suite::run(sandbox.as_ref(), code, self.limits, &mut on_line).await?;
        match run.result {
            Ok(report) => Ok((report, run.raw.unwrap_or_default(), run.seconds)),
            Err(why) => {
                let tail = last_lines.join("\n");
                Err(Trouble::Task(
                    format!("the target's tests do not run on the {end} code: {why}\n{tail}")
                        .trim_end()
                        .to_owned(),
                ))
            }
        }
    }
}

/// Whose fault it is that a task could not be prepared.
enum Trouble {
    Task(String),
    Platform(Error),
}

impl Trouble {
    fn task(error: &anyhow::Error) -> Self {
        Self::Task(format!("{error:#}"))
    }
}

impl From<anyhow::Error> for Trouble {
    fn from(error: anyhow::Error) -> Self {
        Self::Platform(error.into())
    }
}

impl From<SandboxError> for Trouble {
    fn from(error: SandboxError) -> Self {
        Self::Platform(Error::Unavailable(error.to_string()))
    }
}

fn describe(position: usize, total: usize, line: &TaskLine, row: &TaskRow) -> String {
    let id = &row.id;
    match &row.state {
        TaskState::Unusable { reason } => format!("[{position}/{total}] {id}: unusable: {reason}"),
        TaskState::Ready => {
            let gap = row.suite.counts.gap();
            let declared = match line.declared_gap {
                Some(declared) if declared != gap => format!(" (declared: {declared})"),
                _ => String::new(),
            };
            format!(
                "[{position}/{total}] {id}: base passes {}, target {}, gap {gap}{declared}, suite {:.1} s",
                row.suite.counts.base_passed, row.suite.counts.target, row.suite_seconds
            )
        }
    }
}
