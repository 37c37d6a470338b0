use axum::Json;
use axum::extract::State;
use swe_ci_core::leaderboard::{Row, Sheet};
use swe_ci_core::metrics::{Convention, Gamma};
use swe_ci_core::view::Page;
use swe_ci_engine::{Engine, PageRequest};
use utoipa::IntoParams;

use super::Result;
use super::problem::{Problem, ProblemBody};
use super::query::{FromQuery, Given, PageParameters, Query};
use crate::serve::App;

/// Rows on a page when the request does not say.
const LIMIT: u32 = 100;

/// Which leaderboard, and how tests and iterations count in it.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Ranking {
    /// The split; the first one when absent.
    #[param(example = "demo")]
    split: Option<String>,
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
    /// What is to be ranked; nothing while there is no split at all.
    pub(crate) async fn sheet(&self, engine: &Engine) -> Result<Sheet> {
        let split = match &self.split {
            Some(split) => Some(split.clone()),
            None => engine.splits().await?.into_iter().next().map(|s| s.name),
        };
        match split {
            Some(split) => Ok(engine.sheet(&split).await?),
            None => Ok(Sheet::default()),
        }
    }
}

/// A page of a leaderboard.
#[derive(Debug)]
pub(crate) struct RankingPage {
    ranking: Ranking,
    page: PageRequest,
}

impl FromQuery for RankingPage {
    const NAMES: &'static [&'static str] = &["split", "gamma", "convention", "limit", "after"];

    fn from_query(given: &Given) -> Result<Self, Problem> {
        Ok(Self {
            ranking: Ranking::from_query(given)?,
            page: given.page()?,
        })
    }
}

/// The leaderboard of a split, best first.
#[utoipa::path(
    get,
    path = "/api/v1/leaderboard",
    tag = "results",
    params(Ranking, PageParameters),
    responses(
        (status = 200, description = "Rows, best first", body = Page<Row>),
        (status = 400, description = "A parameter cannot be used", body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "There is no such split", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn leaderboard(
    State(app): State<App>,
    Query(RankingPage { ranking, page }): Query<RankingPage>,
) -> Result<Json<Page<Row>>> {
    let sheet = ranking.sheet(&app.engine).await?;
    let rows = sheet.rank(ranking.gamma, ranking.convention);
    page_of(rows, &page).map(Json)
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
