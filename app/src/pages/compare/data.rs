//! The data of a comparison, or of the form that selects runs.

use swe_ci_core::metrics::{Convention, Gamma};
use swe_ci_core::requirement::Mode;
use swe_ci_views::leaderboard::{Board, GateReport, GateRules, Row, Versus};
use swe_ci_views::trajectories::FailedSteps;
use swe_ci_views::view::SplitSummary;

use super::query::CompareQuery;
use crate::error::{AppError, ErrorKind};

pub async fn compare(
    // Comma-separated.
    runs: String,
    gamma: Gamma,
    convention: Convention,
    task: Option<String>,
    unseen: bool,
) -> Result<Versus, AppError> {
    let runs: Vec<String> = runs.split(',').map(str::to_owned).collect();
    let task = task.map(crate::error::task_id).transpose()?;
    let engine = crate::error::engine()?;
    let versus = engine.compare(&runs, gamma, convention, task.as_ref(), unseen);
    Ok(versus.await?)
}

/// The scored runs of a split: the requested one, else that of a run, else the
/// one with the most tasks.
pub async fn comparable_runs(
    split: Option<String>,
    run: Option<String>,
) -> Result<Comparable, AppError> {
    let engine = crate::error::engine()?;
    let splits = engine.splits().await?;
    let of_run = match (&split, run) {
        // An unknown run is ignored here; the page has already reported it.
        (None, Some(id)) => engine.run(&id).await.ok().map(|r| r.summary.config.split),
        _ => None,
    };
    let split = split.or(of_run);
    let largest = || SplitSummary::largest(&splits).map(|split| split.name.clone());
    let Some(split) = split.or_else(largest) else {
        return Ok(Comparable::default());
    };
    let mut rows: Vec<Row> = Vec::new();
    for mode in Mode::ALL {
        let leaderboard = engine.leaderboard_data(Board::new(&split, mode)).await?;
        // In this convention every scored run has a row.
        let mut own = leaderboard.rank(Gamma::ONE, Convention::Reference);
        own.extend(leaderboard.unranked_rows(Gamma::ONE, Convention::Reference));
        own.retain(|row| row.mode == mode);
        rows.extend(own);
    }
    Ok(Comparable {
        splits,
        split,
        rows,
    })
}

#[derive(Debug, Clone, Default)]
pub struct Comparable {
    pub splits: Vec<SplitSummary>,
    pub split: String,
    /// By mode, best first.
    pub rows: Vec<Row>,
}

#[derive(Debug, Clone)]
pub enum Found {
    Compared {
        versus: Box<Versus>,
        /// The number of each run's look.
        looks: Vec<usize>,
        /// Of each run.
        failures: Vec<FailedSteps>,
        /// Of each run but the baseline, if there is one.
        gates: Vec<GateReport>,
    },
    Choosing {
        choice: Comparable,
        /// Preselected runs.
        ticked: Vec<String>,
        /// Why the requested runs are not compared.
        refused: Option<AppError>,
    },
}

pub(super) async fn find(query: CompareQuery) -> Result<Found, AppError> {
    if query.runs.is_empty() {
        return Ok(Found::Choosing {
            choice: comparable_runs(query.split, query.with.clone()).await?,
            ticked: query.with.into_iter().collect(),
            refused: None,
        });
    }
    let runs = query.runs.join(",");
    let (gamma, convention, task) = (query.gamma, query.convention, query.task);
    match compare(runs, gamma, convention, task, query.unseen).await {
        Ok(versus) => {
            let engine = crate::error::engine()?;
            let boards = versus.runs.iter();
            let boards = boards.map(|run| (Board::new(&versus.split, run.mode), &*run.run_id));
            let looks = crate::looks::numbers(boards.collect()).await?;
            let mut failures = Vec::new();
            for run in &versus.runs {
                failures.push(engine.failed_steps(&run.run_id).await?);
            }
            let mut gates = Vec::new();
            if let Some(baseline) = &query.baseline {
                let others = versus.runs.iter().filter(|run| run.run_id != *baseline);
                for run in others {
                    let rules = GateRules::default();
                    let gate = engine.gate(baseline, &run.run_id, rules, gamma, convention);
                    gates.push(gate.await?);
                }
            }
            let versus = Box::new(versus);
            Ok(Found::Compared {
                versus,
                looks,
                failures,
                gates,
            })
        }
        // After a request for something unknown, the reader can choose from the
        // existing runs.
        Err(refused) if matches!(refused.kind, ErrorKind::Invalid | ErrorKind::NotFound) => {
            let first = query.runs.first().cloned();
            Ok(Found::Choosing {
                choice: comparable_runs(None, first).await?,
                ticked: query.runs,
                refused: Some(refused),
            })
        }
        Err(error) => Err(error),
    }
}
