//! A split read into the store, several tasks at a time.

use std::path::Path;
use std::sync::Arc;

use futures::{StreamExt, TryStreamExt};
use swe_ci_core::run::Limits;
use swe_ci_core::task::TaskId;
use swe_ci_core::view::TaskState;

use super::prepare::Workbench;
use super::{TaskFolders, TaskLine, metadata};
use crate::artifacts::Artifacts;
use crate::error::{Error, Result};
use crate::host;
use crate::sandbox::Sandbox;
use crate::shelf::Shelf;
use crate::store::{Store, TaskRow};

/// The most times a suite is repeated.
const MOST_REPEATS: u32 = 100;

/// How a split is imported.
#[derive(Debug, Clone)]
pub struct ImportOptions {
    /// How often the target's suite is run, 1 to 100: what does not pass every
    /// time is no part of T.
    pub repeats: u32,
    /// Tasks prepared at a time; as many as the machine carries when absent.
    pub parallel: Option<usize>,
    /// Only these; all when empty.
    pub only: Vec<TaskId>,
    /// Those that are ready are prepared again as well.
    pub again: bool,
}

impl Default for ImportOptions {
    fn default() -> Self {
        Self {
            repeats: 3,
            parallel: None,
            only: Vec::new(),
            again: false,
        }
    }
}

/// Reads dataset folders into the store.
#[derive(Debug)]
pub struct Importer<'a> {
    pub store: &'a Store,
    pub artifacts: &'a Artifacts,
    pub sandbox: Arc<dyn Sandbox>,
    pub shelf: &'a Shelf,
    pub folders: &'a TaskFolders,
    pub limits: Limits,
    pub options: &'a ImportOptions,
}

impl Importer<'_> {
    /// Imports a split. A bad metadata file imports nothing; a task that
    /// cannot be used is recorded as unusable with the reason and does not
    /// stop the rest. A task that is ready already is left as it is, so that
    /// an import that was interrupted goes on where it was.
    pub async fn import(
        &self,
        folder: &Path,
        split: &str,
        say: &(dyn Fn(String) + Send + Sync),
    ) -> Result<Vec<TaskRow>> {
        let lines = self.lines(folder, split)?;
        let bench = Workbench {
            artifacts: self.artifacts,
            sandbox: &*self.sandbox,
            shelf: self.shelf,
            folders: self.folders,
            limits: self.limits,
            repeats: self.options.repeats,
            folder,
        };
        let parallel = self.options.parallel;
        let parallel = parallel.unwrap_or_else(|| host::carries(self.limits));
        let mut done = 0;
        let total = lines.len();
        let one = |(position, line): (u32, TaskLine)| {
            let bench = &bench;
            async move {
                let row = self.row(bench, &line).await?;
                self.store.put_task(split, position, &row).await?;
                Ok::<_, Error>((position, line, row))
            }
        };
        let mut rows: Vec<(u32, TaskRow)> = futures::stream::iter(lines)
            .map(one)
            .buffer_unordered(parallel.max(1))
            .map_ok(|(position, line, row)| {
                done += 1;
                say(format!("[{done}/{total}] {}", describe(&line, &row)));
                (position, row)
            })
            .try_collect()
            .await?;
        rows.sort_by_key(|(position, _)| *position);
        Ok(rows.into_iter().map(|(_, row)| row).collect())
    }

    /// The lines of the metadata file that are wanted, with their positions.
    fn lines(&self, folder: &Path, split: &str) -> Result<Vec<(u32, TaskLine)>> {
        let ImportOptions { repeats, only, .. } = self.options;
        if !swe_ci_core::task::is_plain_name(split) {
            return Err(Error::Invalid(format!("`{split}` cannot name a split")));
        }
        if !(1..=MOST_REPEATS).contains(repeats) {
            return Err(Error::Invalid(format!(
                "repeats: {repeats} is not between 1 and {MOST_REPEATS}"
            )));
        }
        let csv = folder.join("metadata").join(format!("{split}.csv"));
        let lines = metadata::read_only(&csv, only);
        lines.map_err(|error| Error::Invalid(format!("{error:#}")))
    }

    async fn row(&self, bench: &Workbench<'_>, line: &TaskLine) -> Result<TaskRow> {
        let known = self.store.find_task(&line.task_id).await?;
        let stays = |row: &TaskRow| {
            !self.options.again
                && row.state == TaskState::Ready
                && row.base_sha == line.base_sha
                && row.target_sha == line.target_sha
        };
        match known.filter(stays) {
            Some(row) => Ok(row),
            None => bench.prepare(line).await,
        }
    }
}

fn describe(line: &TaskLine, row: &TaskRow) -> String {
    let id = &row.id;
    match &row.state {
        TaskState::Unusable { reason } => format!("{id}: unusable: {reason}"),
        TaskState::Ready => {
            let gap = row.suite.counts.gap();
            let declared = match line.declared_gap {
                Some(declared) if declared != gap => format!(" (declared: {declared})"),
                _ => String::new(),
            };
            let found = row.preparation.findings.iter();
            let found = found.map(|finding| format!("; {}", finding.title()));
            format!(
                "{id}: base passes {}, target {}, gap {gap}{declared}, suite {:.1} s{}",
                row.suite.counts.base_passed,
                row.suite.counts.target,
                row.suite_seconds,
                found.collect::<String>()
            )
        }
    }
}
