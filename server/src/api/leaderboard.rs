//! The leaderboard of a split, and its matrix of tasks and runs, as JSON and as
//! CSV.

use std::sync::Arc;

use axum::Json;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use swe_ci_core::metrics::{Convention, Gamma};
use swe_ci_core::requirement::Mode;
use swe_ci_core::run::Kind;
use swe_ci_engine::{Engine, Error};
use swe_ci_views::leaderboard::export::{Basis, csv};
use swe_ci_views::leaderboard::{
    self, Board, Column, Columns, LeaderboardData, Matrix, Published, Row, Sort, TaskKey,
    TaskOrder, UnrankedRun, View,
};
use swe_ci_views::verification::Mark;
use swe_ci_views::view::Page;

use super::query::{PageParameters, Query, Seen, in_both_directions, parameters, words};
use super::responses::{Invalid, NoSuchSplit};
use super::{Answer, CSV, Result, download};
use crate::extract::ActorEngine;

/// Rows per page unless the request gives a limit.
const LIMIT: u32 = 100;

parameters! {
    /// The leaderboard, and how tests and iterations count in it.
    struct Ranking of |query| {
        /// The split; the one with the most tasks when absent.
        #[param(example = "demo")]
        split: Option<String> = query.split()?,
        /// The mode of the runs: modes are never ranked together.
        #[param(value_type = Option<Mode>, default = "tdd")]
        mode: Mode = query.mode()?,
        /// The day of a snapshot, to look at it instead of the present.
        #[param(example = "2026-11-27")]
        snapshot: Option<String> = query.day("snapshot")?,
        /// Weight of later iterations: above 1 they count more, below 1 less.
        #[param(value_type = Option<f64>, minimum = 0.1, maximum = 10, default = 1)]
        gamma: Gamma = query.gamma()?,
        /// How tests are counted.
        #[param(value_type = Option<Convention>, default = "paper")]
        convention: Convention = query.convention()?,
    }
}

parameters! {
    /// The leaderboard.
    struct BoardParameters of |query| {
        /// The split; the one with the most tasks when absent.
        #[param(example = "demo")]
        split: Option<String> = query.split()?,
        /// The mode of the runs.
        #[param(value_type = Option<Mode>, default = "tdd")]
        mode: Mode = query.mode()?,
        /// The day of a snapshot, to look at it instead of the present.
        #[param(example = "2026-11-27")]
        snapshot: Option<String> = query.day("snapshot")?,
    }
}

impl Ranking {
    /// The split's data; empty while there is no split.
    pub(crate) async fn data(&self, engine: &Engine) -> Result<Arc<LeaderboardData>> {
        match self.board(engine).await? {
            Some(board) => Ok(engine.leaderboard_data(board).await?),
            None => Ok(Arc::default()),
        }
    }

    /// The split's ranking, if `unseen` by unseen tasks only; empty while there is no
    /// split.
    pub(crate) async fn ranked(
        &self,
        engine: &Engine,
        unseen: bool,
    ) -> Result<Arc<leaderboard::Ranking>> {
        let (gamma, convention) = (self.gamma, self.convention);
        match self.board(engine).await? {
            Some(board) => Ok(engine.ranking(board, gamma, convention, unseen).await?),
            None => Ok(Arc::default()),
        }
    }

    /// The rows of a view, as the page shows them.
    async fn rows(&self, engine: &Engine, view: &View) -> Result<Vec<Row>> {
        let Some(board) = self.board(engine).await? else {
            return Ok(Vec::new());
        };
        let (gamma, convention) = (self.gamma, self.convention);
        let rows = engine.ranked(board, gamma, convention, view.unseen);
        Ok(view.apply(&rows.await?))
    }

    /// The unranked runs of the view.
    async fn unranked_rows(&self, engine: &Engine, view: &View) -> Result<Vec<Row>> {
        let data = match self.board(engine).await? {
            Some(board) if view.unseen => engine.unseen(board).await?.data.clone(),
            _ => self.data(engine).await?,
        };
        Ok(view.apply(&data.unranked_rows(self.gamma, self.convention)))
    }

    /// The requested board; none while there is no split.
    async fn board(&self, engine: &Engine) -> Result<Option<Board>> {
        let split = self.split(engine).await?;
        Ok(split.map(|split| Board::new(split, self.mode).on(self.snapshot.clone())))
    }

    /// The requested split, else the default one, now or on the day of the snapshot.
    async fn split(&self, engine: &Engine) -> Result<Option<String>> {
        match (&self.split, &self.snapshot) {
            (Some(split), _) => Ok(Some(split.clone())),
            (None, Some(day)) => Ok(Some(engine.snapshot(day, None).await?.split)),
            (None, None) => Ok(engine.default_split().await?),
        }
    }

    /// The basis that a file of the ranking states.
    async fn basis(&self, engine: &Engine, unseen: bool) -> Result<Basis> {
        let data = self.data(engine).await?;
        Ok(Basis {
            split: data.split.clone(),
            gamma: self.gamma,
            convention: self.convention,
            unseen,
            made_on: engine.today(),
            snapshot: data.snapshot.clone(),
        })
    }
}

words! {
    /// The order of the rows.
    SortName = in_both_directions(Column::ALL.map(Column::name)), Some(Column::Rank.name());
    /// The order of the tasks.
    TaskSortName = in_both_directions(TaskKey::ALL.map(TaskKey::name)), Some(TaskKey::Mean.name());
}

parameters! {
    /// The rows and their order. Rows keep their ranks of the whole ranking.
    struct ViewParameters of |query| {
        /// Kinds of runs, separated by commas; all when absent.
        #[param(value_type = Option<String>, example = "measured,human")]
        kind: Vec<Kind> = query.kinds()?,
        /// Only runs of this provider.
        provider: Option<String> = query.text("provider", "the name of a provider")?,
        /// Only runs with this mark: `verified` or `self-reported`.
        #[param(value_type = Option<Mark>, example = "verified")]
        mark: Option<Mark> =
            query.parse("mark", "`verified` or `self-reported`", Mark::from_name)?,
        /// Only runs with every word of it in the name of model, provider or
        /// harness; case does not matter.
        #[param(value_type = Option<String>)]
        text: String = query.text("text", "at most 200 bytes of text")?.unwrap_or_default(),
        /// `exclude`: a task counts for a model only if its target was committed
        /// after the day the model was released; runs without a release date are
        /// left out.
        #[param(rename = "seen", inline, value_type = Option<Seen>, example = "exclude")]
        unseen: bool = query.word("seen", [("include", false), ("exclude", true)])?,
        /// The column to sort by, with a leading `-` for descending order: rank,
        /// model, evoscore, zero-regression, net-zero-regression, solved, zrr,
        /// turns, mi-wins, pylint-wins, generalisation, cheating, tokens, cost, tokens-per-task,
        /// cost-per-task, tokens-per-test, cost-per-test, agent-time, wall-time,
        /// findings, tasks, released, finished.
        #[param(inline, value_type = Option<SortName>, example = "-solved")]
        sort: Sort = {
            let must = "the name of a column, with a leading `-` for descending order";
            query.parse("sort", must, |text| text.parse().ok())?.unwrap_or_default()
        },
    }
}

impl From<ViewParameters> for View {
    fn from(parameters: ViewParameters) -> Self {
        Self {
            kinds: parameters.kind,
            provider: parameters.provider,
            mark: parameters.mark,
            text: parameters.text,
            unseen: parameters.unseen,
            sort: parameters.sort,
            columns: Columns::ALL,
        }
    }
}

parameters! {
    /// The columns of a table.
    struct ColumnParameters of |query| {
        /// Columns by their names in `sort`, separated by commas, or `none`; all
        /// when absent.
        #[param(value_type = Option<String>, example = "evoscore,solved")]
        columns: Columns = {
            let must = "`none` or names of columns, separated by commas: evoscore, \
                        zero-regression, net-zero-regression, solved, zrr, turns, mi-wins, \
                        pylint-wins, generalisation, cheating, tokens, cost, tokens-per-task, cost-per-task, \
                        tokens-per-test, cost-per-test, agent-time, wall-time, findings, \
                        tasks, released, finished";
            let of_names = |text: &str| Columns::of_names(text.split(',')).ok();
            query.parse("columns", must, of_names)?.unwrap_or(Columns::ALL)
        },
    }
}

/// The leaderboard of a split, best first, with 95 % intervals (a bootstrap
/// over repositories) and tie groups. Runs imported by counts alone appear only
/// in the reference convention.
#[utoipa::path(
    get, path = "/api/v1/leaderboard", tag = "results",
    params(Ranking, ViewParameters, PageParameters),
    responses((status = 200, description = "Rows, best first", body = Page<Row>), Invalid, NoSuchSplit),
)]
pub(crate) async fn leaderboard(
    engine: ActorEngine,
    Query((ranking, (view, page))): Query<(Ranking, (ViewParameters, PageParameters))>,
) -> Answer<Page<Row>> {
    let rows = ranking.rows(&engine, &view.into()).await?;
    page_of(rows, &page).map(Json)
}

/// The same rows as a table for spreadsheets (RFC 4180, UTF-8, all rows).
///
/// Always: made_on, the day of the request; snapshot, its day if it is one; split, gamma,
/// convention, seen, rank, rank_best, rank_worst, tie_group, run_id, model, provider,
/// harness, harness_version, kind, mode, arm, mark, progress, metric_version, counts_only,
/// unranked. By column: evoscore,
/// zero_regression_rate, solved_rate, zrr and average_turns, each with the ends
/// `_low` and `_high` of its 95 % interval; net_zero_regression_rate;
/// mi_win_rate and pylint_win_rate with `_low` and `_high`, and with them
/// mi_tie_rate, mi_loss_rate and mi_tasks, pylint_tie_rate, pylint_loss_rate
/// and pylint_tasks; generalisation with `_low`, `_high` and `_asked`, the number of
/// changed inputs; cheating_rate with `_low` and `_high`, and contradicted_shown, the
/// number of contradicted tests; input_tokens and output_tokens; cost_usd; of the scored
/// evolutions tokens_per_task, cost_usd_per_task, tokens_per_closed_test,
/// cost_usd_per_closed_test, agent_seconds_per_iteration and
/// wall_seconds_per_iteration, each with `_low` and `_high`; findings; tasks,
/// tasks_total and tasks_blocked; release_date; finished_at. Unranked runs
/// follow the ranking: their ranks are empty, and `unranked` says why. Unknown
/// values are empty. Names that a spreadsheet would take for a formula begin with an
/// apostrophe.
#[utoipa::path(
    get, path = "/api/v1/leaderboard.csv", tag = "results",
    params(Ranking, ViewParameters, ColumnParameters),
    responses(
        (status = 200, description = "A header and the rows", body = String, content_type = "text/csv"),
        Invalid, NoSuchSplit,
    ),
)]
pub(crate) async fn leaderboard_csv(
    engine: ActorEngine,
    Query((ranking, (view, columns))): Query<(Ranking, (ViewParameters, ColumnParameters))>,
) -> Result<impl IntoResponse> {
    let view = View::from(view);
    let mut rows = ranking.rows(&engine, &view).await?;
    rows.extend(ranking.unranked_rows(&engine, &view).await?);
    let basis = ranking.basis(&engine, view.unseen).await?;
    let headers = [(header::CONTENT_TYPE, CSV)];
    Ok((headers, csv(&rows, columns.columns, &basis)))
}

/// The runs of a split that have scores and no rank, each with the reason, such
/// as a suspicious finding that waits for a decision.
#[utoipa::path(
    get, path = "/api/v1/leaderboard/unranked", tag = "results",
    params(BoardParameters),
    responses((status = 200, description = "All of them, by model", body = Vec<UnrankedRun>), Invalid, NoSuchSplit),
)]
pub(crate) async fn unranked(
    engine: ActorEngine,
    Query(board): Query<BoardParameters>,
) -> Answer<Vec<UnrankedRun>> {
    let ranking = Ranking {
        split: board.split,
        mode: board.mode,
        snapshot: board.snapshot,
        gamma: Gamma::ONE,
        convention: Convention::default(),
    };
    Ok(Json(ranking.data(&engine).await?.unranked_runs()))
}

/// Results known only from publications: one figure for each model, at γ = 1.
/// They are in no ranking.
#[utoipa::path(
    get, path = "/api/v1/published", tag = "results",
    responses((status = 200, description = "All of them, best first", body = Published)),
)]
pub(crate) async fn published(engine: ActorEngine) -> Json<&'static Published> {
    Json(engine.published())
}

/// One page of a ranking; it begins after a run's id.
fn page_of(mut rows: Vec<Row>, page: &PageParameters) -> Result<Page<Row>> {
    if let Some(after) = &page.after {
        let last_seen = rows.iter().position(|row| row.run_id == *after);
        let last_seen = last_seen.ok_or_else(|| Error::NoSuchPage(after.clone()))?;
        rows.drain(..=last_seen);
    }
    let limit = page.limit.unwrap_or(LIMIT) as usize;
    let more = rows.len() > limit;
    rows.truncate(limit);
    let next = rows.last().filter(|_| more).map(|row| row.run_id.clone());
    Ok(Page { items: rows, next })
}

parameters! {
    /// The order of the tasks.
    struct OrderParameters of |query| {
        /// The sort key of the tasks, with a leading `-` for descending order: mean
        /// (the hardest task first), spread, solved, zrr, task.
        #[param(inline, value_type = Option<TaskSortName>, example = "-spread")]
        sort: TaskOrder = {
            let must = "mean, spread, solved, zrr or task, with a leading `-` for descending order";
            query.parse("sort", must, |text| text.parse().ok())?.unwrap_or_default()
        },
        /// `exclude`: each run only on tasks that its model cannot have seen.
        #[param(rename = "seen", inline, value_type = Option<Seen>, example = "exclude")]
        unseen: bool = query.word("seen", [("include", false), ("exclude", true)])?,
    }
}

/// The matrix; empty while there is no split at all.
async fn matrix_of(engine: &Engine, ranking: &Ranking, order: OrderParameters) -> Result<Matrix> {
    let Some(board) = ranking.board(engine).await? else {
        return Ok(Matrix::default());
    };
    let OrderParameters { sort, unseen } = order;
    let matrix = engine.matrix(board, ranking.gamma, ranking.convention, sort, unseen);
    Ok(matrix.await?)
}

/// Every task of a split against every run: rows are the tasks that some run is
/// scored on, the hardest first; columns are the runs in the order of the
/// leaderboard.
#[utoipa::path(
    get, path = "/api/v1/matrix", tag = "results",
    params(Ranking, OrderParameters),
    responses((status = 200, description = "The matrix", body = Matrix), Invalid, NoSuchSplit),
)]
pub(crate) async fn matrix(
    engine: ActorEngine,
    Query((ranking, order)): Query<(Ranking, OrderParameters)>,
) -> Answer<Matrix> {
    Ok(Json(matrix_of(&engine, &ranking, order).await?))
}

/// The same as a table: a line for each task and run (RFC 4180, UTF-8). The
/// last column says why a run has no score on a task.
#[utoipa::path(
    get, path = "/api/v1/matrix.csv", tag = "results",
    params(Ranking, OrderParameters),
    responses(
        (status = 200, description = "made_on, snapshot, metric_version, split, gamma, convention, seen, task_id, repo, run_id, model, kind, mode, evoscore, solved, zero_regression, zrr, samples, absence", body = String, content_type = "text/csv"),
        Invalid, NoSuchSplit,
    ),
)]
pub(crate) async fn matrix_csv(
    engine: ActorEngine,
    Query((ranking, order)): Query<(Ranking, OrderParameters)>,
) -> Result<Response> {
    let basis = ranking.basis(&engine, order.unseen).await?;
    let csv = matrix_of(&engine, &ranking, order).await?.csv(&basis);
    Ok(download("swe-ci-matrix.csv", CSV, csv))
}
