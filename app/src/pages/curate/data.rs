use leptos::prelude::*;
use leptos::server_fn::codec::GetUrl;
use serde::{Deserialize, Serialize};
use swe_ci_views::curation::CurationSummary;

use crate::error::AppError;

/// The defaults of a plan, and earlier plans.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Planning {
    pub example: String,
    pub curations: Vec<CurationSummary>,
}

#[server(prefix = "/api/pages", endpoint = "plans", input = GetUrl)]
pub async fn plans() -> Result<Planning, AppError> {
    Ok(Planning {
        curations: crate::error::engine()?.curations().await?,
        example: swe_ci_engine::EXAMPLE_PLAN.to_owned(),
    })
}
