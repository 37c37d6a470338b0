//! The façade's questions that go over several splits: all runs of a model,
//! all runs on a task.

use std::collections::HashMap;
use std::sync::Arc;

use swe_ci_core::figures::Curve;
use swe_ci_core::leaderboard::{
    Entry, Judge, ModelDetail, ModelRun, Sheet, Standing, Strengths, TaskResult, Trend, strengths,
};
use swe_ci_core::metrics::{Convention, Gamma};
use swe_ci_core::task::TaskId;

use crate::Engine;
use crate::blocking::blocking;
use crate::error::{Error, Result};

impl Engine {
    /// How every run that is scored on a task fared there, at γ = 1; by
    /// split, then as the runs were submitted.
    ///
    /// # Errors
    /// [`Error::NotFound`] when there is no such task.
    pub async fn results_of_task(&self, task: &TaskId) -> Result<Vec<TaskResult>> {
        self.inner.store.task(task).await?;
        let mut results = Vec::new();
        for split in self.inner.store.splits_of_task(task).await? {
            let sheet = self.sheet(&split).await?;
            let on_task = |entry: &Entry| entry.on_task(&split, task, Gamma::ONE);
            results.extend(sheet.entries.iter().filter_map(on_task));
        }
        Ok(results)
    }

    /// All runs of a model, where they stand, and what it is good at.
    ///
    /// # Errors
    /// [`Error::NotFound`] when no run is of a model of this name.
    pub async fn model(&self, model: &str) -> Result<ModelDetail> {
        let mut runs = Vec::new();
        let mut sheets = Vec::new();
        for split in self.splits().await? {
            let mut of_split = self.inner.store.runs_of_split(&split.name).await?;
            of_split.retain(|run| run.config.model == model);
            if !of_split.is_empty() {
                sheets.push(self.sheet(&split.name).await?);
                runs.extend(of_split);
            }
        }
        if runs.is_empty() {
            return Err(Error::not_found("model", model));
        }
        let name = model.to_owned();
        let (mut standings, mut trends, strengths) = blocking(move || {
            let trends = trends(&sheets, &name);
            Ok((
                standings(&sheets, &name),
                trends,
                strengths_of(&sheets, &name),
            ))
        })
        .await?;
        let runs = runs.into_iter().map(|summary| ModelRun {
            standings: standings.remove(&summary.run_id).unwrap_or_default(),
            trends: trends.remove(&summary.run_id).unwrap_or_default(),
            summary,
        });
        Ok(ModelDetail {
            model: model.to_owned(),
            runs: runs.collect(),
            strengths,
        })
    }
}

/// Where the runs of a model stand, by run.
fn standings(sheets: &[Arc<Sheet>], model: &str) -> HashMap<String, Vec<Standing>> {
    let mut found: HashMap<String, Vec<Standing>> = HashMap::new();
    for sheet in sheets {
        let judge = Judge::new(sheet);
        for convention in Convention::ALL {
            let rows = judge.rank(sheet, Gamma::ONE, convention);
            let of = u32::try_from(rows.len()).unwrap_or(u32::MAX);
            for row in rows.into_iter().filter(|row| row.model == model) {
                let standing = Standing {
                    convention,
                    of,
                    row,
                };
                let id = standing.row.run_id.clone();
                found.entry(id).or_default().push(standing);
            }
        }
    }
    found
}

/// How the code of a model's runs fared, by run.
fn trends(sheets: &[Arc<Sheet>], model: &str) -> HashMap<String, Vec<Trend>> {
    let entries = sheets.iter().flat_map(|sheet| &sheet.entries);
    let trends = entries.filter(|entry| entry.model == model).map(|entry| {
        let of = |convention| {
            let curve = Curve::of(entry, convention)?.rounded();
            Some(Trend {
                convention,
                changes: curve.changes().to_vec(),
            })
        };
        let trends = Convention::ALL.into_iter().filter_map(of);
        (entry.run_id.clone(), trends.collect())
    });
    trends.collect()
}

fn strengths_of(sheets: &[Arc<Sheet>], model: &str) -> Vec<Strengths> {
    let entries = sheets.iter().flat_map(|sheet| &sheet.entries);
    let runs: Vec<&Entry> = entries.filter(|entry| entry.model == model).collect();
    let of = |convention| Strengths {
        convention,
        groups: strengths(&runs, Gamma::ONE, convention),
    };
    let all = Convention::ALL.into_iter().map(of);
    all.filter(|strengths| !strengths.groups.is_empty())
        .collect()
}
