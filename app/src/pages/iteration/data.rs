//! The data of the page of an iteration.

use leptos::prelude::*;
use leptos::server_fn::codec::GetUrl;
use leptos_router::params::ParamsMap;
use serde::{Deserialize, Serialize};
use swe_ci_core::run::Kind;
use swe_ci_views::inspection::Inspection;
use swe_ci_views::view::EvolutionView;

use crate::error::AppError;
use crate::pages::run::run;

#[server(prefix = "/api/pages", endpoint = "iteration", input = GetUrl)]
pub async fn iteration(evolution: String, iteration: u32) -> Result<Inspection, AppError> {
    Ok(crate::error::engine()?
        .inspect_iteration(&evolution, iteration)
        .await?)
}

/// The iteration in the address.
#[derive(Debug, Clone, PartialEq)]
pub struct Address {
    run: String,
    evolution: String,
    /// None when it is not a number.
    iteration: Option<u32>,
}

impl Address {
    pub(super) fn of(params: &ParamsMap) -> Self {
        Self {
            run: params.get("id").unwrap_or_default(),
            evolution: params.get("evolution").unwrap_or_default(),
            iteration: params.get_str("iteration").and_then(|n| n.parse().ok()),
        }
    }
}

/// An iteration with its run and evolution.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct PageData {
    pub run_id: String,
    pub model: String,
    pub kind: Kind,
    pub evolution: EvolutionView,
    pub inspection: Inspection,
}

pub(super) async fn whole_iteration(address: Address) -> Result<PageData, AppError> {
    let missing = || AppError::not_found("There is no such iteration in this run.");
    let number = address.iteration.ok_or_else(missing)?;
    let run = run(address.run).await?;
    let mut evolutions = run.evolution_list.into_iter();
    let evolution = evolutions
        .find(|e| e.evolution_id == address.evolution)
        .ok_or_else(missing)?;
    let inspection = iteration(address.evolution, number).await?;
    Ok(PageData {
        run_id: run.summary.run_id,
        model: run.summary.config.model,
        kind: run.summary.config.kind,
        evolution,
        inspection,
    })
}
