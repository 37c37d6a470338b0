use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;
use swe_ci_app::plots::{self, Curves, Size, Theme};

use super::Result;
use super::leaderboard::Ranking;
use super::problem::ProblemBody;
use super::query::Query;
use crate::serve::App;

/// EvoScore against γ, a line per run, as a picture for papers and slides.
#[utoipa::path(
    get,
    path = "/api/v1/plots/evoscore-gamma.svg",
    tag = "results",
    params(Ranking),
    responses(
        (status = 200, description = "The picture", body = String, content_type = "image/svg+xml"),
        (status = 400, description = "A parameter cannot be used", body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "There is no such split", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn evoscore_gamma(
    State(app): State<App>,
    Query(ranking): Query<Ranking>,
) -> Result<impl IntoResponse> {
    let sheet = ranking.sheet(&app.engine).await?;
    let curves = Curves::of(&sheet, ranking.convention);
    let figure = plots::evoscore_gamma(&curves, ranking.gamma, Size::PRINT, Theme::Paper);
    Ok(([(header::CONTENT_TYPE, "image/svg+xml")], figure.svg))
}
