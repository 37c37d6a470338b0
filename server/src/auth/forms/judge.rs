//! The form that has a run judged.

use axum::response::Response;
use serde::Deserialize;
use swe_ci_engine::{Error, judge_plan};
use swe_ci_views::account::AccountRole;

use super::submitted_form::{Outcome, SubmittedForm, at_field};
use crate::extract::Path;
use crate::problem::Problem;

#[derive(Debug, Deserialize)]
#[serde(tag = "deed", rename_all = "kebab-case")]
enum FormAction {
    Judge { plan: String },
}

/// Begins to judge the run whose page sent the form.
pub(super) async fn begin(
    Path(id): Path<String>,
    form: SubmittedForm,
) -> Result<Response, Problem> {
    let (engine, FormAction::Judge { plan }, page) = form.read(AccountRole::Submitter).await?;
    // Browsers send CRLF line ends.
    let plan = plan.replace("\r\n", "\n");
    let page = page.of_form("judge").with_value("plan", &plan);
    let begun = match judge_plan(&plan) {
        Ok(plan) => engine.start_judge(&id, plan).await,
        Err(wrong) => Err(Error::Invalid(wrong)),
    };
    let begun = begun.map_err(at_the_text);
    let opened = begun.map(|()| Outcome::Open(format!("/runs/{id}/judgements")));
    Ok(page.respond(opened.map_err(at_field("plan"))).await)
}

/// All problems of a plan belong to its one field.
fn at_the_text(error: Error) -> Error {
    match error {
        Error::Rejected(problems) => {
            let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
            Error::Invalid(lines.join("\n"))
        }
        error => error,
    }
}
