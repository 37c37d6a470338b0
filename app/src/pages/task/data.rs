use leptos::prelude::*;
use leptos::server_fn::codec::GetUrl;
use swe_ci_core::view::TaskDetail;

use crate::error::AppError;

#[server(prefix = "/api/pages", endpoint = "task", input = GetUrl)]
pub async fn task(id: String) -> Result<TaskDetail, AppError> {
    // What cannot be a name names nothing.
    let id = swe_ci_core::task::TaskId::new(id)
        .map_err(|_| AppError::not_found("There is no task of this name."))?;
    Ok(crate::error::engine()?.task(&id).await?)
}
