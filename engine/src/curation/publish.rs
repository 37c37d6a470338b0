//! A split written out: into the official layout, and into the store.

use std::path::{Path, PathBuf};

use anyhow::Context;
use swe_ci_core::dataset::SplitSource;

use super::plan::Plan;
use crate::Engine;
use crate::blocking::blocking;
use crate::dataset::{TaskLine, export};
use crate::error::Result;
use crate::files;
use crate::store::TaskRow;

/// What is published, and where it was made.
pub struct Publisher<'a> {
    pub engine: &'a Engine,
    pub curation: &'a str,
    pub plan: &'a Plan,
    /// Folder with `data/<task>/…` of every task that was tried.
    pub made: PathBuf,
}

impl Publisher<'_> {
    /// Moves the tasks to their place among the datasets, with metadata, plan,
    /// datasheet and checksums beside them, and puts the split into the store.
    /// Done again it does no harm.
    pub async fn publish(&self, tasks: Vec<(TaskLine, TaskRow)>) -> Result<()> {
        let split = &self.plan.split;
        let datasets = self.engine.config().data.join("datasets");
        let place = std::path::absolute(datasets.join(split)).context("no place for it")?;
        let store = &self.engine.inner.store;
        for (position, (_, row)) in (0u32..).zip(&tasks) {
            store.put_task(split, position, row).await?;
        }
        let source = SplitSource::Curated {
            curation_id: self.curation.to_owned(),
        };
        store.put_origin(split, &source).await?;
        let sheet = self.engine.split(split).await?.datasheet();
        let lines = tasks.into_iter().map(|(line, row)| TaskLine {
            declared_gap: Some(row.suite.counts.gap()),
            ..line
        });
        let lines: Vec<TaskLine> = lines.collect();
        let plan = toml::to_string_pretty(self.plan).context("the plan cannot be written")?;
        let (made, name) = (self.made.clone(), split.clone());
        blocking(move || {
            // Moved already, by a process that came no further.
            if !made.exists() {
                return Ok(());
            }
            keep_only(&made.join("data"), &lines)?;
            let more = [("plan.toml", plan), ("DATASHEET.md", sheet)];
            export::write_beside(&made, &name, &lines, &more)?;
            files::remove_folder(&place)?;
            if let Some(parent) = place.parent() {
                std::fs::create_dir_all(parent)?;
            }
            std::fs::rename(&made, &place)
                .with_context(|| format!("cannot create {}", place.display()))
        })
        .await?;
        Ok(())
    }
}

/// Removes the tasks that were not taken.
fn keep_only(data: &Path, lines: &[TaskLine]) -> anyhow::Result<()> {
    for entry in std::fs::read_dir(data)? {
        let entry = entry?;
        let name = entry.file_name();
        let kept = |line: &TaskLine| name == *line.task_id.as_str();
        if !lines.iter().any(kept) {
            files::remove_folder(&entry.path())?;
        }
    }
    Ok(())
}
