use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use swe_ci_core::metrics::Convention;
use swe_ci_core::run::Kind;
use swe_ci_islands::MovingRun;
use swe_ci_plots::{Curves, SERIES_COLOURS, Size, gamma_lines};
use swe_ci_views::leaderboard::{LeaderboardData, LeftOut, Published, Ranking, Row, UnrankedRun};
use swe_ci_views::view::SplitSummary;

use super::chart::Lines;
use super::tie_mark::{Place, places};
use crate::components::Part;
use crate::error::AppError;
use crate::pages::splits::{choose, splits};
use crate::query::Reading;

/// Rows on one page.
const MOST_ROWS: usize = 100;

/// The data of the page.
pub(super) struct Leaderboard {
    /// Empty before the first import.
    pub splits: Vec<SplitSummary>,
    /// The name of the shown split; empty when there is none.
    pub split: String,
    pub reading: Reading,
    pub published: Published,
    /// All rows, best first; those of the answer and of the page have intervals.
    pub rows: Vec<Row>,
    /// The rows of the view that are on the page.
    pub places: Vec<Place>,
    /// Which part of the view they are.
    pub part: Part,
    /// The colour of each run, by its id, from 1.
    pub colours: HashMap<String, usize>,
    /// The lowest score of any row at any γ of the chart.
    pub lowest: Option<f64>,
    /// The lines of the chart, on wide and on narrow screens.
    pub lines: [Lines; 2],
    /// The runs of the rows, whose scores follow γ.
    pub moving: Vec<MovingRun>,
    /// Runs with a score, in either convention.
    pub runs: usize,
    /// The largest N among them.
    pub most_iterations: u32,
    /// The day of the request, `YYYY-MM-DD`.
    pub today: String,
    /// The number of repositories of the counted tasks.
    pub repositories: usize,
    /// Models with counts only, which have no row in this convention.
    pub counts_only: Vec<String>,
    /// Runs with scores and without a rank.
    pub unranked: Vec<UnrankedRun>,
    /// The results that counting only unseen tasks leaves out, in that mode.
    pub left_out: Option<LeftOut>,
}

/// The leaderboard for an address; of no split before the first import.
pub(super) async fn leaderboard(reading: Reading) -> Result<Leaderboard, AppError> {
    let engine = crate::error::engine()?;
    let splits = splits().await?;
    let split = choose(&splits, reading.split.clone())?;
    let (gamma, convention, unseen) = (reading.gamma, reading.convention, reading.view.unseen);
    let (mut ranking, mut left_out) = (Arc::<Ranking>::default(), None);
    let (mut runs, mut most_iterations) = (0, None);
    if let Some(split) = &split {
        let all = engine.leaderboard_data(split).await?;
        runs = all.entries.len();
        most_iterations = all.entries.iter().map(|entry| entry.max_iterations).max();
        ranking = engine.ranking(split, gamma, convention, unseen).await?;
        if unseen {
            left_out = Some(engine.unseen(split).await?.left_out.clone());
        }
    }
    let mut rows = ranking.rows().to_vec();
    let mut places = places(&rows, &reading.view);
    let part = Part::new(reading.from, MOST_ROWS, places.len());
    places = places.drain(part.range()).collect();
    // The answer tells the interval of the first, and of the first model.
    let first_model = rows.iter().position(|row| row.kind != Kind::Human);
    let shown = places.iter().map(|place| place.at);
    let shown = shown
        .chain((!rows.is_empty()).then_some(0))
        .chain(first_model);
    let shown: Vec<usize> = shown.collect();
    let with_intervals = engine.rows(&ranking, shown.clone()).await?;
    for (at, row) in shown.into_iter().zip(with_intervals) {
        rows[at] = row;
    }
    for place in &mut places {
        place.row = rows[place.at].clone();
    }
    let featured = featured(&rows);
    let drawn: HashSet<&str> = places
        .iter()
        .map(|place| place.row.run_id.as_str())
        .collect();
    let data = ranking.data();
    let curves = Curves::of(data, convention)
        .only(|run_id| drawn.contains(run_id) || featured.iter().any(|id| id == run_id))
        .featuring(&featured);
    let lines = |size| gamma_lines(&curves, gamma, size);
    let moving = curves.clone().rounded();
    let moving = moving.iter().map(|curve| MovingRun {
        id: curve.run_id.clone(),
        curve: curve.changes().clone(),
    });
    Ok(Leaderboard {
        split: split.unwrap_or_default(),
        published: engine.published().clone(),
        colours: colours(&curves),
        lowest: curves.lowest(),
        lines: [lines(Size::BESIDE), lines(Size::NARROW)],
        moving: moving.collect(),
        most_iterations: most_iterations.unwrap_or(20),
        today: engine.today(),
        repositories: ranking.repositories(),
        counts_only: counts_only(data, convention),
        unranked: data.unranked_runs(),
        left_out,
        places,
        part,
        reading,
        rows,
        runs,
        splits,
    })
}

/// With more rows, only some have a colour of their own: in a chart of many,
/// nobody can follow all.
const FEW: usize = 8;
/// How many of the best have one then, besides the human baseline.
const BEST: usize = 5;

/// The ids of the runs with a colour.
fn featured(rows: &[Row]) -> Vec<String> {
    let is_human = |row: &&Row| row.kind == Kind::Human;
    let most = if rows.len() <= FEW { FEW } else { BEST };
    let models = rows.iter().filter(|row| !is_human(row)).take(most);
    let chosen = rows.iter().filter(is_human).take(1).chain(models);
    chosen.map(|row| row.run_id.clone()).collect()
}

/// The colour of each run in the style sheet, from 1.
fn colours(curves: &Curves) -> HashMap<String, usize> {
    let featured = curves.iter().filter(|curve| curve.featured);
    let colour = |series: usize| series % SERIES_COLOURS + 1;
    featured
        .map(|curve| (curve.run_id.clone(), colour(curve.series)))
        .collect()
}

fn counts_only(data: &LeaderboardData, convention: Convention) -> Vec<String> {
    let unscored = data.unscored(convention);
    let known = unscored.filter(|entry| entry.counts_only());
    known.map(|entry| entry.model.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use swe_ci_plots::fixture::leaderboard;

    #[test]
    fn counts_alone_are_ranked_in_the_other_convention() {
        let mut leaderboard = leaderboard(&[("known", &[0.5]), ("counted", &[0.5])]);
        assert_eq!(leaderboard.repositories(), 1);
        leaderboard.entries[1].tasks_mut()[0].samples[0].paper = None;
        assert_eq!(counts_only(&leaderboard, Convention::Paper), ["counted"]);
        assert!(counts_only(&leaderboard, Convention::Reference).is_empty());
        // A run without any scored task is not one with counts only.
        leaderboard.entries[1].tasks_mut().clear();
        assert!(counts_only(&leaderboard, Convention::Paper).is_empty());
    }
}
