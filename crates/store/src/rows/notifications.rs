//! Rows of notification targets and of deliveries to them.

use sqlx::Row;
use sqlx::any::AnyRow;
use swe_ci_base::clock::rfc3339;
use swe_ci_base::error::Result;
use swe_ci_views::notification::{
    Channel, DeliveryState, DeliveryView, News, Occasion, TargetView,
};

use crate::{count, from_json};

pub(crate) fn read_target(row: &AnyRow) -> Result<TargetView> {
    Ok(TargetView {
        target_id: row.try_get("id")?,
        channel: read_channel(row)?,
        address: row.try_get("address")?,
        events: read_events(row)?,
        confirmed: row.try_get::<Option<i64>, _>("confirmed_at")?.is_some(),
        created_at: rfc3339(row.try_get("created_at")?),
    })
}

pub(crate) fn read_events(row: &AnyRow) -> Result<Vec<Occasion>> {
    let events: String = row.try_get("events")?;
    from_json("a target's events", &events)
}

pub(crate) fn read_channel(row: &AnyRow) -> Result<Channel> {
    let name: String = row.try_get("channel")?;
    Channel::from_name(&name)
        .ok_or_else(|| anyhow::anyhow!("the database holds the channel `{name}`").into())
}

pub(crate) fn read_delivery(row: &AnyRow) -> Result<DeliveryView> {
    let name: String = row.try_get("state")?;
    let state = DeliveryState::from_name(&name)
        .ok_or_else(|| anyhow::anyhow!("the database holds the delivery state `{name}`"))?;
    let next_try_at = rfc3339(row.try_get("next_try_at")?);
    Ok(DeliveryView {
        delivery_id: row.try_get("id")?,
        target_id: row.try_get("target_id")?,
        address: row.try_get("address")?,
        event: read_event(row)?,
        run_id: read_news(row)?.map(|news| news.run_id),
        state,
        tries: count(row.try_get("tries")?),
        made_at: rfc3339(row.try_get("made_at")?),
        tried_at: row.try_get::<Option<i64>, _>("tried_at")?.map(rfc3339),
        answer: row.try_get("answer")?,
        next_try_at: (state == DeliveryState::Waiting).then_some(next_try_at),
    })
}

pub(crate) fn read_event(row: &AnyRow) -> Result<Occasion> {
    let name: String = row.try_get("event")?;
    Occasion::from_name(&name)
        .ok_or_else(|| anyhow::anyhow!("the database holds the event `{name}`").into())
}

pub(crate) fn read_news(row: &AnyRow) -> Result<Option<News>> {
    let news: Option<String> = row.try_get("news")?;
    news.map(|news| from_json("a delivery's news", &news))
        .transpose()
}
