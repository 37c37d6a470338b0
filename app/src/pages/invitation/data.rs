use leptos::prelude::*;
use swe_ci_core::account::InvitationView;

use crate::error::AppError;

// Not part of an address, which logs would hold.
#[server(prefix = "/api/pages", endpoint = "invitation")]
pub async fn invitation(secret: String) -> Result<InvitationView, AppError> {
    Ok(crate::error::engine()?.invitation(&secret).await?)
}
