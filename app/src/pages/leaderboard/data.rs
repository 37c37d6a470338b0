use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use swe_ci_core::metrics::{Convention, Gamma};
use swe_ci_core::requirement::Mode;
use swe_ci_core::run::{Kind, Progress};
use swe_ci_engine::{Engine, Error, PageRequest};
use swe_ci_islands::MovingRun;
use swe_ci_plots::{Curves, RunLook, Series, Size, gamma_lines};
use swe_ci_views::figures::{Data, Figure};
use swe_ci_views::leaderboard::{
    Board, ChangedRow, Entry, LeaderboardData, LeftOut, Published, Ranking, Row, Snapshot,
    UnrankedRun, changed_rows, featured, leader,
};
use swe_ci_views::run_list::RunFilter;
use swe_ci_views::view::{RunSummary, SplitSummary};

use super::chart::Lines;
use super::opened::Opened;
use super::places::{Place, mostly_tied, places};
use crate::components::Part;
use crate::error::AppError;
use crate::format;
use crate::pages::splits::{choose, splits_on};
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
    /// The shown snapshot, and what changed since; no changes are known when its
    /// split is gone.
    pub snapshot: Option<(Snapshot, Option<Vec<ChangedRow>>)>,
    pub published: Published,
    /// All rows, best first; those of the answer and of the page have intervals.
    pub rows: Vec<Row>,
    /// The rows of the view that are on the page.
    pub places: Vec<Place>,
    /// Which part of the view they are.
    pub part: Part,
    /// A sentence in place of a word on each row, where nearly all are tied.
    pub tied: Option<String>,
    /// The row that is open.
    pub opened: Option<Opened>,
    /// How the runs look in figures.
    pub series: Series,
    /// Score against money and time, where runs have these.
    pub frontier: Vec<(Figure, Data)>,
    /// While nothing is ranked: the run of the human baseline that is under way, and
    /// how far it is.
    pub baseline: Option<(String, String)>,
    /// How each run of the chart looks, by its id.
    pub looks: HashMap<String, RunLook>,
    /// The lowest score of any row at any γ of the chart.
    pub lowest: Option<f64>,
    /// The lines of the chart, on wide and on narrow screens.
    pub lines: [Lines; 2],
    /// The row whose score is subtracted from all in the chart.
    pub leader: Option<Row>,
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
    /// Whether the convention is the reference's because nothing has a score in
    /// the paper's.
    pub no_paper_scores: bool,
    /// Models with counts only, which have no row in this convention.
    pub counts_only: Vec<String>,
    /// Runs with scores and without a rank, each with its EvoScore in this view if
    /// it has one.
    pub unranked: Vec<(UnrankedRun, Option<f64>)>,
    /// The results that counting only unseen tasks leaves out, in that mode.
    pub left_out: Option<LeftOut>,
}

/// The leaderboard for an address; of no split before the first import.
pub(super) async fn leaderboard(reading: Reading) -> Result<Leaderboard, AppError> {
    let engine = crate::error::engine()?;
    let splits = splits_on(reading.snapshot.as_deref()).await?;
    let split = choose(&splits, reading.split.clone())?;
    let (gamma, unseen) = (reading.gamma, reading.view.unseen);
    let (mut reading, mut no_paper_scores) = (reading, false);
    let (mut ranking, mut left_out) = (Arc::<Ranking>::default(), None);
    let (mut runs, mut most_iterations, mut baseline, mut snapshot) = (0, None, None, None);
    if let Some(split) = &split {
        let now = Board::new(split, reading.mode);
        let board = now.clone().on(reading.snapshot.clone());
        let all = engine.leaderboard_data(board.clone()).await?;
        runs = all.entries.len();
        most_iterations = all.entries.iter().map(|entry| entry.max_iterations).max();
        no_paper_scores = reading.convention == Convention::Paper && knows_counts_alone(&all);
        if no_paper_scores {
            reading.convention = Convention::Reference;
        }
        let convention = reading.convention;
        ranking = engine
            .ranking(board.clone(), gamma, convention, unseen)
            .await?;
        if runs == 0 && reading.snapshot.is_none() {
            baseline = baseline_at_work(&engine, split).await?;
        }
        if unseen {
            left_out = Some(engine.unseen(board).await?.left_out.clone());
        }
        if let Some(shown) = all.snapshot.clone() {
            let now = match engine.ranking(now, gamma, convention, unseen).await {
                Ok(now) => Some(changed_rows(ranking.rows(), now.rows())),
                Err(Error::NotFound { .. }) => None,
                Err(error) => return Err(error.into()),
            };
            snapshot = Some((shown, now));
        }
    }
    let convention = reading.convention;
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
    let tied = mostly_tied(&mut places);
    let data = ranking.data();
    let on_page = |run: &&str| places.iter().any(|place| place.row.run_id == **run);
    let open = reading.open.as_deref().filter(on_page);
    let open = open.and_then(|run| data.entries.iter().find(|entry| entry.run_id == run));
    let opened = open.map(|entry| Opened::of(entry, gamma, convention));
    reading.open = opened.as_ref().map(|opened| opened.run_id.clone());
    reading.from = part.from;
    let mut frontier = Vec::new();
    if !rows.is_empty() {
        let which = vec![Figure::ScoreByCost, Figure::ScoreByTime];
        (_, frontier) = engine.figures(&ranking, which).await?;
        frontier.retain(|(_, data)| !data.is_empty());
    }
    let on_page = places.iter().map(|place| &place.row);
    let drawn = on_page.chain(featured(&rows));
    let drawn: HashSet<&str> = drawn.map(|row| row.run_id.as_str()).collect();
    let series = Series::new(data, &rows);
    let curves = Curves::of(data, convention, &series, |run_id| drawn.contains(run_id));
    // A line above the leader's belongs to a run that would lead at that γ.
    let leader = leader(&rows).filter(|_| reading.from_leader).cloned();
    let curves = match &leader {
        Some(leader) => curves.from(&leader.run_id),
        None => curves,
    };
    let lines = |size| gamma_lines(&curves, gamma, size);
    let moving = curves.clone().rounded();
    let moving = moving.iter().map(|curve| MovingRun {
        id: curve.run_id.clone(),
        curve: curve.changes().clone(),
    });
    Ok(Leaderboard {
        split: split.unwrap_or_default(),
        published: match (&snapshot, reading.mode) {
            (Some(_), _) => data.published.clone(),
            (None, Mode::Tdd) => engine.published().clone(),
            // They were measured with tests at hand.
            (None, _) => Published::default(),
        },
        snapshot,
        looks: curves.iter().map(|c| (c.run_id.clone(), c.look)).collect(),
        lowest: curves.lowest(),
        lines: [lines(Size::BESIDE), lines(Size::NARROW)],
        moving: moving.collect(),
        leader,
        most_iterations: most_iterations.unwrap_or(20),
        today: engine.today(),
        repositories: ranking.repositories(),
        no_paper_scores,
        counts_only: counts_only(data, convention),
        unranked: unranked(data, gamma, convention),
        left_out,
        places,
        part,
        tied,
        opened,
        series,
        frontier,
        baseline,
        reading,
        rows,
        runs,
        splits,
    })
}

/// The newest run of the human baseline on a split, if it is under way.
async fn baseline_at_work(
    engine: &Engine,
    split: &str,
) -> Result<Option<(String, String)>, AppError> {
    let filter = RunFilter {
        split: Some(split.to_owned()),
        kinds: vec![Kind::Human],
        ..RunFilter::default()
    };
    let request = PageRequest {
        limit: Some(1),
        after: None,
    };
    let newest = engine.runs(&filter, &request).await?.items.pop();
    Ok(newest.and_then(|run| {
        let words = at_work(&run.summary)?;
        Some((run.summary.run_id, words))
    }))
}

/// "Human baseline running: 1 of 4 tasks".
fn at_work(run: &RunSummary) -> Option<String> {
    let word = match run.progress {
        Progress::Queued => "queued",
        Progress::Running => "running",
        Progress::Cancelled | Progress::Finished => return None,
    };
    let tasks = format::count(run.evolutions, "task");
    let over = run.evolutions_over;
    Some(format!("Human baseline {word}: {over} of {tasks}"))
}

fn unranked(
    data: &LeaderboardData,
    gamma: Gamma,
    convention: Convention,
) -> Vec<(UnrankedRun, Option<f64>)> {
    let rows = data.unranked_rows(gamma, convention).into_iter();
    let scores: HashMap<String, f64> = rows.map(|row| (row.run_id, row.evoscore)).collect();
    let runs = data.unranked_runs().into_iter();
    runs.map(|run| {
        let score = scores.get(&run.run_id).copied();
        (run, score)
    })
    .collect()
}

/// Whether no run has a score in the paper's convention, and some has one in the
/// other.
fn knows_counts_alone(data: &LeaderboardData) -> bool {
    let is_scored = |entry: &Entry| entry.is_scored(Convention::Paper);
    !data.entries.iter().any(is_scored) && data.entries.iter().any(Entry::counts_only)
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
        assert!(!knows_counts_alone(&leaderboard));
        let mut counted = leaderboard.clone();
        counted.entries.remove(0);
        assert!(knows_counts_alone(&counted));
        // A run without any scored task is not one with counts only.
        leaderboard.entries[1].tasks_mut().clear();
        assert!(counts_only(&leaderboard, Convention::Paper).is_empty());
    }
}
