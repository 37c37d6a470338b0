//! The form that deletes a split, on its page.

use axum::response::Response;
use serde::Deserialize;
use swe_ci_views::account::AccountRole;

use super::submitted_form::{Outcome, SubmittedForm, at_field};
use crate::extract::Path;
use crate::problem::Problem;

#[derive(Debug, Deserialize)]
#[serde(tag = "deed", rename_all = "kebab-case")]
enum FormAction {
    Delete { name: String },
}

pub(super) async fn change(
    Path(split): Path<String>,
    form: SubmittedForm,
) -> Result<Response, Problem> {
    let (engine, FormAction::Delete { name }, page) = form.read(AccountRole::Admin).await?;
    let deleted = engine.delete_split(&split, &name).await;
    let deleted = deleted.map(|()| Outcome::Open("/datasets".to_owned()));
    let page = page.of_form("delete").with_value("name", &name);
    Ok(page.respond(deleted.map_err(at_field("name"))).await)
}
