//! The forms that begin and cancel a curation.

use axum::response::Response;
use serde::Deserialize;
use swe_ci_views::account::AccountRole;

use super::submitted_form::{FormPage, Outcome, SubmittedForm, at_field};
use crate::extract::Path;
use crate::problem::Problem;

#[derive(Debug, Deserialize)]
#[serde(tag = "deed", rename_all = "kebab-case")]
enum FormAction {
    Cancel,
}

/// Queues a curation, from a file or from the typed text.
pub(super) async fn begin(form: SubmittedForm) -> Result<Response, Problem> {
    let engine = form.engine;
    engine.require(AccountRole::Admin)?;
    let (fields, page) = FormPage::read_with_files(form.app, form.request).await?;
    let given = |wanted: &str| {
        let found = fields.iter().find(|(name, _)| name == wanted);
        let text = found.map(|(_, text)| text.as_str());
        text.filter(|text| !text.trim().is_empty())
    };
    let plan = given("plan-file").or_else(|| given("plan"));
    // Browsers send CRLF line ends.
    let plan = plan.unwrap_or_default().replace("\r\n", "\n");
    let begun = engine.submit_curation(&plan).await;
    let begun = begun.map(|id| opened(&id)).map_err(at_field("plan"));
    let page = page.of_form("curate").with_value("plan", &plan);
    Ok(page.respond(begun).await)
}

/// Cancels the curation whose page sent the form.
pub(super) async fn change(
    Path(id): Path<String>,
    form: SubmittedForm,
) -> Result<Response, Problem> {
    let (engine, FormAction::Cancel, page) = form.read(AccountRole::Admin).await?;
    let cancelled = engine.cancel_curation(&id).await;
    let cancelled = cancelled.map(|()| opened(&id)).map_err(at_field("cancel"));
    Ok(page.of_form("cancel").respond(cancelled).await)
}

fn opened(id: &str) -> Outcome {
    Outcome::Open(format!("/datasets/curations/{id}"))
}
