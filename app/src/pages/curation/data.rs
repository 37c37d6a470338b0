use leptos::prelude::*;
use leptos::server_fn::codec::GetUrl;
use swe_ci_views::curation::CurationDetail;

use crate::error::AppError;

#[server(prefix = "/api/pages", endpoint = "curation", input = GetUrl)]
pub async fn curation(id: String) -> Result<CurationDetail, AppError> {
    Ok(crate::error::engine()?.curation(&id).await?)
}
