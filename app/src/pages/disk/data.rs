use leptos::prelude::*;
use leptos::server_fn::codec::GetUrl;
use swe_ci_views::disk::DiskUse;

use crate::error::AppError;

#[server(prefix = "/api/pages", endpoint = "disk-use", input = GetUrl)]
pub async fn disk_found() -> Result<DiskUse, AppError> {
    Ok(crate::error::engine()?.disk_use().await?)
}
