//! Rows of notification targets and of deliveries to them.

use sqlx::any::AnyRow;
use swe_ci_base::error::Result;
use swe_ci_views::notification::{DeliveryState, DeliveryView, News, TargetView};

use super::columns::{Columns, from_row};

pub(crate) fn read_target(row: &AnyRow) -> Result<TargetView> {
    Ok(from_row!(row => TargetView {
        channel, address, events;
        target_id: row.read("id")?,
        confirmed: row.is_set("confirmed_at")?,
        created_at: row.time("created_at")?
    }))
}

pub(crate) fn read_delivery(row: &AnyRow) -> Result<DeliveryView> {
    let now = row.read("state")?;
    let news: Option<News> = row.optional_json("news", "a delivery's news")?;
    let next_try_at = row.time("next_try_at")?;
    Ok(from_row!(row => DeliveryView {
        target_id, address, event, tries, answer;
        delivery_id: row.read("id")?,
        run_id: news.map(|news| news.run_id),
        state: now,
        made_at: row.time("made_at")?,
        tried_at: row.optional_time("tried_at")?,
        next_try_at: (now == DeliveryState::Waiting).then_some(next_try_at)
    }))
}
