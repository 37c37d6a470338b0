use leptos::prelude::*;
use leptos::server_fn::codec::GetUrl;
use serde::{Deserialize, Serialize};
use swe_ci_views::leaderboard::Scores;
use swe_ci_views::view::RunDetail;

use crate::error::AppError;

#[server(prefix = "/api/pages", endpoint = "run", input = GetUrl)]
pub async fn run(id: String) -> Result<RunDetail, AppError> {
    Ok(crate::error::engine()?.run(&id).await?)
}

/// The scores of a run at γ = 1, in each convention that has any.
#[server(prefix = "/api/pages", endpoint = "scores", input = GetUrl)]
pub async fn scores_of(id: String) -> Result<Vec<Scores>, AppError> {
    use swe_ci_core::metrics::{Convention, Gamma};

    let engine = crate::error::engine()?;
    let mut found = Vec::new();
    for convention in Convention::ALL {
        let scores = engine.scores(&id, Gamma::ONE, convention).await?;
        if scores.evoscore.is_some() {
            found.push(scores);
        }
    }
    Ok(found)
}

/// The reproducibility card, as text.
#[server(prefix = "/api/pages", endpoint = "card", input = GetUrl)]
pub async fn card(id: String) -> Result<String, AppError> {
    Ok(crate::error::engine()?.card(&id).await?.to_text())
}

/// A run with its scores and its card.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct PageData {
    pub detail: RunDetail,
    pub scores: Vec<Scores>,
    pub card: String,
}

pub(super) async fn whole_run(id: String) -> Result<PageData, AppError> {
    Ok(PageData {
        detail: run(id.clone()).await?,
        scores: scores_of(id.clone()).await?,
        card: card(id).await?,
    })
}
