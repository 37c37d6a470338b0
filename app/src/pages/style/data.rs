use leptos::prelude::*;
use leptos::server_fn::codec::GetUrl;
use serde::{Deserialize, Serialize};
use swe_ci_core::style::StyleBeside;
use swe_ci_core::view::EvolutionDetail;

use crate::error::AppError;
use crate::pages::evolution::{Address, evolution};

/// What is known of an evolution's code style.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Known {
    NotMeasured,
    /// And why.
    CannotBeMeasured(String),
    Measured(Box<StyleBeside>),
}

#[server(prefix = "/api/pages", endpoint = "style", input = GetUrl)]
pub async fn style_of(evolution: String) -> Result<Known, AppError> {
    let engine = crate::error::engine()?;
    Ok(match engine.style(&evolution).await? {
        None => Known::NotMeasured,
        Some(Err(why)) => Known::CannotBeMeasured(why),
        Some(Ok(style)) if style.last().is_none() => {
            Known::CannotBeMeasured("none of its code was scored".into())
        }
        Some(Ok(_)) => Known::Measured(Box::new(engine.style_beside(&evolution).await?)),
    })
}

/// An evolution with its code style.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Shown {
    pub detail: EvolutionDetail,
    pub known: Known,
}

pub(super) async fn style_at(address: Address) -> Result<Shown, AppError> {
    let detail = evolution(address.run, address.task, address.sample).await?;
    let known = style_of(detail.view.evolution_id.clone()).await?;
    Ok(Shown { detail, known })
}

/// Where the code style of an evolution is; unified diffs are asked for.
pub(in crate::pages) fn style_href(address: &Address, unified: bool) -> String {
    let mut query = crate::query::Query::default();
    query.add("sample", address.named_sample());
    query.add(crate::pages::iteration::DIFF, unified.then_some("unified"));
    format!("{}/style{}", address.path(), query.0)
}
