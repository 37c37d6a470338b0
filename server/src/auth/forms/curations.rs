use axum::extract::{Request, State};
use axum::response::{IntoResponse, Redirect, Response};
use serde::Deserialize;
use swe_ci_core::account::AccountRole;

use super::sent::{Again, Sent};
use crate::api::{Path, Problem};
use crate::auth::As;
use crate::serve::App;

/// What the form of a curation's page does.
#[derive(Debug, Deserialize)]
#[serde(tag = "deed", rename_all = "kebab-case")]
enum Deed {
    Cancel,
}

/// Begins a curation, from a file or from what was typed.
pub(super) async fn begin(
    State(app): State<App>,
    As(engine): As,
    request: Request,
) -> Result<Response, Problem> {
    engine.require(AccountRole::Admin)?;
    let Sent { fields, request } = Sent::<Vec<(String, String)>>::read_with_files(request).await?;
    let given = |wanted: &str| {
        let found = fields.iter().find(|(name, _)| name == wanted);
        found
            .map(|(_, text)| text.as_str())
            .filter(|text| !text.trim().is_empty())
    };
    let plan = given("plan-file")
        .or_else(|| given("plan"))
        .unwrap_or_default();
    // Browsers send line ends of two characters.
    let plan = plan.replace("\r\n", "\n");
    match engine.submit_curation(&plan).await {
        Ok(id) => Ok(Redirect::to(&format!("/datasets/curations/{id}")).into_response()),
        Err(error) => {
            let again = Again::new(app, request, "curate").keeping("plan", &plan);
            Ok(again.refused("plan", error).await)
        }
    }
}

/// Ends the curation whose page it was sent from.
pub(super) async fn change(
    State(app): State<App>,
    As(engine): As,
    Path(id): Path<String>,
    request: Request,
) -> Result<Response, Problem> {
    engine.require(AccountRole::Admin)?;
    let Sent { fields, request } = Sent::<Deed>::read(request).await?;
    let Deed::Cancel = fields;
    match engine.cancel_curation(&id).await {
        Ok(()) => Ok(Redirect::to(&format!("/datasets/curations/{id}")).into_response()),
        Err(error) => Ok(Again::new(app, request, "cancel")
            .refused("cancel", error)
            .await),
    }
}
