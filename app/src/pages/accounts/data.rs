use leptos::prelude::*;
use leptos::server_fn::codec::GetUrl;
use serde::{Deserialize, Serialize};
use swe_ci_views::account::{AccountView, InvitationView};

use crate::error::AppError;

/// All accounts and open invitations.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct People {
    pub accounts: Vec<AccountView>,
    pub invitations: Vec<InvitationView>,
}

#[server(prefix = "/api/pages", endpoint = "accounts", input = GetUrl)]
pub async fn accounts() -> Result<People, AppError> {
    let engine = crate::error::engine()?;
    Ok(People {
        accounts: engine.accounts().await?,
        invitations: engine.invitations().await?,
    })
}
