use std::sync::Arc;

use axum::Json;
use axum::http::header;
use axum::response::IntoResponse;
use swe_ci_core::leaderboard::export::{Basis, csv};
use swe_ci_core::leaderboard::{Columns, Published, Row, Sheet, View};
use swe_ci_core::metrics::{Convention, Gamma};
use swe_ci_core::view::Page;
use swe_ci_engine::{Engine, PageRequest};
use utoipa::IntoParams;

use super::Result;
use super::problem::{Problem, ProblemBody};
use super::query::{FromQuery, Given, NoParameters, PageParameters, Query};
use crate::auth::As;

/// Rows on a page when the request does not say.
const LIMIT: u32 = 100;

/// Which leaderboard, and how tests and iterations count in it.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Ranking {
    /// The split; the first one when absent.
    #[param(example = "demo")]
    pub split: Option<String>,
    /// Weight of later iterations: above 1 they count more, below 1 less.
    #[param(value_type = Option<f64>, minimum = 0.1, maximum = 10, default = 1)]
    pub gamma: Gamma,
    /// How tests are counted.
    #[param(value_type = Option<Convention>, default = "paper")]
    pub convention: Convention,
}

impl FromQuery for Ranking {
    const NAMES: &'static [&'static str] = &["split", "gamma", "convention"];

    fn from_query(given: &Given) -> Result<Self, Problem> {
        Ok(Self {
            split: given.split()?,
            gamma: given.gamma()?.unwrap_or(Gamma::ONE),
            convention: given.convention()?.unwrap_or_default(),
        })
    }
}

impl Ranking {
    /// What was counted; nothing while there is no split at all.
    pub(crate) async fn sheet(&self, engine: &Engine) -> Result<Arc<Sheet>> {
        match self.split(engine).await? {
            Some(split) => Ok(engine.sheet(&split).await?),
            None => Ok(Arc::default()),
        }
    }

    /// The rows of a view, as the page shows them.
    async fn rows(&self, engine: &Engine, view: &View) -> Result<Vec<Row>> {
        let Some(split) = self.split(engine).await? else {
            return Ok(Vec::new());
        };
        let (gamma, convention) = (self.gamma, self.convention);
        let rows = if view.unseen {
            engine.ranking_of_unseen(&split, gamma, convention).await?
        } else {
            engine.ranking(&split, gamma, convention).await?
        };
        Ok(view.apply(&rows))
    }

    /// The split asked for, else the first one.
    pub(crate) async fn split(&self, engine: &Engine) -> Result<Option<String>> {
        match &self.split {
            Some(split) => Ok(Some(split.clone())),
            None => Ok(engine.splits().await?.into_iter().next().map(|s| s.name)),
        }
    }
}

/// Which rows, in which order. They keep the ranks of the whole ranking.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(
    dead_code,
    reason = "describes the parameters that `Given::view` reads"
)]
pub(crate) struct ViewParameters {
    /// Kinds of runs, with commas between them; all when absent.
    #[param(example = "measured,human")]
    kind: Option<String>,
    /// Only runs of this provider.
    provider: Option<String>,
    /// Only runs with this mark: `verified` or `self-reported`.
    #[param(example = "verified")]
    mark: Option<String>,
    /// Only runs with every word of it in the name of model, provider or
    /// harness, in whatever case.
    text: Option<String>,
    /// `exclude`: a task counts for a model only if its target was committed
    /// after the day the model was released; runs without such a day are left
    /// out.
    #[param(example = "exclude")]
    seen: Option<String>,
    /// The column to sort by, after a `-` from the largest value down: rank,
    /// model, evoscore, zero-regression, net-zero-regression, solved, turns,
    /// mi-wins, pylint-wins, tokens, cost, findings, tasks, released, finished.
    #[param(example = "-solved")]
    sort: Option<String>,
}

/// Which columns of a table.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(
    dead_code,
    reason = "describes the parameter that `Given::columns` reads"
)]
pub(crate) struct ColumnParameters {
    /// Columns with commas between them, as `sort` knows them, or `none`; all
    /// when absent.
    #[param(example = "evoscore,solved")]
    columns: Option<String>,
}

/// A page of a leaderboard.
#[derive(Debug)]
pub(crate) struct RankingPage {
    ranking: Ranking,
    view: View,
    page: PageRequest,
}

impl FromQuery for RankingPage {
    const NAMES: &'static [&'static str] = &[
        "split",
        "gamma",
        "convention",
        "kind",
        "provider",
        "mark",
        "text",
        "seen",
        "sort",
        "limit",
        "after",
    ];

    fn from_query(given: &Given) -> Result<Self, Problem> {
        Ok(Self {
            ranking: Ranking::from_query(given)?,
            view: given.view()?,
            page: given.page()?,
        })
    }
}

/// A leaderboard as a table.
#[derive(Debug)]
pub(crate) struct RankingTable {
    ranking: Ranking,
    view: View,
    columns: Columns,
}

impl FromQuery for RankingTable {
    const NAMES: &'static [&'static str] = &[
        "split",
        "gamma",
        "convention",
        "kind",
        "provider",
        "mark",
        "text",
        "seen",
        "sort",
        "columns",
    ];

    fn from_query(given: &Given) -> Result<Self, Problem> {
        Ok(Self {
            ranking: Ranking::from_query(given)?,
            view: given.view()?,
            columns: given.columns()?,
        })
    }
}

/// The leaderboard of a split, best first, with 95 % intervals (a bootstrap
/// over repositories) and tie groups. Runs that are known by counts alone are
/// in the reference convention only.
#[utoipa::path(
    get,
    path = "/api/v1/leaderboard",
    tag = "results",
    params(Ranking, ViewParameters, PageParameters),
    responses(
        (status = 200, description = "Rows, best first", body = Page<Row>),
        (status = 400, description = "A parameter cannot be used", body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "There is no such split", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn leaderboard(
    As(engine): As,
    Query(RankingPage {
        ranking,
        view,
        page,
    }): Query<RankingPage>,
) -> Result<Json<Page<Row>>> {
    let rows = ranking.rows(&engine, &view).await?;
    page_of(rows, &page).map(Json)
}

/// The same rows as a table for spreadsheets (RFC 4180, UTF-8, all rows).
///
/// Always: split, gamma, convention, seen, rank, rank_best, rank_worst,
/// tie_group, run_id, model, provider, harness, harness_version, kind,
/// progress, metric_version, counts_only. By column: evoscore,
/// zero_regression_rate, solved_rate and average_turns, each with the ends
/// `_low` and `_high` of its 95 % interval; net_zero_regression_rate;
/// mi_win_rate and pylint_win_rate with `_low` and `_high`, and beside them
/// mi_tie_rate, mi_loss_rate and mi_tasks, pylint_tie_rate, pylint_loss_rate
/// and pylint_tasks;
/// input_tokens and output_tokens; cost_usd; findings; tasks, tasks_total and
/// tasks_blocked; release_date; finished_at. What is not known is empty. Names
/// that a spreadsheet would take for a formula have an apostrophe before them.
#[utoipa::path(
    get,
    path = "/api/v1/leaderboard.csv",
    tag = "results",
    params(Ranking, ViewParameters, ColumnParameters),
    responses(
        (status = 200, description = "A head and the rows", body = String, content_type = "text/csv"),
        (status = 400, description = "A parameter cannot be used", body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "There is no such split", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn leaderboard_csv(
    As(engine): As,
    Query(table): Query<RankingTable>,
) -> Result<impl IntoResponse> {
    let RankingTable {
        ranking,
        view,
        columns,
    } = table;
    let rows = ranking.rows(&engine, &view).await?;
    let basis = Basis {
        split: ranking.split(&engine).await?.unwrap_or_default(),
        gamma: ranking.gamma,
        convention: ranking.convention,
        unseen: view.unseen,
    };
    let headers = [(header::CONTENT_TYPE, "text/csv; charset=utf-8")];
    Ok((headers, csv(&rows, columns, &basis)))
}

/// Results known only as they were published: one figure for each model, at
/// γ = 1. They are in no ranking.
#[utoipa::path(
    get,
    path = "/api/v1/published",
    tag = "results",
    responses((status = 200, description = "All of them, best first", body = Published))
)]
pub(crate) async fn published(
    As(engine): As,
    Query(NoParameters): Query<NoParameters>,
) -> Json<&'static Published> {
    Json(engine.published())
}

/// Part of a ranking; a page is continued after a run's id.
fn page_of(mut rows: Vec<Row>, page: &PageRequest) -> Result<Page<Row>> {
    if let Some(after) = &page.after {
        let Some(last_seen) = rows.iter().position(|row| row.run_id == *after) else {
            return Err(Problem::parameter(
                "after",
                after,
                "the `next` of the page before",
            ));
        };
        rows.drain(..=last_seen);
    }
    let limit = page.limit.unwrap_or(LIMIT) as usize;
    let more = rows.len() > limit;
    rows.truncate(limit);
    let next = rows.last().filter(|_| more).map(|row| row.run_id.clone());
    Ok(Page { items: rows, next })
}
