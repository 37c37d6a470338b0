//! The forms that begin, publish and cancel a curation.

use std::collections::BTreeMap;

use axum::response::Response;
use serde::Deserialize;
use swe_ci_views::account::AccountRole;
use swe_ci_views::curation::DroppedByReview;

use super::submitted_form::{FormPage, Outcome, SubmittedForm, at_field};
use crate::extract::Path;
use crate::problem::Problem;

#[derive(Debug, Deserialize)]
#[serde(tag = "deed", rename_all = "kebab-case")]
enum FormAction {
    Cancel,
    /// With `drop:<task>` for each task to be dropped, and `reason:<task>`.
    Publish {
        #[serde(flatten)]
        fields: BTreeMap<String, String>,
    },
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

/// Cancels or publishes the curation whose page sent the form.
pub(super) async fn change(
    Path(id): Path<String>,
    form: SubmittedForm,
) -> Result<Response, Problem> {
    let (engine, action, page) = form.read(AccountRole::Admin).await?;
    match action {
        FormAction::Cancel => {
            let cancelled = engine.cancel_curation(&id).await;
            let cancelled = cancelled.map(|()| opened(&id)).map_err(at_field("cancel"));
            Ok(page.of_form("cancel").respond(cancelled).await)
        }
        FormAction::Publish { fields } => {
            let published = engine.publish_curation(&id, &dropped(&fields)).await;
            let published = published.map(|()| opened(&id)).map_err(at_field("review"));
            let kept = fields
                .iter()
                .fold(page, |page, (name, value)| page.with_value(name, value));
            Ok(kept.of_form("review").respond(published).await)
        }
    }
}

fn dropped(fields: &BTreeMap<String, String>) -> Vec<DroppedByReview> {
    let dropped = fields.keys().filter_map(|name| name.strip_prefix("drop:"));
    let reason = |task: &str| fields.get(&format!("reason:{task}"));
    dropped
        .map(|task| DroppedByReview {
            task: task.to_owned(),
            reason: reason(task).cloned().unwrap_or_default(),
        })
        .collect()
}

fn opened(id: &str) -> Outcome {
    Outcome::Open(format!("/datasets/curations/{id}"))
}
