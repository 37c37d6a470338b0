//! The data of a comparison, or of the form that selects runs.

use swe_ci_core::metrics::{Convention, Gamma};
use swe_ci_core::requirement::Mode;
use swe_ci_views::leaderboard::{Board, GateReport, GateRules, Row, Snapshot, Versus};
use swe_ci_views::trajectories::FailedSteps;
use swe_ci_views::view::SplitSummary;

use super::query::CompareQuery;
use crate::error::{AppError, ErrorKind};
use crate::pages::splits::splits_on;

pub(super) async fn compare(query: &CompareQuery) -> Result<Versus, AppError> {
    let task = query.task.clone().map(crate::error::task_id).transpose()?;
    let engine = crate::error::engine()?;
    let (gamma, convention) = (query.gamma, query.convention);
    let (runs, day) = (&query.runs, query.snapshot.as_deref());
    let versus = engine.compare(runs, gamma, convention, task.as_ref(), query.unseen, day);
    Ok(versus.await?)
}

/// The number of each run's look.
pub(super) async fn looks_of(
    versus: &Versus,
    snapshot: Option<&str>,
) -> Result<Vec<usize>, AppError> {
    let boards = versus.runs.iter().map(|run| {
        let board = Board::new(&versus.split, run.mode);
        (board.on(snapshot.map(str::to_owned)), &*run.run_id)
    });
    crate::looks::numbers(boards.collect()).await
}

/// The scored runs of a split: the requested one, else that of a run, else the
/// one with the most tasks.
pub async fn comparable_runs(
    split: Option<String>,
    run: Option<String>,
    snapshot: Option<String>,
) -> Result<Comparable, AppError> {
    let engine = crate::error::engine()?;
    let splits = splits_on(snapshot.as_deref()).await?;
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
        let board = Board::new(&split, mode).on(snapshot.clone());
        let leaderboard = engine.leaderboard_data(board).await?;
        // In this convention every scored run has a row.
        let mut own = leaderboard.rank(Gamma::ONE, Convention::Reference);
        own.extend(leaderboard.unranked_rows(Gamma::ONE, Convention::Reference));
        own.retain(|row| row.mode == mode);
        rows.extend(own);
    }
    let snapshot = match snapshot {
        Some(day) => Some(engine.snapshot(&day, Some(&split)).await?),
        None => None,
    };
    Ok(Comparable {
        splits,
        split,
        rows,
        snapshot,
    })
}

#[derive(Debug, Clone, Default)]
pub struct Comparable {
    pub splits: Vec<SplitSummary>,
    pub split: String,
    /// By mode, best first.
    pub rows: Vec<Row>,
    /// The snapshot that they are of; absent for the present.
    pub snapshot: Option<Snapshot>,
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
        /// The snapshot that they are of; absent for the present.
        snapshot: Option<Snapshot>,
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
            choice: comparable_runs(query.split, query.with.clone(), query.snapshot).await?,
            ticked: query.with.into_iter().collect(),
            refused: None,
        });
    }
    let (gamma, convention) = (query.gamma, query.convention);
    match compare(&query).await {
        Ok(versus) => {
            let engine = crate::error::engine()?;
            let looks = looks_of(&versus, query.snapshot.as_deref()).await?;
            if let Some(day) = &query.snapshot {
                let snapshot = engine.snapshot(day, Some(&versus.split)).await?;
                return Ok(Found::Compared {
                    versus: Box::new(versus),
                    looks,
                    // Known of runs that exist alone.
                    failures: Vec::new(),
                    gates: Vec::new(),
                    snapshot: Some(snapshot),
                });
            }
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
                snapshot: None,
            })
        }
        // After a request for something unknown, the reader can choose from the
        // existing runs.
        Err(refused) if matches!(refused.kind, ErrorKind::Invalid | ErrorKind::NotFound) => {
            let first = query.runs.first().cloned();
            let choice = match comparable_runs(None, first.clone(), query.snapshot).await {
                // There is no such snapshot, perhaps.
                Err(AppError {
                    kind: ErrorKind::NotFound,
                    ..
                }) => comparable_runs(None, first, None).await?,
                found => found?,
            };
            Ok(Found::Choosing {
                choice,
                ticked: query.runs,
                refused: Some(refused),
            })
        }
        Err(error) => Err(error),
    }
}
