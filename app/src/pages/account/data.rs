use leptos::prelude::*;
use leptos::server_fn::codec::GetUrl;
use swe_ci_core::account::TokenView;

use crate::error::AppError;

#[server(prefix = "/api/pages", endpoint = "tokens", input = GetUrl)]
pub async fn tokens() -> Result<Vec<TokenView>, AppError> {
    Ok(crate::error::engine()?.tokens().await?)
}
