//! The forms that begin and cancel a curation.

use axum::extract::{Request, State};
use axum::response::{IntoResponse, Redirect, Response};
use serde::Deserialize;
use swe_ci_views::account::AccountRole;

use super::submitted_form::{FormPage, SubmittedForm};
use crate::actor::ActorEngine;
use crate::app::App;
use crate::path::Path;
use crate::problem::Problem;

/// The actions of a curation's page.
#[derive(Debug, Deserialize)]
#[serde(tag = "deed", rename_all = "kebab-case")]
enum FormAction {
    Cancel,
}

/// Queues a curation, from a file or from the typed text.
pub(super) async fn begin(
    State(app): State<App>,
    ActorEngine(engine): ActorEngine,
    request: Request,
) -> Result<Response, Problem> {
    engine.require(AccountRole::Admin)?;
    let SubmittedForm { fields, request } =
        SubmittedForm::<Vec<(String, String)>>::read_with_files(request).await?;
    let given = |wanted: &str| {
        let found = fields.iter().find(|(name, _)| name == wanted);
        found
            .map(|(_, text)| text.as_str())
            .filter(|text| !text.trim().is_empty())
    };
    let plan = given("plan-file")
        .or_else(|| given("plan"))
        .unwrap_or_default();
    // Browsers send CRLF line ends.
    let plan = plan.replace("\r\n", "\n");
    match engine.submit_curation(&plan).await {
        Ok(id) => Ok(Redirect::to(&format!("/datasets/curations/{id}")).into_response()),
        Err(error) => {
            let page = FormPage::new(app, request, "curate").with_value("plan", &plan);
            Ok(page.with_error("plan", error).await)
        }
    }
}

/// Cancels the curation whose page sent the form.
pub(super) async fn change(
    State(app): State<App>,
    ActorEngine(engine): ActorEngine,
    Path(id): Path<String>,
    request: Request,
) -> Result<Response, Problem> {
    engine.require(AccountRole::Admin)?;
    let SubmittedForm { fields, request } = SubmittedForm::<FormAction>::read(request).await?;
    let FormAction::Cancel = fields;
    match engine.cancel_curation(&id).await {
        Ok(()) => Ok(Redirect::to(&format!("/datasets/curations/{id}")).into_response()),
        Err(error) => Ok(FormPage::new(app, request, "cancel")
            .with_error("cancel", error)
            .await),
    }
}
