use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use swe_ci_app::plots::{self, Layout, Theme};
use swe_ci_core::figures::{Data, Figure, Study};
use swe_ci_core::leaderboard::Judge;
use utoipa::IntoParams;

use super::Result;
use super::leaderboard::Ranking;
use super::path::Path;
use super::problem::{Problem, ProblemBody};
use super::query::{FromQuery, Given, Query};
use crate::auth::As;
use crate::pictures::{self, Scale};

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Path)]
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
        let figure = slug.parse().map_err(|e| Problem::no_such_figure(&e))?;
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

/// A figure of a leaderboard, and how large.
#[derive(Debug)]
pub(crate) struct Wanted {
    ranking: Ranking,
    scale: Option<Scale>,
}

#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(
    dead_code,
    reason = "describes the parameter that `Given::scale` reads"
)]
pub(crate) struct ScaleParameter {
    /// Of a PNG alone: how many times its 960 pixels of width.
    #[param(minimum = 2, maximum = 4, default = 2)]
    scale: Option<u32>,
}

impl FromQuery for Wanted {
    const NAMES: &'static [&'static str] = &["split", "gamma", "convention", "scale"];

    fn from_query(given: &Given) -> Result<Self, Problem> {
        Ok(Self {
            ranking: Ranking::from_query(given)?,
            scale: given.scale()?,
        })
    }
}

/// A figure of the paper, or one of ours, as a picture or as its numbers
/// (RFC 4180, a header, one line for each run; of `changed-lines` for each task
/// it solved, of `style-trend` for each iteration). Runs that are known by counts
/// alone are in the reference convention only.
#[utoipa::path(
    get,
    path = "/api/v1/plots/{file}",
    tag = "results",
    params(FilePath, Ranking, ScaleParameter),
    responses(
        (status = 200, description = "The picture, or the numbers", content(
            (String = "image/svg+xml"),
            (Vec<u8> = "image/png"),
            (String = "text/csv"),
        )),
        (status = 400, description = "A parameter cannot be used", body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "There is no such figure, or no such split", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn figure(
    As(engine): As,
    Path(file): Path<FilePath>,
    Query(Wanted { ranking, scale }): Query<Wanted>,
) -> Result<Response> {
    let (which, form) = file.parts()?;
    if scale.is_some() && form != Form::Png {
        let detail = "`scale` is given, and only a PNG has one".to_owned();
        return Err(Problem::about_parameter("scale", detail));
    }
    let sheet = ranking.sheet(&engine).await?;
    let make = move || {
        let judge = Judge::new(&sheet);
        let study = Study::of(&sheet, &judge, ranking.gamma, ranking.convention);
        (which.data(&study), plots::series(&sheet.entries))
    };
    let draw = move |(data, series): (Data, Vec<usize>)| {
        plots::figure(which, &data, &series, Layout::Print, Theme::Paper)
    };
    match form {
        Form::Svg => text("image/svg+xml", move || draw(make()).svg).await,
        Form::Png => pictures::png(scale.unwrap_or(Scale::DOUBLE), move || draw(make())).await,
        Form::Csv => {
            let csv = "text/csv; charset=utf-8; header=present";
            text(csv, move || make().0.table().csv()).await
        }
    }
}

/// Two thousand resamples are too much for a thread that serves others.
async fn text(
    content_type: &'static str,
    make: impl FnOnce() -> String + Send + 'static,
) -> Result<Response> {
    let made = tokio::task::spawn_blocking(make).await;
    let body = made.map_err(|error| {
        tracing::error!(%error, "a figure could not be made");
        Problem::internal()
    })?;
    Ok(([(header::CONTENT_TYPE, content_type)], body).into_response())
}
