use leptos::prelude::*;
use leptos::server_fn::codec::GetUrl;
use swe_ci_views::view::{Page, RunSummary};

use crate::error::AppError;

#[server(prefix = "/api/pages", endpoint = "runs", input = GetUrl)]
pub async fn runs(after: Option<String>) -> Result<Page<RunSummary>, AppError> {
    let page = swe_ci_engine::PageRequest {
        limit: Some(50),
        after,
    };
    Ok(crate::error::engine()?.runs(&page).await?)
}
