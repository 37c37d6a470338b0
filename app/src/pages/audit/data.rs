use leptos::prelude::*;
use leptos::server_fn::codec::GetUrl;
use swe_ci_views::account::AuditEntry;
use swe_ci_views::view::Page;

use crate::error::AppError;

#[server(prefix = "/api/pages", endpoint = "audit", input = GetUrl)]
pub async fn audit(
    subject: Option<String>,
    after: Option<String>,
) -> Result<Page<AuditEntry>, AppError> {
    let page = swe_ci_engine::PageRequest {
        limit: Some(100),
        after,
    };
    let engine = crate::error::engine()?;
    Ok(engine.audit(&page, subject.as_deref()).await?)
}
