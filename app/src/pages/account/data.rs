use leptos::prelude::*;
use leptos::server_fn::codec::GetUrl;
use swe_ci_views::account::{TokenView, WaysIn};

use crate::error::AppError;

#[server(prefix = "/api/pages", endpoint = "tokens", input = GetUrl)]
pub async fn tokens() -> Result<Vec<TokenView>, AppError> {
    Ok(crate::error::engine()?.tokens().await?)
}

#[server(prefix = "/api/pages", endpoint = "own_ways_in", input = GetUrl)]
pub async fn own_ways_in() -> Result<WaysIn, AppError> {
    Ok(crate::error::engine()?.ways_in().await?)
}
