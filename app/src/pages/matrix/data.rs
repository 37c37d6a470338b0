use leptos::prelude::*;
use leptos::server_fn::codec::GetUrl;
use serde::{Deserialize, Serialize};
use swe_ci_core::metrics::{Convention, Gamma};
use swe_ci_views::view::SplitSummary;

use super::grid::Grid;
use super::query::MatrixQuery;
use crate::error::AppError;

/// The data of the page.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Found {
    pub splits: Vec<SplitSummary>,
    /// The shown split; empty when there is none.
    pub split: String,
    pub grid: Grid,
}

/// The matrix of the requested split; by default of the one with the most
/// tasks.
#[server(prefix = "/api/pages", endpoint = "matrix", input = GetUrl)]
pub async fn matrix_of(
    split: Option<String>,
    gamma: Gamma,
    convention: Convention,
    sort: String,
) -> Result<Found, AppError> {
    let engine = crate::error::engine()?;
    let splits = engine.splits().await?;
    let Some(split) = split.or_else(|| crate::pages::splits::largest(&splits)) else {
        return Ok(Found::default());
    };
    let order = sort.parse().unwrap_or_default();
    let matrix = engine.matrix(&split, gamma, convention, order).await?;
    Ok(Found {
        grid: Grid::of(&matrix),
        splits,
        split,
    })
}

pub(super) async fn find(query: MatrixQuery) -> Result<Found, AppError> {
    let sort = query.order.to_string();
    matrix_of(query.split, query.gamma, query.convention, sort).await
}
