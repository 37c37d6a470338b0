use leptos::prelude::*;
use leptos::server_fn::codec::GetUrl;
use swe_ci_views::leaderboard::ModelDetail;

use crate::error::{AppError, ErrorKind};

#[server(prefix = "/api/pages", endpoint = "model", input = GetUrl)]
pub async fn model_of(name: String) -> Result<ModelDetail, AppError> {
    Ok(crate::error::engine()?.model(&name).await?)
}

pub(super) async fn model(name: String) -> Result<ModelDetail, AppError> {
    model_of(name).await.map_err(|error| match error.kind {
        ErrorKind::NotFound => AppError::not_found(
            "No run on this site has a model of this name. The leaderboard lists all scored models; names must match exactly, including capitals.",
        ),
        _ => error,
    })
}
