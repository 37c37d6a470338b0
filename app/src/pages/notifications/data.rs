use leptos::prelude::*;
use leptos::server_fn::codec::GetUrl;
use swe_ci_views::notification::Notifications;

use crate::error::AppError;

#[server(prefix = "/api/pages", endpoint = "notifications", input = GetUrl)]
pub async fn own_notifications() -> Result<Notifications, AppError> {
    Ok(crate::error::engine()?.notifications().await?)
}
