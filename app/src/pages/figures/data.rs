//! The figures of one split, and all that is said beside them.

use std::collections::HashMap;
use std::sync::Arc;

use swe_ci_core::metrics::{Convention, Gamma};
use swe_ci_core::requirement::Mode;
use swe_ci_plots::Series;
use swe_ci_views::figures::{Basis, Data, Figure};
use swe_ci_views::leaderboard::Board;
use swe_ci_views::view::SplitSummary;

use crate::error::AppError;
use crate::pages::splits::choose;
use crate::query::{EXCLUDE, LEADER, Query, Reading};

#[derive(Debug, Clone)]
pub struct Shown {
    /// Empty before the first import.
    pub splits: Vec<SplitSummary>,
    pub split: Option<String>,
    pub mode: Mode,
    pub gamma: Gamma,
    pub convention: Convention,
    pub basis: Basis,
    /// How many worse runs the figures leave out.
    pub worse: usize,
    /// How the runs look.
    pub series: Series,
    /// The number of each run in the pictures, by its id.
    pub lines: HashMap<String, usize>,
    pub figures: Vec<(Figure, Data)>,
    /// Models that have scores only in the other convention.
    pub unscored: Vec<String>,
    /// Models of the runs that have scores and no rank.
    pub unranked: Vec<String>,
    /// Split and number of tasks of the published figures.
    pub published: (String, u32),
    /// The day of the request, `YYYY-MM-DD`.
    pub today: String,
    /// Whether the chart over γ shows differences from the leader.
    pub from_leader: bool,
    /// Whether rows of figures have the order of the ranking.
    pub by_rank: bool,
    /// Whether only unseen tasks count.
    pub unseen: bool,
}

/// The figures, or one of them, of the requested split; by default of the one
/// with the most tasks.
pub(super) async fn shown(reading: Reading, only: Option<Figure>) -> Result<Shown, AppError> {
    let Reading {
        split,
        mode,
        gamma,
        convention,
        from_leader,
        by_rank,
        view,
        ..
    } = reading;
    let unseen = view.unseen;
    let engine = crate::error::engine()?;
    let splits = engine.splits().await?;
    let split = choose(&splits, split)?;
    let ranking = match &split {
        Some(split) => {
            let board = Board::new(split, mode);
            engine.ranking(board, gamma, convention, unseen).await?
        }
        None => Arc::default(),
    };
    let wanted = only.map_or_else(|| Figure::ALL.to_vec(), |one| vec![one]);
    let (basis, mut figures) = engine.figures(&ranking, wanted).await?;
    let ranked = ranking.rows().iter().map(|row| row.run_id.as_str());
    let place: HashMap<&str, usize> = ranked.zip(0..).collect();
    for (_, data) in &mut figures {
        match data {
            Data::Curves(curves) => curves.from_leader = from_leader,
            Data::Bars(bars) if by_rank => {
                bars.bars
                    .sort_by_key(|bar| place.get(bar.run.run_id.as_str()).copied());
            }
            _ => {}
        }
    }
    let data = ranking.data();
    let unscored = data.unscored(convention);
    let unranked = data.unranked_runs().into_iter();
    let published = &data.published;
    let series = Series::new(data, ranking.rows());
    let entries = data.entries.iter().enumerate();
    let lines = entries.map(|(index, entry)| (entry.run_id.clone(), series.of(index).number));
    Ok(Shown {
        lines: lines.collect(),
        worse: ranking.rows().len() - basis.runs,
        series,
        unscored: unscored.map(|entry| entry.model.clone()).collect(),
        unranked: unranked.map(|run| run.model).collect(),
        published: (published.split.clone(), published.tasks),
        today: engine.today(),
        from_leader,
        by_rank,
        unseen,
        basis,
        figures,
        splits,
        split,
        mode,
        gamma,
        convention,
    })
}

impl Shown {
    /// Whether no run has a score in either convention.
    pub(super) fn is_empty(&self) -> bool {
        self.basis.runs == 0 && self.unscored.is_empty()
    }

    /// The address of a single figure: `api/v1/plots/x.svg`, `embed/x`.
    pub(super) fn address(&self, path: &str) -> String {
        let split = self.split.as_deref();
        let query = Query::of_ranking(split, self.mode, self.gamma, self.convention);
        let query = query.with("seen", self.unseen.then_some(EXCLUDE));
        format!("/{path}{}", query.0)
    }

    /// The same for the shown form of a figure.
    pub(super) fn address_of(&self, which: Figure, path: &str) -> String {
        let relative = which == Figure::EvoscoreGamma && self.from_leader;
        let query = Query(self.address(path));
        query.with("relative", relative.then_some(LEADER)).0
    }
}
