//! The forms of the page of stored keys.

use axum::response::Response;
use secrecy::SecretString;
use serde::Deserialize;
use swe_ci_core::task::is_plain_name;
use swe_ci_views::account::AccountRole;

use super::submitted_form::{Outcome, SubmittedForm, at_field};
use crate::problem::Problem;

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

pub(super) async fn change(form: SubmittedForm) -> Result<Response, Problem> {
    let (engine, action, page) = form.read(AccountRole::Submitter).await?;
    let (page, field, done) = match action {
        FormAction::SetKey { name, value } => {
            let page = page.of_form("set-key").with_value("name", &name);
            let field = match is_plain_name(&name) {
                true => "value",
                false => "name",
            };
            let set = engine.set_key(&name, &value).await;
            (page, field, set.map(|()| "/keys?done=set"))
        }
        FormAction::RemoveKey { key, force } => {
            let page = page.of_form("remove-key").with_value("key", &key);
            let removed = engine.remove_key(&key, force.is_some()).await;
            (page, "key", removed.map(|()| "/keys?done=removed"))
        }
    };
    let done = done.map(|address| Outcome::Open(address.to_owned()));
    Ok(page.respond(done.map_err(at_field(field))).await)
}
