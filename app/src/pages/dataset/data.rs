use leptos::prelude::*;
use leptos::server_fn::codec::GetUrl;
use swe_ci_views::dataset::SplitDetail;

use crate::error::AppError;

#[server(prefix = "/api/pages", endpoint = "split", input = GetUrl)]
pub async fn split(name: String) -> Result<SplitDetail, AppError> {
    Ok(crate::error::engine()?.split(&name).await?)
}
