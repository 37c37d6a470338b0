use leptos::prelude::*;
use leptos::server_fn::codec::GetUrl;
use leptos_router::params::ParamsMap;
use serde::{Deserialize, Serialize};
use swe_ci_core::view::{Page, SplitSummary, TaskSummary};

use crate::error::AppError;
use crate::pages::leaderboard::splits;
use crate::query::named;

#[server(prefix = "/api/pages", endpoint = "tasks", input = GetUrl)]
pub async fn tasks(
    split: Option<String>,
    after: Option<String>,
) -> Result<Page<TaskSummary>, AppError> {
    let page = swe_ci_engine::PageRequest {
        limit: Some(100),
        after,
    };
    Ok(crate::error::engine()?
        .tasks(split.as_deref(), &page)
        .await?)
}

/// What the address asks for.
#[derive(Debug, Clone, PartialEq)]
pub struct Asked {
    split: Option<String>,
    after: Option<String>,
}

impl Asked {
    pub(super) fn of(query: &ParamsMap) -> Self {
        Self {
            split: named(query, "split"),
            after: named(query, "after"),
        }
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Found {
    pub splits: Vec<SplitSummary>,
    /// None for all.
    pub split: Option<String>,
    pub page: Page<TaskSummary>,
}

pub(super) async fn browse(asked: Asked) -> Result<Found, AppError> {
    let splits = splits().await?;
    let split = asked.split;
    if let Some(name) = &split
        && !splits.iter().any(|s| s.name == *name)
    {
        return Err(AppError::not_found(format!("There is no split `{name}`.")));
    }
    let page = tasks(split.clone(), asked.after).await?;
    Ok(Found {
        splits,
        split,
        page,
    })
}
