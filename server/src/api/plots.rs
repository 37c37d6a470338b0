//! Figures of a leaderboard, as pictures and as numbers.

use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use swe_ci_plots::{self as plots, Layout, Theme};
use swe_ci_views::figures::{Figure, MOST_RUNS, Study};
use utoipa::IntoParams;

use super::Result;
use super::leaderboard::Ranking;
use super::query::{Query, parameters};
use super::responses::Invalid;
use crate::extract::{ActorEngine, Path};
use crate::pictures::{self, Scale};
use crate::problem::Problem;

#[derive(Debug, Deserialize, IntoParams)]
pub(crate) struct FilePath {
    /// The figure's name, then `.svg` or `.png` for a picture or `.csv` for
    /// its numbers. Figures are `evoscore-by-release`, `rank-by-gamma`,
    /// `zero-regression`, `regression-correlation`, `style-wins`,
    /// `changed-lines`, `solved`, `turns`, `best-change`, `evoscore-gamma`,
    /// `score-by-tokens`, `score-by-budget` and `style-trend`.
    #[param(example = "zero-regression.svg")]
    file: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Svg,
    Png,
    Csv,
}

impl FilePath {
    fn parts(&self) -> Result<(Figure, Form)> {
        let (slug, ending) = self.file.rsplit_once('.').unwrap_or((&self.file, ""));
        let figure = slug.parse()?;
        match ending {
            "svg" => Ok((figure, Form::Svg)),
            "png" => Ok((figure, Form::Png)),
            "csv" => Ok((figure, Form::Csv)),
            _ => Err(Problem::parameter(
                "file",
                &self.file,
                &format!("`{slug}.svg`, `{slug}.png` or `{slug}.csv`"),
            )),
        }
    }
}

parameters! {
    struct ScaleParameter of |query| {
        /// Only for PNG: the factor by which to enlarge its width of 960 pixels.
        #[param(value_type = Option<u32>, minimum = 2, maximum = 4, default = 2)]
        scale: Option<Scale> = query.parse("scale", Scale::MUST, Scale::from_text)?,
    }
}

/// A figure of the paper, or one of ours, as a picture of the best 50 runs or as
/// the numbers of all (RFC 4180, a header, one line for each run; for `changed-lines` one for each task
/// it solved, for `style-trend` one for each iteration). Runs imported by
/// counts alone appear only in the reference convention.
#[utoipa::path(
    get, path = "/api/v1/plots/{file}", tag = "results",
    params(FilePath, Ranking, ScaleParameter),
    responses(
        (status = 200, description = "The picture, or the numbers", content(
            (String = "image/svg+xml"),
            (Vec<u8> = "image/png"),
            (String = "text/csv"),
        )),
        Invalid,
        (status = 404, description = "There is no such figure, or no such split"),
    ),
)]
pub(crate) async fn figure(
    engine: ActorEngine,
    Path(file): Path<FilePath>,
    Query((ranking, ScaleParameter { scale })): Query<(Ranking, ScaleParameter)>,
) -> Result<Response> {
    let (which, form) = file.parts()?;
    if scale.is_some() && form != Form::Png {
        let detail = "only a PNG has a `scale`".to_owned();
        return Err(Problem::about_parameter("scale", detail));
    }
    // A picture shows as many runs as the page; the numbers are of all.
    let most = if form == Form::Csv {
        usize::MAX
    } else {
        MOST_RUNS
    };
    let study = engine.study(&ranking.ranked(&engine).await?, most).await?;
    match form {
        Form::Svg => text("image/svg+xml", move || drawn(which, &study).svg).await,
        Form::Png => {
            let scale = scale.unwrap_or(Scale::DOUBLE);
            pictures::png(scale, move || drawn(which, &study)).await
        }
        Form::Csv => {
            let csv = "text/csv; charset=utf-8; header=present";
            text(csv, move || which.data(&study).table().csv()).await
        }
    }
}

fn drawn(which: Figure, study: &Study) -> plots::Figure {
    let (data, series) = (which.data(study), plots::series(&study.data.entries));
    plots::figure(which, &data, &series, Layout::Print, Theme::Paper)
}

/// Drawing would block a thread that serves other requests.
async fn text(
    content_type: &'static str,
    make: impl FnOnce() -> String + Send + 'static,
) -> Result<Response> {
    let made = tokio::task::spawn_blocking(make).await;
    let body = made.map_err(|error| {
        tracing::error!(%error, "a figure could not be rendered");
        Problem::internal()
    })?;
    Ok(([(header::CONTENT_TYPE, content_type)], body).into_response())
}
