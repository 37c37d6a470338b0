//! Writes a split: in the official layout, and into the store.

use std::path::Path;

use anyhow::Context;
use swe_ci_base::blocking::blocking;
use swe_ci_base::error::Result;
use swe_ci_base::files;
use swe_ci_dataset::{TaskLine, export, split_detail};
use swe_ci_store::TaskRow;
use swe_ci_views::dataset::SplitSource;

use crate::curator::Curator;

impl Curator<'_> {
    /// Moves the tasks to their place among the datasets, with metadata, plan,
    /// datasheet and checksums, and adds the split to the store. Idempotent.
    pub async fn publish(&self, tasks: Vec<(TaskLine, TaskRow)>) -> Result<()> {
        let split = &self.plan.split;
        let datasets = self.curations.settings.data.join("datasets");
        let place = std::path::absolute(datasets.join(split)).context("cannot resolve its path")?;
        let store = self.curations.store;
        for (position, (_, row)) in (0u32..).zip(&tasks) {
            store.put_task(split, position, row).await?;
        }
        let source = SplitSource::Curated {
            curation_id: self.id.to_owned(),
        };
        store.put_origin(split, &source).await?;
        let datasheet = split_detail(store, split).await?.datasheet();
        let lines = tasks.into_iter().map(|(line, row)| TaskLine {
            declared_gap: Some(row.suite.counts.gap()),
            ..line
        });
        let lines: Vec<TaskLine> = lines.collect();
        let plan = self.plan.to_toml()?;
        let (folder, name) = (self.dataset(), split.clone());
        blocking(move || {
            // An earlier process has moved them already.
            if !folder.exists() {
                return Ok(());
            }
            keep_only(&folder.join("data"), &lines)?;
            let more = [("plan.toml", plan), ("DATASHEET.md", datasheet)];
            export::write_beside(&folder, &name, &lines, &more)?;
            files::remove_folder(&place)?;
            if let Some(parent) = place.parent() {
                std::fs::create_dir_all(parent)?;
            }
            std::fs::rename(&folder, &place)
                .with_context(|| format!("cannot create {}", place.display()))
        })
        .await?;
        Ok(())
    }
}

fn keep_only(data: &Path, lines: &[TaskLine]) -> anyhow::Result<()> {
    for entry in std::fs::read_dir(data)? {
        let entry = entry?;
        let name = entry.file_name();
        let selected = |line: &TaskLine| name == *line.task_id.as_str();
        if !lines.iter().any(selected) {
            files::remove_folder(&entry.path())?;
        }
    }
    Ok(())
}
