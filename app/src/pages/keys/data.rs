use leptos::prelude::*;
use leptos::server_fn::codec::GetUrl;
use swe_ci_core::key::KeyView;

use crate::error::AppError;

#[server(prefix = "/api/pages", endpoint = "keys", input = GetUrl)]
pub async fn keys() -> Result<Vec<KeyView>, AppError> {
    Ok(crate::error::engine()?.key_names().await?)
}
