//! The forms of the review queue.

use axum::response::Response;
use serde::Deserialize;
use swe_ci_views::account::AccountRole;

use super::submitted_form::{Outcome, SubmittedForm, at_field};
use crate::problem::Problem;

#[derive(Debug, Deserialize)]
#[serde(tag = "deed", rename_all = "kebab-case")]
enum FormAction {
    Publish { run: String },
    Refuse { refused: String, reason: String },
}

pub(super) async fn decide(form: SubmittedForm) -> Result<Response, Problem> {
    let (engine, action, page) = form.read(AccountRole::Admin).await?;
    let opened = |done: &str| Outcome::Open(format!("/submissions?done={done}"));
    let (page, field, done) = match action {
        FormAction::Publish { run } => {
            let published = engine.publish_submission(&run).await;
            let page = page.of_form("publish").with_value("run", &run);
            (page, "run", published.map(|_| opened("published")))
        }
        FormAction::Refuse { refused, reason } => {
            let done = engine.refuse_submission(&refused, &reason).await;
            let page = page.of_form("refuse").with_value("refused", &refused);
            let page = page.with_value("reason", &reason);
            (page, "reason", done.map(|_| opened("refused")))
        }
    };
    Ok(page.respond(done.map_err(at_field(field))).await)
}
