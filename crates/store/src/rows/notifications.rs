//! Rows of notification targets and of deliveries to them.

use sqlx::Row;
use sqlx::any::AnyRow;
use swe_ci_base::error::Result;
use swe_ci_views::notification::{
    Channel, DeliveryState, DeliveryView, News, Occasion, TargetView,
};

use super::columns::Columns;

pub(crate) fn read_target(row: &AnyRow) -> Result<TargetView> {
    Ok(TargetView {
        target_id: row.try_get("id")?,
        channel: row.named("channel", "channel", Channel::from_name)?,
        address: row.try_get("address")?,
        events: read_events(row)?,
        confirmed: row.is_set("confirmed_at")?,
        created_at: row.time("created_at")?,
    })
}

pub(crate) fn read_events(row: &AnyRow) -> Result<Vec<Occasion>> {
    row.json("events", "a target's events")
}

pub(crate) fn read_delivery(row: &AnyRow) -> Result<DeliveryView> {
    let state = row.named("state", "delivery state", DeliveryState::from_name)?;
    let news: Option<News> = row.optional_json("news", "a delivery's news")?;
    let next_try_at = row.time("next_try_at")?;
    Ok(DeliveryView {
        delivery_id: row.try_get("id")?,
        target_id: row.try_get("target_id")?,
        address: row.try_get("address")?,
        event: row.named("event", "event", Occasion::from_name)?,
        run_id: news.map(|news| news.run_id),
        state,
        tries: row.count("tries")?,
        made_at: row.time("made_at")?,
        tried_at: row.optional_time("tried_at")?,
        answer: row.try_get("answer")?,
        next_try_at: (state == DeliveryState::Waiting).then_some(next_try_at),
    })
}
