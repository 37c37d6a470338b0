//! Results across splits: all runs of a model, all runs on a task; and listings
//! for programs that follow or index the site.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use swe_ci_base::blocking::blocking;
use swe_ci_base::error::{Error, Result};
use swe_ci_core::finding::Unranked;
use swe_ci_core::metrics::{Convention, Gamma};
use swe_ci_core::requirement::Mode;
use swe_ci_core::task::TaskId;
use swe_ci_store::RunListing;
use swe_ci_views::leaderboard::{
    Board, Entry, LeaderboardData, ModelDetail, ModelRun, Row, Standing, Strengths, TaskResult,
    Trend, extremes, strengths,
};
use swe_ci_views::view::RunSummary;

use crate::{Engine, as_u32};

/// All items with a page of their own.
#[derive(Debug, Clone)]
pub struct Directory {
    /// Newest first.
    pub runs: Vec<RunListing>,
    /// By name.
    pub models: Vec<String>,
    /// By name.
    pub tasks: Vec<String>,
}

#[derive(Debug, Clone)]
pub struct NewResult {
    pub run: RunSummary,
    /// Absent without a scored task, and for an unranked run.
    pub standing: Option<Standing>,
    pub unranked: Option<Unranked>,
}

#[swe_ci_boxed::boxed]
impl Engine {
    pub async fn directory(&self) -> Result<Directory> {
        let runs = self.store.list_runs().await?;
        let mut models: Vec<String> = runs.iter().map(|run| run.model.clone()).collect();
        models.sort();
        models.dedup();
        Ok(Directory {
            tasks: self.store.list_tasks().await?,
            models,
            runs,
        })
    }

    /// The last finished or imported runs, latest first.
    pub async fn latest_results(&self, limit: u32) -> Result<Vec<NewResult>> {
        let mut results = Vec::new();
        for id in self.store.latest_results(limit).await? {
            let run = self.store.run(&id).await?;
            let standing = self.standing(&run).await?;
            let unranked = self.without_rank(&run).await?;
            results.push(NewResult {
                run,
                standing,
                unranked,
            });
        }
        Ok(results)
    }

    /// A run's rank at γ = 1, in the paper's convention or, where only counts are
    /// known, in the other; `None` when it has no rank, as a handover.
    pub async fn standing(&self, run: &RunSummary) -> Result<Option<Standing>> {
        if run.config.handover.is_some() {
            return Ok(None);
        }
        for convention in Convention::ALL {
            let of_run = |row: &Row| row.run_id == run.run_id;
            let mut standings = self
                .standings(Board::of(&run.config), convention, false, of_run)
                .await?;
            if let Some(standing) = standings.pop() {
                return Ok(Some(standing));
            }
        }
        Ok(None)
    }

    /// The ranks of some runs of a board at γ = 1, best first; if `unseen`, counting
    /// only tasks that a model cannot have seen.
    async fn standings(
        &self,
        board: Board,
        convention: Convention,
        unseen: bool,
        is_wanted: impl Fn(&Row) -> bool,
    ) -> Result<Vec<Standing>> {
        // Rankings are cached, so runs of one board share one.
        let ranking = self.ranking(board, Gamma::ONE, convention, unseen).await?;
        let places = ranking.rows().iter().enumerate();
        let places = places
            .filter(|(_, row)| is_wanted(row))
            .map(|(place, _)| place);
        let rows = self.rows(&ranking, places.collect()).await?;
        let of = as_u32(ranking.rows().len());
        let standing = |row| Standing {
            convention,
            of,
            row,
        };
        Ok(rows.into_iter().map(standing).collect())
    }

    /// The result of every scored run on a task, at γ = 1; by split and mode,
    /// then in order of submission.
    pub async fn results_of_task(
        &self,
        task: &TaskId,
        split: Option<&str>,
    ) -> Result<Vec<TaskResult>> {
        self.store.task(task).await?;
        let mut results = Vec::new();
        for split in self
            .store
            .splits_of_task(task, split.unwrap_or_default())
            .await?
        {
            let on_task = |entry: &Entry| entry.on_task(&split, task, Gamma::ONE);
            let mut seen = BTreeSet::new();
            for mode in Mode::ALL {
                let leaderboard = self.leaderboard_data(Board::new(&split, mode)).await?;
                // The human baseline is on the boards of all modes.
                let entries = leaderboard.entries.iter();
                let new = entries.filter(|entry| seen.insert(entry.run_id.clone()));
                results.extend(new.filter_map(on_task));
            }
        }
        Ok(results)
    }

    /// All runs of a model, their ranks, and the model's strengths; if `unseen`, only
    /// over the tasks that it cannot have seen.
    pub async fn model(&self, model: &str, unseen: bool) -> Result<ModelDetail> {
        let mut runs = Vec::new();
        let mut leaderboards = Vec::new();
        let mut boards: Vec<Board> = Vec::new();
        for run in self.store.list_runs().await?.into_iter().rev() {
            if run.model == model {
                let run = self.store.run(&run.run_id).await?;
                let board = Board::of(&run.config);
                // What it made of other code says nothing of its own.
                if board.handover.is_none() && !boards.contains(&board) {
                    boards.push(board);
                }
                runs.push(run);
            }
        }
        let mut standings: HashMap<String, Vec<Standing>> = HashMap::new();
        for board in boards {
            leaderboards.push(match unseen {
                true => self.unseen(board.clone()).await?.data.clone(),
                false => self.leaderboard_data(board.clone()).await?,
            });
            for convention in Convention::ALL {
                let of_model = |row: &Row| row.model == model;
                let standings_of = self.standings(board.clone(), convention, unseen, of_model);
                for standing in standings_of.await? {
                    let of_run = standings.entry(standing.row.run_id.clone());
                    of_run.or_default().push(standing);
                }
            }
        }
        if runs.is_empty() {
            return Err(Error::not_found("model", model));
        }
        let apart = leaderboards.iter().flat_map(|data| data.unranked_runs());
        let mut apart: HashMap<String, Unranked> =
            apart.map(|run| (run.run_id, run.unranked)).collect();
        let name = model.to_owned();
        let (mut trends, strengths) = blocking(move || {
            let all = &leaderboards[..];
            Ok((trends(all, &name), strengths_of(all, &name)))
        })
        .await?;
        let runs = runs.into_iter().map(|summary| ModelRun {
            unranked: apart.remove(&summary.run_id),
            standings: standings.remove(&summary.run_id).unwrap_or_default(),
            trends: trends.remove(&summary.run_id).unwrap_or_default(),
            summary,
        });
        let runs: Vec<ModelRun> = runs.collect();
        let ids: Vec<String> = runs.iter().map(|run| run.summary.run_id.clone()).collect();
        let lost = self.lost_by_class_in(&ids).await?;
        Ok(ModelDetail {
            model: model.to_owned(),
            runs,
            strengths,
            lost,
        })
    }
}

fn entries<'a>(
    leaderboards: &'a [Arc<LeaderboardData>],
    model: &'a str,
) -> impl Iterator<Item = &'a Entry> {
    let all = leaderboards.iter().flat_map(|of_split| &of_split.entries);
    all.filter(move |entry| entry.model == model)
}

/// The code quality of a model's runs over their iterations, by run.
fn trends(leaderboards: &[Arc<LeaderboardData>], model: &str) -> HashMap<String, Vec<Trend>> {
    let trends = entries(leaderboards, model).map(|entry| {
        let of = |convention| {
            let curve = entry.curve(convention)?.rounded();
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
    let runs: Vec<&Entry> = entries(leaderboards, model).collect();
    let of = |convention| Strengths {
        convention,
        groups: strengths(&runs, Gamma::ONE, convention),
        extremes: extremes(&runs, Gamma::ONE, convention),
    };
    let all = Convention::ALL.into_iter().map(of);
    all.filter(|strengths| !strengths.groups.is_empty())
        .collect()
}
