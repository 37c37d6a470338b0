//! Figures of a leaderboard, as pictures and as numbers.

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use swe_ci_app::encode;
use swe_ci_core::metrics::METRIC_VERSION;
use swe_ci_core::requirement::Mode;
use swe_ci_plots::{self as plots, Caption, Layout, Series, Theme, format};
use swe_ci_views::figures::{Cell, Column, Data, Figure, MOST_RUNS, Study};
use utoipa::IntoParams;

use super::Result;
use super::leaderboard::Ranking;
use super::query::{Query, Seen, parameters, words};
use super::responses::Invalid;
use crate::app::App;
use crate::extract::{ActorEngine, Path};
use crate::pictures::{self, Scale};
use crate::problem::Problem;

#[derive(Debug, Deserialize, IntoParams)]
pub(crate) struct FilePath {
    /// The figure's name, then `.svg`, `.pdf` or `.png` for a picture or `.csv`
    /// for its numbers. Figures are `evoscore-by-release`, `rank-by-gamma`,
    /// `zero-regression`, `regression-correlation`, `style-wins`,
    /// `changed-lines`, `solved`, `turns`, `best-change`, `zrr`,
    /// `evoscore-gamma`, `score-by-tokens`, `score-by-cost`, `score-by-time`,
    /// `score-by-budget` and `style-trend`.
    #[param(example = "zero-regression.svg")]
    file: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Svg,
    Pdf,
    Png,
    Csv,
}

impl FilePath {
    fn parts(&self) -> Result<(Figure, Form)> {
        let (slug, ending) = self.file.rsplit_once('.').unwrap_or((&self.file, ""));
        let figure = slug.parse()?;
        match ending {
            "svg" => Ok((figure, Form::Svg)),
            "pdf" => Ok((figure, Form::Pdf)),
            "png" => Ok((figure, Form::Png)),
            "csv" => Ok((figure, Form::Csv)),
            _ => Err(Problem::parameter(
                "file",
                &self.file,
                &format!("`{slug}.svg`, `{slug}.pdf`, `{slug}.png` or `{slug}.csv`"),
            )),
        }
    }
}

words! {
    /// The forms of a figure besides its own.
    Relative = ["leader"], None;
    /// The γs of a figure besides its own.
    Range = ["paper"], None;
    /// Whether a figure says what it shows.
    WithCaption = ["full", "none"], Some("full");
}

parameters! {
    struct PictureParameters of |query| {
        /// Only for `evoscore-gamma`: `leader` draws differences from the score of
        /// the model that leads at this γ.
        #[param(inline, value_type = Option<Relative>, example = "leader")]
        relative: Option<()> = query.parse("relative", "`leader`", |text| {
            (text == "leader").then_some(())
        })?,

        /// Only for the pictures of `rank-by-gamma`: `paper` shows γ from 0.8 to 1.2, as
        /// the paper's figure does.
        #[param(inline, value_type = Option<Range>, example = "paper")]
        range: Option<()> = query.parse("range", "`paper`", |text| {
            (text == "paper").then_some(())
        })?,

        /// `exclude`: each run only by tasks that its model cannot have seen.
        #[param(rename = "seen", inline, value_type = Option<Seen>, example = "exclude")]
        unseen: bool = query.word("seen", [("include", false), ("exclude", true)])?,

        /// Only for PNG without `width`: the factor by which to enlarge its width of
        /// 960 pixels.
        #[param(value_type = Option<u32>, minimum = 2, maximum = 4, default = 2)]
        scale: Option<Scale> = query.parse("scale", Scale::MUST, Scale::from_text)?,

        /// The width on paper in millimetres: 84 for a column, 174 for a page. Letters
        /// have 8 points then; those of an SVG are outlines, and a PNG has 576 pixels
        /// an inch.
        #[param(rename = "width", value_type = Option<u32>, example = 84)]
        paper: Option<Layout> = query.parse("width", "84 or 174", |text| {
            Layout::of_millimetres(text.parse().ok()?)
        })?,

        /// `none`: the picture alone, without title, basis and source.
        #[param(rename = "caption", inline, value_type = Option<WithCaption>, example = "none")]
        bare: bool = query.word("caption", [("full", false), ("none", true)])?,
    }
}

/// A figure of the paper, or one of ours, as a picture of the best 30 runs or as
/// the numbers of all (RFC 4180, a header, one line for each run; for
/// `changed-lines` one for each task it solved, for `style-trend` one for each
/// iteration; each with the split, the settings, the day, the snapshot and the version). A picture
/// says what it shows, how to read it, and where and when it was made. Runs imported by counts alone appear only in the reference convention.
#[utoipa::path(
    get, path = "/api/v1/plots/{file}", tag = "results",
    params(FilePath, Ranking, PictureParameters),
    responses(
        (status = 200, description = "The picture, or the numbers", content(
            (String = "image/svg+xml"),
            (Vec<u8> = "application/pdf"),
            (Vec<u8> = "image/png"),
            (String = "text/csv"),
        )),
        Invalid,
        (status = 404, description = "There is no such figure, or no such split"),
    ),
)]
pub(crate) async fn figure(
    engine: ActorEngine,
    State(app): State<App>,
    Path(file): Path<FilePath>,
    Query((ranking, picture)): Query<(Ranking, PictureParameters)>,
) -> Result<Response> {
    let (which, form) = file.parts()?;
    let PictureParameters {
        relative,
        range,
        unseen,
        scale,
        paper,
        bare,
    } = picture;
    let (from_leader, papers_range) = (relative.is_some(), range.is_some());
    if scale.is_some() && (form != Form::Png || paper.is_some()) {
        let detail = "only a PNG without `width` has a `scale`".to_owned();
        return Err(Problem::about_parameter("scale", detail));
    }
    if from_leader && which != Figure::EvoscoreGamma {
        let detail = "only `evoscore-gamma` has a `relative` form".to_owned();
        return Err(Problem::about_parameter("relative", detail));
    }
    if papers_range && which != Figure::RankByGamma {
        let detail = "only `rank-by-gamma` has a `range`".to_owned();
        return Err(Problem::about_parameter("range", detail));
    }
    let ranking = ranking.ranked(&engine, unseen).await?;
    if form == Form::Csv {
        let study = engine.study(&ranking, usize::MAX).await?;
        let csv = "text/csv; charset=utf-8; header=present";
        let today = engine.today();
        let made = move || {
            let table = which.data(&study).table();
            table
                .with_everywhere(provenance(&study, unseen, today))
                .csv()
        };
        return text(csv, made).await;
    }
    let study = engine.study(&ranking, MOST_RUNS).await?;
    let worse = ranking.rows().len() - study.rows.len();
    let source = format!(
        "{}, metrics version {METRIC_VERSION}, {}",
        engine.today(),
        address(which, &study, (from_leader, papers_range, unseen), &app)
    );
    let layout = paper.unwrap_or(Layout::Print);
    let draw = move || {
        let (mut data, series) = (which.data(&study), Series::new(&study.data, &study.rows));
        match &mut data {
            Data::Curves(curves) => curves.from_leader = from_leader,
            Data::Ranks(ranks) if papers_range => ranks.keep_the_papers(),
            _ => {}
        }
        let mut figure = plots::figure(which, &data, &series, layout, Theme::Paper);
        if !bare {
            let caption = caption(which, &data, &study, worse, source);
            figure = plots::captioned(figure, &caption);
        }
        match layout.millimetres() {
            Some(millimetres) => figure.printed(millimetres),
            None => figure,
        }
    };
    match (form, paper) {
        (Form::Png, None) => pictures::png(scale.unwrap_or(Scale::DOUBLE), draw).await,
        (Form::Png, Some(_)) => pictures::png(Scale::PRINT, draw).await,
        (Form::Pdf, _) => pictures::pdf(which.title(), draw).await,
        (_, Some(_)) => pictures::outlined_svg(draw).await,
        (_, None) => text("image/svg+xml", move || draw().svg).await,
    }
}

/// Each line of a figure's numbers ends in these columns: a file may travel without
/// its address.
fn provenance(study: &Study, unseen: bool, today: String) -> Vec<(Column, Cell)> {
    let column = |name: &str, cell: Cell| (Column::new(name, name), cell);
    let seen = if unseen { "exclude" } else { "include" };
    let snapshot = study.data.snapshot.as_ref();
    vec![
        column("split", Cell::Text(study.data.split.clone())),
        column("mode", Cell::Text(study.data.mode.name().to_owned())),
        column("gamma", Cell::Text(format::gamma(study.gamma))),
        column("convention", Cell::Text(study.convention.name().to_owned())),
        column("seen", Cell::Text(seen.to_owned())),
        column("made_on", Cell::Text(today)),
        column(
            "snapshot",
            Cell::Text(snapshot.map_or_else(String::new, |of| of.day.clone())),
        ),
        column("metric_version", Cell::Whole(METRIC_VERSION.into())),
    ]
}

fn caption(which: Figure, data: &Data, study: &Study, worse: usize, source: String) -> Caption {
    let mode = study.data.mode;
    let split = match study.data.split.as_str() {
        "" => String::new(),
        split if mode == Mode::default() => format!("Split {split}, "),
        split => format!("Split {split}, mode {}, ", mode.name()),
    };
    let snapshot = study.data.snapshot.as_ref();
    let snapshot = snapshot.map(|of| format!("snapshot of {}, ", of.day));
    let gamma = match which.weighs() {
        true => format!("γ\u{a0}{}, ", format::gamma(study.gamma)),
        false => String::new(),
    };
    let mut sentences = vec![which.reading().to_owned()];
    sentences.extend(data.notes(&study.data.published));
    Caption {
        title: which.title().to_owned(),
        basis: format!(
            "{split}{}{gamma}{} convention; {}",
            snapshot.unwrap_or_default(),
            study.convention.name(),
            study.basis().in_words(worse)
        ),
        reading: sentences.join(" "),
        source,
    }
}

/// The figure on its page; without the site where none is configured.
fn address(
    which: Figure,
    study: &Study,
    (from_leader, papers_range, unseen): (bool, bool, bool),
    app: &App,
) -> String {
    let split = match study.data.split.as_str() {
        "" => String::new(),
        split => format!("split={}&", encode(split)),
    };
    let mode = match study.data.mode {
        Mode::Tdd => String::new(),
        mode => format!("mode={}&", mode.name()),
    };
    let snapshot = match &study.data.snapshot {
        Some(snapshot) => format!("snapshot={}&", snapshot.day),
        None => String::new(),
    };
    let relative = if from_leader { "&relative=leader" } else { "" };
    let range = if papers_range { "&range=paper" } else { "" };
    let seen = if unseen { "&seen=exclude" } else { "" };
    let path = format!(
        "/figures?{split}{mode}{snapshot}gamma={}&convention={}{relative}{range}{seen}#{}",
        format::gamma(study.gamma),
        study.convention.name(),
        which.name()
    );
    match &app.public_url {
        Some(site) => site.at(&path),
        None => format!("swe-ci {path}"),
    }
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
