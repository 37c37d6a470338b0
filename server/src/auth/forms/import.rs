//! The form that imports a dataset from the hub.

use axum::response::Response;
use serde::Deserialize;
use swe_ci_views::account::AccountRole;

use super::submitted_form::{Outcome, SubmittedForm, at_field};
use crate::problem::Problem;

#[derive(Debug, Deserialize)]
#[serde(tag = "deed", rename_all = "kebab-case")]
enum FormAction {
    Import { from: String, split: String },
}

pub(super) async fn begin(form: SubmittedForm) -> Result<Response, Problem> {
    let (engine, FormAction::Import { from, split }, page) = form.read(AccountRole::Admin).await?;
    let begun = engine.start_import(&from, &split).await;
    let begun = begun.map(|()| Outcome::Open("/datasets/import".to_owned()));
    let page = page.of_form("import");
    Ok(page.respond(begun.map_err(at_field("from"))).await)
}
