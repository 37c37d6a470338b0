//! The form that makes a snapshot, on the page of the snapshots.

use axum::response::Response;
use serde::Deserialize;
use swe_ci_views::account::AccountRole;

use super::submitted_form::{Outcome, SubmittedForm, at_field};
use crate::problem::Problem;

#[derive(Debug, Deserialize)]
#[serde(tag = "deed", rename_all = "kebab-case")]
enum FormAction {
    Make { split: String },
}

pub(super) async fn change(form: SubmittedForm) -> Result<Response, Problem> {
    let (engine, FormAction::Make { split }, page) = form.read(AccountRole::Admin).await?;
    let made = engine.make_snapshot(&split).await;
    let made = made.map(|snapshot| Outcome::Open(snapshot.path()));
    let page = page.of_form("make").with_value("split", &split);
    Ok(page.respond(made.map_err(at_field("split"))).await)
}
