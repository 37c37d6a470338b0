//! Imports a split into the store, several tasks concurrently.

use std::path::Path;
use std::sync::Arc;

use futures::{StreamExt, TryStreamExt};
use swe_ci_base::error::{Error, Result};
use swe_ci_core::run::Limits;
use swe_ci_core::task::{TaskId, TestCommand};
use swe_ci_sandbox::image_cache::ImageCache;
use swe_ci_sandbox::{Sandbox, host};
use swe_ci_store::artifacts::Artifacts;
use swe_ci_store::{Store, TaskRow};
use swe_ci_views::view::TaskState;

use super::prepare::TaskPreparation;
use super::{TaskFolders, TaskLine, metadata, metadata_file};

/// Maximum runs of the suite on each end.
const MAX_REPEATS: u32 = 100;

#[derive(Debug, Clone)]
pub struct ImportOptions {
    /// How often to run the suite on each end, 1 to 100. Tests that do not come out
    /// alike every time are not part of T.
    pub repeats: u32,
    /// Tasks prepared concurrently; if absent, as many as the machine can run.
    pub parallel: Option<usize>,
    /// Only these tasks; all if empty.
    pub only: Vec<TaskId>,
    /// Also prepare tasks again that are ready.
    pub again: bool,
    /// How pytest is started for their tests; if absent, as the metadata file
    /// says.
    pub test_command: Option<TestCommand>,
}

impl Default for ImportOptions {
    fn default() -> Self {
        Self {
            repeats: 5,
            parallel: None,
            only: Vec::new(),
            again: false,
            test_command: None,
        }
    }
}

/// Reads dataset folders into the store.
#[derive(Debug)]
pub struct Importer<'a> {
    pub store: &'a Store,
    pub artifacts: &'a Artifacts,
    pub sandbox: Arc<dyn Sandbox>,
    pub image_cache: &'a ImageCache,
    pub folders: &'a TaskFolders,
    pub options: &'a ImportOptions,
}

impl Importer<'_> {
    /// Imports a split. A bad metadata file imports nothing. An unusable task is
    /// recorded with the reason and does not stop the rest. Tasks that are ready
    /// stay as they are, so that an interrupted import can be resumed.
    pub async fn import(
        &self,
        folder: &Path,
        split: &str,
        say: &(dyn Fn(String) + Send + Sync),
    ) -> Result<Vec<TaskRow>> {
        let lines = self.lines(folder, split)?;
        let preparation = TaskPreparation {
            artifacts: self.artifacts,
            sandbox: &*self.sandbox,
            image_cache: self.image_cache,
            folders: self.folders,
            repeats: self.options.repeats,
            test_command: self.options.test_command.clone(),
            limits: Limits::default(),
            folder,
            say,
        };
        let parallel = self.options.parallel;
        let parallel = parallel.unwrap_or_else(|| host::carries(Limits::default()));
        let declared = lines.first().and_then(|(_, line)| line.iterations());
        self.store.declare_iterations(split, declared).await?;
        let mut done = 0;
        let total = lines.len();
        let one = |(position, line): (u32, TaskLine)| {
            let preparation = &preparation;
            async move {
                let row = self.row(preparation, split, &line).await?;
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

    fn lines(&self, folder: &Path, split: &str) -> Result<Vec<(u32, TaskLine)>> {
        let ImportOptions { repeats, only, .. } = self.options;
        if !swe_ci_core::task::is_plain_name(split) {
            return Err(Error::Invalid(format!("`{split}` cannot name a split")));
        }
        if !(1..=MAX_REPEATS).contains(repeats) {
            return Err(Error::Invalid(format!(
                "repeats: {repeats} is not between 1 and {MAX_REPEATS}"
            )));
        }
        let lines = metadata::read_tasks(&metadata_file(folder, split), only);
        lines.map_err(|error| Error::Invalid(format!("{error:#}")))
    }

    /// The revision with this content if it is ready, or a new one.
    async fn row(
        &self,
        preparation: &TaskPreparation<'_>,
        split: &str,
        line: &TaskLine,
    ) -> Result<TaskRow> {
        let command = self.options.test_command.clone();
        let command = command.unwrap_or_else(|| line.test_command());
        let may_stay = |row: &TaskRow| {
            !self.options.again
                && row.state == TaskState::Ready
                && row.base_sha == line.base_sha
                && row.target_sha == line.target_sha
                && row.test_command == command
        };
        let mut known = self.store.revisions_of_task(&line.task_id, split).await?;
        known.retain(may_stay);
        if !known.is_empty() {
            let image = preparation.image_at_hand(line).await?;
            let same = |row: &TaskRow| image.as_ref().is_none_or(|image| *image == row.image);
            if let Some(row) = known.into_iter().find(same) {
                let extra = line.extra.clone();
                return Ok(TaskRow { extra, ..row });
            }
        }
        Ok(preparation.prepare(line).await?.0)
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
