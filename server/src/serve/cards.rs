//! `/og/…`: the preview card of each page, at the page's own address with `/og`
//! before and `.png` after. `swe_ci_app` decides on a page's card and its
//! content.

use std::sync::Arc;

use axum::Router;
use axum::middleware::from_fn;
use axum::response::Response;
use axum::routing::get;
use swe_ci_app::pages::cards::{self, PLAIN};
use swe_ci_core::task::TaskId;
use swe_ci_engine::{Engine, Error};
use swe_ci_plots::card::Card;
use swe_ci_views::figures::{Figure, MOST_RUNS, Study};
use swe_ci_views::leaderboard::Board;

use crate::api::{ComparisonParameters, Query, Ranking, SampleParameter, refuse_parameters};
use crate::app::App;
use crate::extract::{ActorEngine, Path};
use crate::pictures::{Scale, png};
use crate::problem::Problem;

type Answer = Result<Response, Problem>;

pub(crate) fn routes() -> Router<App> {
    let without_parameters = Router::new()
        .route("/og/pages/{file}", get(plain))
        .route("/og/models/{file}", get(model))
        .route("/og/tasks/{file}", get(task))
        .route("/og/runs/{file}", get(run))
        .route("/og/runs/{run}/{evolution}/{file}", get(iteration))
        .route_layer(from_fn(refuse_parameters));
    Router::new()
        .route("/og/leaderboard.png", get(leaderboard))
        .route("/og/compare.png", get(compare))
        .route("/og/figures/{file}", get(figure))
        .route("/og/runs/{run}/tasks/{file}", get(evolution))
        .merge(without_parameters)
}

async fn drawn(card: impl FnOnce() -> Card + Send + 'static) -> Answer {
    png(Scale::ONE, move || card().draw()).await
}

/// The file's name without `.png`.
fn stem(file: &str) -> Result<&str, Problem> {
    let stem = file.strip_suffix(".png").filter(|stem| !stem.is_empty());
    stem.ok_or_else(|| Problem::parameter("file", file, "a name and `.png`"))
}

async fn plain(Path(file): Path<String>) -> Answer {
    let name = stem(&file)?;
    match PLAIN.into_iter().find(|page| page.name == name) {
        Some(page) => drawn(move || page.card()).await,
        None => Err(Problem::no_such_address(&format!("/og/pages/{file}"))),
    }
}

async fn leaderboard(engine: ActorEngine, Query(ranking): Query<Ranking>) -> Answer {
    let study = study(&engine, &ranking).await?;
    drawn(move || cards::leaderboard(&study)).await
}

async fn figure(
    engine: ActorEngine,
    Path(file): Path<String>,
    Query(ranking): Query<Ranking>,
) -> Answer {
    let which: Figure = stem(&file)?.parse()?;
    let study = study(&engine, &ranking).await?;
    drawn(move || cards::figure(which, &study)).await
}

async fn compare(engine: ActorEngine, Query(comparing): Query<ComparisonParameters>) -> Answer {
    let versus = comparing.versus(&engine).await?;
    // A comparison is of two runs at least.
    let first = comparing.runs.first().ok_or_else(Problem::internal)?;
    let board = Board::of(&engine.run_summary(first).await?.config);
    let leaderboard = engine.leaderboard_data(board).await?;
    drawn(move || cards::comparison(&versus, leaderboard)).await
}

async fn model(engine: ActorEngine, Path(file): Path<String>) -> Answer {
    let model = engine.model(stem(&file)?, false).await?;
    let Some((run, standing)) = cards::best_run(&model) else {
        return Err(Problem::internal());
    };
    let (run, standing) = (run.clone(), standing.cloned());
    let leaderboard = engine.leaderboard_data(Board::of(&run.config)).await?;
    drawn(move || cards::model(&model, &run, standing.as_ref(), leaderboard)).await
}

async fn run(engine: ActorEngine, Path(file): Path<String>) -> Answer {
    let run = engine.run(stem(&file)?).await?.summary;
    let standing = engine.standing(&run).await?;
    let leaderboard = engine.leaderboard_data(Board::of(&run.config)).await?;
    drawn(move || cards::run(&run, standing.as_ref(), leaderboard)).await
}

async fn evolution(
    engine: ActorEngine,
    Path((run, file)): Path<(String, String)>,
    Query(which): Query<SampleParameter>,
) -> Answer {
    let task = task_id(stem(&file)?)?;
    let detail = engine.evolution(&run, &task, which.sample).await?;
    drawn(move || cards::evolution(&detail)).await
}

async fn iteration(
    engine: ActorEngine,
    Path((run, evolution, file)): Path<(String, String, String)>,
) -> Answer {
    let text = stem(&file)?;
    let number = text
        .parse()
        .map_err(|_| Problem::parameter("file", &file, "a number and `.png`"))?;
    let run = engine.run(&run).await?;
    match cards::iteration(&run, &evolution, number) {
        Some(card) => drawn(move || card).await,
        None => Err(Error::not_found_in("this evolution", "iteration", text).into()),
    }
}

async fn task(engine: ActorEngine, Path(file): Path<String>) -> Answer {
    let detail = engine.task(&task_id(stem(&file)?)?).await?;
    drawn(move || cards::task(&detail)).await
}

fn task_id(text: &str) -> Result<TaskId, Problem> {
    TaskId::new(text).map_err(|e| Problem::about_parameter("file", e.to_string()))
}

/// The best runs of the requested split, else of the default one.
async fn study(engine: &Engine, ranking: &Ranking) -> Result<Study, Problem> {
    let (gamma, convention) = (ranking.gamma, ranking.convention);
    let split = match &ranking.split {
        Some(split) => Some(split.clone()),
        None => engine.default_split().await?,
    };
    let ranking = match &split {
        Some(split) => {
            let board = Board::new(split, ranking.mode);
            engine.ranking(board, gamma, convention, false).await?
        }
        None => Arc::default(),
    };
    Ok(engine.study(&ranking, MOST_RUNS).await?)
}
