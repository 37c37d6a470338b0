//! Results across splits: all runs of a model, all runs on a task.

use std::collections::HashMap;
use std::sync::Arc;

use swe_ci_base::blocking::blocking;
use swe_ci_base::error::{Error, Result};
use swe_ci_core::metrics::{Convention, Gamma};
use swe_ci_core::task::TaskId;
use swe_ci_views::figures::Curve;
use swe_ci_views::leaderboard::{
    Entry, LeaderboardData, ModelDetail, ModelRun, Standing, Strengths, TaskResult, Trend,
    UncertaintyModel, strengths,
};

use crate::Engine;

impl Engine {
    /// The result of every scored run on a task, at γ = 1; by split, then in
    /// order of submission.
    pub async fn results_of_task(&self, task: &TaskId) -> Result<Vec<TaskResult>> {
        self.store.task(task).await?;
        let mut results = Vec::new();
        for split in self.store.splits_of_task(task).await? {
            let leaderboard = self.sheet(&split).await?;
            let on_task = |entry: &Entry| entry.on_task(&split, task, Gamma::ONE);
            results.extend(leaderboard.entries.iter().filter_map(on_task));
        }
        Ok(results)
    }

    /// All runs of a model, their ranks, and the model's strengths.
    pub async fn model(&self, model: &str) -> Result<ModelDetail> {
        let mut runs = Vec::new();
        let mut leaderboards = Vec::new();
        for split in self.splits().await? {
            let mut of_split = self.store.runs_of_split(&split.name).await?;
            of_split.retain(|run| run.config.model == model);
            if !of_split.is_empty() {
                leaderboards.push(self.sheet(&split.name).await?);
                runs.extend(of_split);
            }
        }
        if runs.is_empty() {
            return Err(Error::not_found("model", model));
        }
        let name = model.to_owned();
        let (mut standings, mut trends, strengths) = blocking(move || {
            let trends = trends(&leaderboards, &name);
            Ok((
                standings(&leaderboards, &name),
                trends,
                strengths_of(&leaderboards, &name),
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

/// The ranks of a model's runs, by run.
fn standings(leaderboards: &[Arc<LeaderboardData>], model: &str) -> HashMap<String, Vec<Standing>> {
    let mut found: HashMap<String, Vec<Standing>> = HashMap::new();
    for leaderboard in leaderboards {
        let uncertainty = UncertaintyModel::new(leaderboard);
        for convention in Convention::ALL {
            let rows = uncertainty.rank(leaderboard, Gamma::ONE, convention);
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

/// The code quality of a model's runs over their iterations, by run.
fn trends(leaderboards: &[Arc<LeaderboardData>], model: &str) -> HashMap<String, Vec<Trend>> {
    let entries = leaderboards
        .iter()
        .flat_map(|leaderboard| &leaderboard.entries);
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

fn strengths_of(leaderboards: &[Arc<LeaderboardData>], model: &str) -> Vec<Strengths> {
    let entries = leaderboards
        .iter()
        .flat_map(|leaderboard| &leaderboard.entries);
    let runs: Vec<&Entry> = entries.filter(|entry| entry.model == model).collect();
    let of = |convention| Strengths {
        convention,
        groups: strengths(&runs, Gamma::ONE, convention),
    };
    let all = Convention::ALL.into_iter().map(of);
    all.filter(|strengths| !strengths.groups.is_empty())
        .collect()
}
