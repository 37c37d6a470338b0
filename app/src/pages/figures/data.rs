//! The figures of one split, and all that is said beside them.

use std::collections::HashMap;
use std::sync::Arc;

use swe_ci_core::metrics::{Convention, Gamma};
use swe_ci_core::requirement::Mode;
use swe_ci_plots::Series;
use swe_ci_views::figures::{Basis, Data, Figure};
use swe_ci_views::leaderboard::{Board, Published, Snapshot};
use swe_ci_views::view::SplitSummary;

use crate::error::AppError;
use crate::pages::splits::{choose, splits_on};
use crate::query::{EXCLUDE, LEADER, PAPER, Query, Reading};

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
    /// Where the published results are from, without them.
    pub published: Published,
    /// The day of the request, `YYYY-MM-DD`.
    pub today: String,
    /// Whether the chart over γ shows differences from the leader.
    pub from_leader: bool,
    /// Whether rows of figures have the order of the ranking.
    pub by_rank: bool,
    /// Whether ranks are shown for the γs of the paper's figure alone.
    pub papers_range: bool,
    /// Whether only unseen tasks count.
    pub unseen: bool,
    /// The snapshot that they are of; absent for the present.
    pub snapshot: Option<Snapshot>,
}

/// The figures, or one of them, of the requested split; by default of the one
/// with the most tasks.
pub(super) async fn shown(reading: Reading, only: Option<Figure>) -> Result<Shown, AppError> {
    let Reading {
        snapshot,
        split,
        mode,
        gamma,
        convention,
        from_leader,
        by_rank,
        papers_range,
        view,
        ..
    } = reading;
    let unseen = view.unseen;
    let engine = crate::error::engine()?;
    let splits = splits_on(snapshot.as_deref()).await?;
    let split = choose(&splits, split)?;
    let ranking = match &split {
        Some(split) => {
            let board = Board::new(split, mode).on(snapshot);
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
            Data::Ranks(ranks) if papers_range => ranks.keep_the_papers(),
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
    Ok(Shown {
        lines: Series::numbers(data),
        worse: ranking.rows().len() - basis.runs,
        series: Series::new(data, ranking.rows()),
        unscored: unscored.map(|entry| entry.model.clone()).collect(),
        unranked: unranked.map(|run| run.model).collect(),
        published: Published {
            rows: Vec::new(),
            ..data.published.clone()
        },
        today: engine.today(),
        from_leader,
        by_rank,
        papers_range,
        unseen,
        snapshot: data.snapshot.clone(),
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
        let day = self.snapshot.as_ref().map(|snapshot| snapshot.day.as_str());
        let query = Query::of_ranking(day, split, self.mode, self.gamma, self.convention);
        let query = query.with("seen", self.unseen.then_some(EXCLUDE));
        format!("/{path}{}", query.0)
    }

    /// The same for the shown form of a figure.
    pub(super) fn address_of(&self, which: Figure, path: &str) -> String {
        let relative = which == Figure::EvoscoreGamma && self.from_leader;
        let papers = which == Figure::RankByGamma && self.papers_range;
        let query = Query(self.address(path));
        let query = query.with("relative", relative.then_some(LEADER));
        query.with("range", papers.then_some(PAPER)).0
    }
}
