//! Runs of one split side by side, as JSON and as CSV; all runs of one model.

use axum::Json;
use axum::response::Response;
use swe_ci_core::csv;
use swe_ci_core::metrics::{Convention, Gamma, METRIC_VERSION};
use swe_ci_core::task::TaskId;
use swe_ci_engine::Engine;
use swe_ci_views::leaderboard::{Incomparable, ModelDetail, StyleRates, Versus, WinRates};
use swe_ci_views::style::{ErosionFigure, StyleMetric};

use super::query::{Query, QueryString, Seen, parameters};
use super::responses::{Invalid, NotComparable};
use super::{Answer, CSV, Result, download};
use crate::extract::{ActorEngine, Path};
use crate::problem::Problem;

parameters! {
    /// The runs, and how tests and iterations count.
    struct ComparisonParameters of |query| {
        /// 2 to 6 ids of runs of one split, separated by commas.
        #[param(value_type = String)]
        runs: Vec<String> = run_ids(query)?,
        /// Weight of later iterations: above 1 they count more, below 1 less.
        #[param(value_type = Option<f64>, minimum = 0.1, maximum = 10, default = 1)]
        gamma: Gamma = query.gamma()?,
        /// How tests are counted.
        #[param(value_type = Option<Convention>, default = "paper")]
        convention: Convention = query.convention()?,
        /// A shared task; the response then includes its evolutions.
        #[param(value_type = Option<String>)]
        task: Option<TaskId> = query.task()?,
        /// `exclude`: only tasks that none of the models can have seen.
        #[param(rename = "seen", inline, value_type = Option<Seen>, example = "exclude")]
        unseen: bool = query.word("seen", [("include", false), ("exclude", true)])?,
        /// The day of a snapshot that has these runs, to compare them as they were.
        #[param(example = "2026-11-27")]
        snapshot: Option<String> = query.day("snapshot")?,
    }
}

/// The ids of the runs, separated by commas.
fn run_ids(query: &QueryString) -> Result<Vec<String>> {
    let must = "2 to 6 different ids of runs, separated by commas";
    let ids = query.parse("runs", must, |text| {
        let ids: Vec<String> = text.split(',').map(str::to_owned).collect();
        Incomparable::check(&ids).ok().map(|()| ids)
    })?;
    ids.ok_or_else(|| {
        Problem::about_parameter("runs", format!("`runs` is missing; it must be {must}"))
    })
}

impl ComparisonParameters {
    pub(crate) async fn versus(&self, engine: &Engine) -> Result<Versus> {
        let (task, day) = (self.task.as_ref(), self.snapshot.as_deref());
        let (gamma, convention) = (self.gamma, self.convention);
        let comparison = engine.compare(&self.runs, gamma, convention, task, self.unseen, day);
        Ok(comparison.await?)
    }
}

/// Runs of one split side by side: their rows, the difference of each pair with
/// a paired 95 % interval and a p-value, and every task that all of them were
/// scored on.
#[utoipa::path(
    get, path = "/api/v1/compare", tag = "results",
    params(ComparisonParameters),
    responses((status = 200, description = "The comparison", body = Versus), NotComparable),
)]
pub(crate) async fn compare(
    engine: ActorEngine,
    Query(comparing): Query<ComparisonParameters>,
) -> Answer<Versus> {
    Ok(Json(comparing.versus(&engine).await?))
}

/// The tasks of a comparison as a table: a line for each task and run.
#[utoipa::path(
    get, path = "/api/v1/compare.csv", tag = "results",
    params(ComparisonParameters),
    responses(
        (status = 200, description = "made_on, snapshot, metric_version, split, gamma, convention, seen, task_id, repo, run_id, model, mode, evoscore, turns, solved, zrr, regressions, and of the code beside the oracle's, where it is solved and measured: mi_win_rate, mi_tie_rate, mi_loss_rate, pylint_win_rate, pylint_tie_rate, pylint_loss_rate, lines_ratio; and of each number of erosion, such as cognitive_complexity_difference, the run's minus the oracle's", body = String, content_type = "text/csv"),
        NotComparable,
    ),
)]
pub(crate) async fn compare_csv(
    engine: ActorEngine,
    Query(comparing): Query<ComparisonParameters>,
) -> Result<Response> {
    let versus = comparing.versus(&engine).await?;
    let table = table(&versus, &comparing, &engine.today());
    Ok(download("swe-ci-compare.csv", CSV, table))
}

parameters! {
    /// The tasks that count.
    struct SeenParameters of |query| {
        /// `exclude`: only tasks that the model cannot have seen.
        #[param(rename = "seen", inline, value_type = Option<Seen>, example = "exclude")]
        unseen: bool = query.word("seen", [("include", false), ("exclude", true)])?,
    }
}

/// All runs of a model over all splits, their standings, and its results on groups of
/// tasks.
#[utoipa::path(
    get, path = "/api/v1/models/{name}", tag = "results",
    params(("name" = String, Path, description = "The model's name, percent-encoded."), SeenParameters),
    responses(
        (status = 200, description = "The model", body = ModelDetail),
        Invalid,
        (status = 404, description = "No run uses a model of this name"),
    ),
)]
pub(crate) async fn model(
    engine: ActorEngine,
    Path(name): Path<String>,
    Query(SeenParameters { unseen }): Query<SeenParameters>,
) -> Answer<ModelDetail> {
    Ok(Json(engine.model(&name, unseen).await?))
}

const COLUMNS: &str = "made_on,snapshot,metric_version,split,gamma,convention,seen,task_id,repo,run_id,model,mode,evoscore,turns,solved,zrr,regressions,\
    mi_win_rate,mi_tie_rate,mi_loss_rate,\
    pylint_win_rate,pylint_tie_rate,pylint_loss_rate,lines_ratio";

/// RFC 4180, with numbers in full precision.
fn table(versus: &Versus, of: &ComparisonParameters, today: &str) -> String {
    let seen = if of.unseen { "exclude" } else { "include" };
    let lines = versus.tasks.iter().flat_map(|task| {
        let results = versus.runs.iter().zip(&task.results);
        results.map(move |(row, result)| {
            let fields = [
                today.to_owned(),
                of.snapshot.clone().unwrap_or_default(),
                METRIC_VERSION.to_string(),
                csv::text(&versus.split),
                of.gamma.get().to_string(),
                of.convention.name().to_owned(),
                seen.to_owned(),
                csv::text(task.task_id.as_str()),
                csv::text(&task.repo),
                csv::text(&row.run_id),
                csv::text(&row.model),
                row.mode.name().to_owned(),
                result.evoscore.to_string(),
                result.turns.to_string(),
                result.solved.to_string(),
                result.zrr.to_string(),
                result.regressions.to_string(),
            ];
            let style = style(result.style.unwrap_or_default());
            fields.into_iter().chain(style)
        })
    });
    let erosion = ErosionFigure::ALL.map(|figure| format!("{}_difference", figure.name()));
    let columns = COLUMNS.split(',').map(str::to_owned).chain(erosion);
    csv::table(columns, lines)
}

/// As many fields as there are columns for style; unknown values are empty.
fn style(rates: StyleRates) -> impl Iterator<Item = String> {
    let shares = move |metric| {
        let rates = rates.of(metric);
        let shares: [fn(WinRates) -> f64; 3] = [|r| r.win, |r| r.tie, |r| r.loss];
        shares.map(|share| rates.map(share))
    };
    let all = StyleMetric::ALL.into_iter().flat_map(shares);
    let erosion = ErosionFigure::ALL.map(|figure| rates.erosion.of(figure));
    let all = all.chain([rates.lines_ratio]).chain(erosion);
    all.map(|value| value.map_or_else(String::new, |value| value.to_string()))
}

#[cfg(test)]
mod tests {
    use swe_ci_views::style::Erosion;

    use super::*;

    #[test]
    fn style_in_columns() {
        let rates = StyleRates {
            mi: Some(WinRates {
                tasks: 1,
                win: 0.25,
                tie: 0.5,
                loss: 0.25,
            }),
            pylint: None,
            lines_ratio: Some(1.5),
            erosion: Erosion {
                duplicated_lines: Some(-2.5),
                ..Erosion::default()
            },
        };
        let fields: Vec<String> = style(rates).collect();
        let expect = "0.25,0.5,0.25,,,,1.5,,-2.5,,,,,";
        assert_eq!(fields.join(","), expect);
    }
}
