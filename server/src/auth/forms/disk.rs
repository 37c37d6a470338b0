//! The form that evicts cached images, on the page of the disk.

use axum::response::Response;
use serde::Deserialize;
use swe_ci_engine::Error;
use swe_ci_views::account::AccountRole;
use swe_ci_views::disk::size_read;

use super::submitted_form::{Outcome, SubmittedForm, at_field};
use crate::problem::Problem;

#[derive(Debug, Deserialize)]
#[serde(tag = "deed", rename_all = "kebab-case")]
enum FormAction {
    Evict { keep: String },
}

pub(super) async fn change(form: SubmittedForm) -> Result<Response, Problem> {
    let (engine, FormAction::Evict { keep }, page) = form.read(AccountRole::Admin).await?;
    let begun = match size_read(&keep) {
        Ok(bytes) => engine.start_eviction(bytes).await,
        Err(wrong) => Err(Error::Invalid(wrong)),
    };
    let begun = begun.map(|()| Outcome::Open("/disk".to_owned()));
    let page = page.of_form("evict");
    Ok(page.respond(begun.map_err(at_field("keep"))).await)
}
