//! The forms of the page of stored keys.

use axum::extract::{Request, State};
use axum::response::{IntoResponse, Redirect, Response};
use secrecy::SecretString;
use serde::Deserialize;
use swe_ci_core::task::is_plain_name;
use swe_ci_views::account::AccountRole;

use super::submitted_form::{FormPage, SubmittedForm};
use crate::actor::ActorEngine;
use crate::app::App;
use crate::problem::Problem;

/// The actions of the page's forms.
#[derive(Deserialize)]
#[serde(tag = "deed", rename_all = "kebab-case")]
enum FormAction {
    SetKey {
        name: String,
        value: SecretString,
    },
    RemoveKey {
        key: String,
        /// Sent by the form that warns what will happen to the runs.
        force: Option<String>,
    },
}

pub(super) async fn change(
    State(app): State<App>,
    ActorEngine(engine): ActorEngine,
    request: Request,
) -> Result<Response, Problem> {
    engine.require(AccountRole::Submitter)?;
    let SubmittedForm { fields, request } = SubmittedForm::<FormAction>::read(request).await?;
    let (done, page, field) = match fields {
        FormAction::SetKey { name, value } => {
            let page = FormPage::new(app, request, "set-key").with_value("name", &name);
            let field = if is_plain_name(&name) {
                "value"
            } else {
                "name"
            };
            let set = engine.set_key(&name, &value).await;
            (set.map(|()| "set"), page, field)
        }
        FormAction::RemoveKey { key, force } => {
            let page = FormPage::new(app, request, "remove-key").with_value("key", &key);
            let removed = engine.remove_key(&key, force.is_some()).await;
            (removed.map(|()| "removed"), page, "key")
        }
    };
    match done {
        Ok(what) => Ok(Redirect::to(&format!("/keys?done={what}")).into_response()),
        Err(error) => Ok(page.with_error(field, error).await),
    }
}
