//! The handover matrix of a split, as JSON and as CSV.

use axum::Json;
use axum::response::Response;
use swe_ci_core::handover::HandoverTarget;
use swe_ci_engine::Engine;
use swe_ci_views::handover::{After, HandoverMatrix, Wanted};

use super::query::{Query, parameters};
use super::responses::{Invalid, NoSuchSplit};
use super::{Answer, CSV, Result, download};
use crate::extract::ActorEngine;

parameters! {
    /// The handovers of a split.
    struct HandoverParameters of |query| {
        /// The split; the one with the most tasks when absent.
        #[param(example = "demo")]
        split: Option<String> = query.split()?,
        /// `same`, towards the target of the earlier run, or `moved`, towards that of a
        /// later task; the first that there is when absent.
        target: Option<HandoverTarget> =
            query.parse("target", "`same` or `moved`", HandoverTarget::from_name)?,
        /// The iteration after which the code was handed over: `last`, the last
        /// scored one of each evolution, or a number; the first that there is when
        /// absent.
        #[param(value_type = Option<String>, example = "last")]
        after: Option<After> =
            query.parse("after", "`last` or the number of an iteration", |text| text.parse().ok())?,
    }
}

/// The matrix; empty while there is no split at all.
async fn matrix(engine: &Engine, parameters: HandoverParameters) -> Result<HandoverMatrix> {
    let HandoverParameters {
        split,
        target,
        after,
    } = parameters;
    let split = match split {
        Some(split) => split,
        None => match engine.default_split().await? {
            Some(split) => split,
            None => return Ok(HandoverMatrix::default()),
        },
    };
    Ok(engine.handovers(&split, Wanted { target, after }).await?)
}

/// What each model makes of code that another run wrote: the finished handovers
/// of a split, by who wrote the code and who went on with it. All values count
/// from the handover, and have intervals and paired comparisons by task.
#[utoipa::path(
    get, path = "/api/v1/handovers", tag = "results",
    params(HandoverParameters),
    responses((status = 200, description = "The matrix", body = HandoverMatrix), Invalid, NoSuchSplit),
)]
pub(crate) async fn handovers(
    engine: ActorEngine,
    Query(parameters): Query<HandoverParameters>,
) -> Answer<HandoverMatrix> {
    Ok(Json(matrix(&engine, parameters).await?))
}

/// The same as a table: a line for each pair and iteration (RFC 4180, UTF-8).
#[utoipa::path(
    get, path = "/api/v1/handovers.csv", tag = "results",
    params(HandoverParameters),
    responses(
        (status = 200, description = "split, target, after, written_by, written_by_kind, written_by_run, writer_went_on_with, continued_by, harness, mode, run_id, tasks, left_out, iteration; closed_gap and lost, each with `_low` and `_high`; tokens, usd; against_own and against_human, each with `_low`, `_high`, `_p` and `_tasks`. Unknown values are empty.", body = String, content_type = "text/csv"),
        Invalid, NoSuchSplit,
    ),
)]
pub(crate) async fn handovers_csv(
    engine: ActorEngine,
    Query(parameters): Query<HandoverParameters>,
) -> Result<Response> {
    let csv = matrix(&engine, parameters).await?.csv();
    Ok(download("swe-ci-handovers.csv", CSV, csv))
}
