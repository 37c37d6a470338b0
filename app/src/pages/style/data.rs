use leptos::prelude::*;
use leptos::server_fn::codec::GetUrl;
use serde::{Deserialize, Serialize};
use swe_ci_views::style::StyleBeside;
use swe_ci_views::view::EvolutionDetail;

use crate::error::AppError;
use crate::pages::evolution::evolution;
use crate::pages::routes::EvolutionAddress;

/// The code style of an evolution, as far as it is known.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Known {
    NotMeasured,
    /// The reason.
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

pub(super) async fn style_at(address: EvolutionAddress) -> Result<Shown, AppError> {
    let detail = evolution(address.run, address.task, address.sample).await?;
    let known = style_of(detail.view.evolution_id.clone()).await?;
    Ok(Shown { detail, known })
}
