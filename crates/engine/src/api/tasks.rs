//! Tasks and splits: lists, details, export.

use std::collections::HashMap;
use std::path::Path;

use swe_ci_base::blocking::blocking;
use swe_ci_base::clock::rfc3339;
use swe_ci_base::error::{Error, Result};
use swe_ci_core::audit::Coverage;
use swe_ci_core::results::MAX_ITERATIONS;
use swe_ci_core::task::TaskId;
use swe_ci_curation::Plan;
use swe_ci_dataset::{TEST_COMMAND, TaskLine, export, harbor, metadata_table, split_detail};
use swe_ci_store::TaskRow;
use swe_ci_views::account::AccountRole;
use swe_ci_views::browse::{ListOrder, Spread, TaskFilter};
use swe_ci_views::dataset::{Counted, SplitDetail, SplitListed, SplitSource, spreads};
use swe_ci_views::view::{
    Commit, Page, SplitSummary, TaskDetail, TaskState, TaskSummary, TaskTest,
};

use crate::api::runs::PageRequest;
use crate::{Engine, Say, as_u32};

#[derive(Debug, Clone, Default)]
pub struct TasksWanted {
    /// Only of this split; of all when absent.
    pub split: Option<String>,
    pub filter: TaskFilter,
    pub order: ListOrder,
}

/// A page of tasks, with statistics over all of them.
#[derive(Debug, Clone)]
pub struct TasksFound {
    pub page: Page<TaskSummary>,
    /// The number of matches, on all pages.
    pub found: u32,
    /// The number of tasks in the split, or of all.
    pub all: u32,
    /// Over the matches.
    pub spreads: Vec<Spread>,
    /// Of the split, or of all.
    pub repositories: Vec<Counted>,
    pub licences: Vec<Counted>,
}

#[swe_ci_boxed::boxed]
impl Engine {
    pub async fn splits(&self) -> Result<Vec<SplitSummary>> {
        self.store.splits().await
    }

    /// The splits with their origins.
    pub async fn listed_splits(&self) -> Result<Vec<SplitListed>> {
        self.store.listed_splits().await
    }

    /// The name of the split that is shown where none is asked for; none before the
    /// first import.
    pub async fn default_split(&self) -> Result<Option<String>> {
        let splits = self.splits().await?;
        Ok(SplitSummary::largest(&splits).map(|split| split.name.clone()))
    }

    /// Tasks in the requested order.
    ///
    /// # Errors
    /// [`Error::NoSuchPage`] when the page begins after none of these tasks.
    pub async fn tasks(&self, wanted: &TasksWanted, request: &PageRequest) -> Result<TasksFound> {
        let limit = request.limit()? as usize;
        let split = wanted.split.as_deref();
        if let Some(split) = split {
            self.check_split(split).await?;
        }
        let mut all = self.store.task_summaries(split).await?;
        let splits = match split {
            Some(split) => vec![split.to_owned()],
            None => self.splits().await?.into_iter().map(|s| s.name).collect(),
        };
        self.add_results(&mut all, &splits).await?;
        let coverages: HashMap<String, Coverage> =
            self.coverages(split).await?.into_iter().collect();
        for task in &mut all {
            let coverage = coverages.get(task.task_id.as_str());
            task.contradicted = coverage.and_then(Coverage::share);
        }
        let repositories = Counted::all(all.iter().map(|task| task.repo.as_str()));
        let licences = Counted::all(all.iter().filter_map(|task| task.licence.as_deref()));
        let count = as_u32(all.len());
        let fits = |task: &TaskSummary| wanted.filter.wants(task);
        let mut tasks: Vec<TaskSummary> = all.into_iter().filter(fits).collect();
        wanted.order.sort(&mut tasks);
        let from = match request.after() {
            "" => 0,
            after => {
                let at = tasks.iter().position(|task| task.task_id.as_str() == after);
                at.ok_or_else(|| Error::NoSuchPage(after.to_owned()))? + 1
            }
        };
        let end = tasks.len().min(from + limit);
        let items = tasks[from..end].to_vec();
        let next = (end < tasks.len()).then(|| tasks[end - 1].task_id.to_string());
        Ok(TasksFound {
            page: Page { items, next },
            found: as_u32(tasks.len()),
            all: count,
            spreads: spreads(&tasks),
            repositories,
            licences,
        })
    }

    pub async fn split(&self, name: &str) -> Result<SplitDetail> {
        let mut detail = split_detail(&self.store, name).await?;
        detail.audited = self.audited(name).await?;
        Ok(detail)
    }

    /// A split's metadata file in the official form, with the gaps measured
    /// here.
    pub async fn split_metadata(&self, name: &str) -> Result<Vec<u8>> {
        let rows = self.store.tasks_of_split(name).await?;
        let lines: Vec<TaskLine> = rows.iter().map(line).collect();
        Ok(metadata_table(&lines)?)
    }

    /// Whether a split has tasks that can be exported; for administrators.
    ///
    /// # Errors
    /// [`Error::NotFound`] for the split; [`Error::Conflict`] when no task is
    /// ready.
    pub async fn check_export(&self, name: &str) -> Result<()> {
        self.require(AccountRole::Admin)?;
        self.ready_tasks(name).await.map(drop)
    }

    /// Writes the runnable tasks of a split into a folder in the official
    /// layout, with a datasheet, checksums and the plan of its curation; for
    /// administrators. The same split gives the same bytes. Returns the number of
    /// tasks.
    ///
    /// # Errors
    /// As of [`Self::check_export`]; [`Error::Conflict`] when the folder is not
    /// empty; [`Error::Unavailable`] when an image is missing.
    pub async fn export(&self, name: &str, folder: &Path, say: Say<'_>) -> Result<usize> {
        self.require(AccountRole::Admin)?;
        let rows = self.to_export(name, folder).await?;
        for (at, row) in rows.iter().enumerate() {
            say(format!("[{}/{}] {}", at + 1, rows.len(), row.id));
            let data = folder.join("data").join(row.id.as_str());
            self.folders.fetched(row).await?;
            self.load_image_of(row).await?;
            export::write_task(&self.folders, &self.images, row, &data).await?;
            if let Some(options) = row.preparation.options_dropped() {
                say(format!(
                    "{}: its settings ask for {}, which nothing in its image knows; \
                     the benchmark's own program stops there",
                    row.id,
                    options.join(" ")
                ));
            }
        }
        let detail = self.split(name).await?;
        let mut beside = vec![("DATASHEET.md", detail.datasheet())];
        if let Some(SplitSource::Curated { curation_id }) = &detail.source {
            let plan = self.store.curation(curation_id).await?.plan;
            let plan = Plan::read(&plan).map_err(Error::Invalid)?;
            beside.push(("plan.toml", plan.to_toml()?));
        }
        let lines: Vec<TaskLine> = rows.iter().map(line).collect();
        let (folder, name) = (folder.to_owned(), name.to_owned());
        blocking(move || export::write_beside(&folder, &name, &lines, &beside)).await?;
        Ok(rows.len())
    }

    /// Writes the runnable tasks of a split into a folder as tasks for Harbor, each
    /// as one step and as an evolution of so many iterations; for administrators.
    /// Returns the number of tasks of the split.
    ///
    /// # Errors
    /// As of [`Self::export`]; [`Error::Invalid`] when the number is 0 or too large.
    pub async fn export_for_harbor(
        &self,
        name: &str,
        folder: &Path,
        iterations: u32,
        say: Say<'_>,
    ) -> Result<usize> {
        self.require(AccountRole::Admin)?;
        if !(1..=MAX_ITERATIONS).contains(&iterations) {
            return Err(Error::Invalid(format!(
                "iterations: an evolution has 1 to {MAX_ITERATIONS}, not {iterations}"
            )));
        }
        let rows = self.to_export(name, folder).await?;
        for (at, row) in rows.iter().enumerate() {
            say(format!("[{}/{}] {}", at + 1, rows.len(), row.id));
            let (folders, images) = (&self.folders, &self.images);
            self.load_image_of(row).await?;
            harbor::write_task(folders, images, &self.artifacts, row, folder, iterations).await?;
        }
        let beside = [("README.md", harbor::README.to_owned())];
        let lines: Vec<TaskLine> = rows.iter().map(line).collect();
        let (folder, name) = (folder.to_owned(), name.to_owned());
        blocking(move || export::write_beside(&folder, &name, &lines, &beside)).await?;
        Ok(rows.len())
    }

    /// The runnable tasks of a split, if they can be exported into this folder.
    async fn to_export(&self, name: &str, folder: &Path) -> Result<Vec<TaskRow>> {
        let rows = self.ready_tasks(name).await?;
        let entries = std::fs::read_dir(folder).ok();
        if entries.is_some_and(|mut entries| entries.next().is_some()) {
            let folder = folder.display();
            return Err(Error::Conflict(format!(
                "{folder} is not empty; name a new folder"
            )));
        }
        Ok(rows)
    }

    /// Loads the image of a task if the engine does not have it, because it was
    /// evicted or another engine imported the task.
    async fn load_image_of(&self, row: &TaskRow) -> Result<()> {
        let loaded = self.image_cache.reload(&row.image).await;
        loaded.map_err(|error| Error::Unavailable(format!("the image of {}: {error:#}", row.id)))
    }

    /// The runnable tasks of a split; at least one.
    pub(super) async fn ready_tasks(&self, name: &str) -> Result<Vec<TaskRow>> {
        let all = self.store.tasks_of_split(name).await?;
        let (ready, unusable): (Vec<_>, Vec<_>) = all
            .into_iter()
            .partition(|row| row.state == TaskState::Ready);
        match unusable.first() {
            Some(first) if ready.is_empty() => Err(none_ready(name, unusable.len(), first)),
            _ => Ok(ready),
        }
    }

    /// A task as it was imported last.
    pub async fn task(&self, id: &TaskId) -> Result<TaskDetail> {
        self.task_in(id, None).await
    }

    /// A task as this split lists it, or as it was imported last.
    ///
    /// # Errors
    /// [`Error::NotFound`] when there is no such task, or not in this split.
    pub async fn task_in(&self, id: &TaskId, split: Option<&str>) -> Result<TaskDetail> {
        let row = match split {
            Some(split) => self.store.task_of_split(id, split).await?,
            None => self.store.task(id).await?,
        };
        let split = split.unwrap_or_default();
        let (base, target) = (row.base_sha.clone(), row.target_sha.clone());
        // An unusable task may have no history to show.
        let commits = match self.folders.fetched(&row).await {
            Ok(history) => blocking(move || history.between(&base, &target)).await,
            Err(error) => Err(error),
        };
        let commits = commits.unwrap_or_default();
        let history = commits.iter().map(|c| Commit {
            sha: c.sha.clone(),
            date: rfc3339(c.time.saturating_mul(1_000)),
            subject: c.subject().to_owned(),
        });
        let ids = row.suite.tests.node_ids().iter();
        let tests = ids.zip(row.suite.base_outcomes.iter());
        let tests = tests.map(|(node_id, base)| TaskTest {
            node_id: node_id.clone(),
            base: base.name().into(),
        });
        let splits = self.store.splits_of_task(id, split).await?;
        let contradictions = self.contradicted(&row).await?;
        let mut summary = row.summary();
        self.add_results(std::slice::from_mut(&mut summary), &splits)
            .await?;
        summary.contradicted = contradictions.as_ref().and_then(Coverage::share);
        let difficulty = summary.difficulty.as_ref();
        Ok(TaskDetail {
            first_requirements: self.first_requirements(id, difficulty).await?,
            splits,
            other_revisions: self.store.other_revisions_of(id, split).await?,
            contradictions,
            image_digest: row.image.clone(),
            history: history.collect(),
            tests: tests.collect(),
            test_command: row.test_command.clone(),
            preparation: row.preparation.clone(),
            extra: row.extra.clone(),
            summary,
        })
    }
}

/// A line of the metadata file, with the gap measured here.
fn line(row: &TaskRow) -> TaskLine {
    let mut extra = row.extra.clone();
    extra.retain(|(column, _)| column != TEST_COMMAND);
    extra.push((TEST_COMMAND.into(), row.test_command.to_string()));
    TaskLine {
        declared_gap: (row.state == TaskState::Ready).then(|| row.suite.counts.gap()),
        task_id: row.id.clone(),
        base_sha: row.base_sha.clone(),
        target_sha: row.target_sha.clone(),
        extra,
    }
}

fn none_ready(split: &str, tasks: usize, first: &TaskRow) -> Error {
    let reason: &str = match &first.state {
        TaskState::Unusable { reason } => reason,
        TaskState::Ready => "",
    };
    Error::Conflict(format!(
        "none of the {tasks} tasks of split `{split}` is ready; {} is not, because: {reason}; \
         `swe-ci read tasks?split={split}` shows the reason of each, and `swe-ci dataset import` with \
         code and images makes tasks ready",
        first.id
    ))
}
