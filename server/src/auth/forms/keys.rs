use axum::extract::{Request, State};
use axum::response::{IntoResponse, Redirect, Response};
use secrecy::SecretString;
use serde::Deserialize;
use swe_ci_core::account::AccountRole;
use swe_ci_core::task::is_plain_name;

use super::sent::{Again, Sent};
use crate::api::Problem;
use crate::auth::As;
use crate::serve::App;

/// What the forms of the page do.
#[derive(Deserialize)]
#[serde(tag = "deed", rename_all = "kebab-case")]
enum Deed {
    SetKey {
        name: String,
        value: SecretString,
    },
    RemoveKey {
        key: String,
        /// Sent by the form that says what will become of the runs.
        force: Option<String>,
    },
}

pub(super) async fn change(
    State(app): State<App>,
    As(engine): As,
    request: Request,
) -> Result<Response, Problem> {
    engine.require(AccountRole::Submitter)?;
    let Sent { fields, request } = Sent::<Deed>::read(request).await?;
    let (done, again, field) = match fields {
        Deed::SetKey { name, value } => {
            let again = Again::new(app, request, "set-key").keeping("name", &name);
            let field = if is_plain_name(&name) {
                "value"
            } else {
                "name"
            };
            let set = engine.set_key(&name, &value).await;
            (set.map(|()| "set"), again, field)
        }
        Deed::RemoveKey { key, force } => {
            let again = Again::new(app, request, "remove-key").keeping("key", &key);
            let removed = engine.remove_key(&key, force.is_some()).await;
            (removed.map(|()| "removed"), again, "key")
        }
    };
    match done {
        Ok(what) => Ok(Redirect::to(&format!("/keys?done={what}")).into_response()),
        Err(error) => Ok(again.refused(field, error).await),
    }
}
