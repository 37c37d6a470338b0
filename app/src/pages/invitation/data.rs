use leptos::prelude::*;
use swe_ci_views::account::InvitationView;

use crate::error::AppError;

// A POST, because addresses end up in logs.
#[server(prefix = "/api/pages", endpoint = "invitation")]
pub async fn invitation(secret: String) -> Result<InvitationView, AppError> {
    Ok(crate::error::engine()?.invitation(&secret).await?)
}
