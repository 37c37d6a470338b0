use leptos::prelude::*;
use leptos::server_fn::codec::GetUrl;
use swe_ci_core::view::RunDetail;

use crate::error::AppError;

#[server(prefix = "/api/pages", endpoint = "run", input = GetUrl)]
pub async fn run(id: String) -> Result<RunDetail, AppError> {
    Ok(crate::error::engine()?.run(&id).await?)
}
