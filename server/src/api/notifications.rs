//! Notification targets of the caller.

use axum::Json;
use axum::http::StatusCode;
use secrecy::ExposeSecret;
use serde::{Deserialize, Serialize};
use swe_ci_views::account::AccountRole;
use swe_ci_views::notification::{Channel, Notifications, Occasion, TargetView};
use utoipa::ToSchema;

use super::responses::{NoSuchTarget, Submitter};
use super::{Answer, Result};
use crate::extract::{ActorEngine, Body, Path};

/// A notification target and its events.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TargetToAdd {
    channel: Channel,
    /// An `https` URL of at most 2,000 characters, or an e-mail address.
    address: String,
    /// One or more of `run.finished`, `run.blocked` and `run.budget`.
    events: Vec<Occasion>,
}

/// A new target.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct AddedTarget {
    target: TargetView,
    /// The key that signs a webhook's messages; the server returns it only
    /// once.
    #[serde(skip_serializing_if = "Option::is_none")]
    secret: Option<String>,
}

/// The confirmation code sent to a mailbox.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SentCode {
    code: String,
}

/// Your notification targets, and the latest deliveries to them.
#[utoipa::path(
    get, path = "/api/v1/notifications", tag = "accounts",
    responses((status = 200, description = "Targets and deliveries", body = Notifications), Submitter),
)]
pub(crate) async fn notifications(engine: ActorEngine) -> Answer<Notifications> {
    Ok(Json(engine.notifications().await?))
}

/// Adds a webhook, or your e-mail address; the server mails a confirmation code
/// to the address first.
#[utoipa::path(
    post, path = "/api/v1/notifications", tag = "accounts",
    request_body = TargetToAdd,
    responses(
        (status = 201, description = "The target is added", body = AddedTarget),
        Submitter,
        (status = 400, description = "The address or the events are invalid"),
        (status = 409, description = "You have the maximum number of targets, or the server sends no e-mail"),
        (status = 429, description = "Too many codes were sent today"),
    ),
)]
pub(crate) async fn add_target(
    engine: ActorEngine,
    body: Result<Body<TargetToAdd>>,
) -> Result<(StatusCode, Json<AddedTarget>)> {
    engine.require(AccountRole::Submitter)?;
    let Body(add) = body?;
    let (target, secret) = match add.channel {
        Channel::Webhook => {
            let (target, secret) = engine.add_webhook(&add.address, &add.events).await?;
            (target, Some(secret.expose_secret().to_owned()))
        }
        Channel::Mail => (engine.add_mailbox(&add.address, &add.events).await?, None),
    };
    Ok((StatusCode::CREATED, Json(AddedTarget { target, secret })))
}

/// Removes one of your targets and its pending messages.
#[utoipa::path(
    delete, path = "/api/v1/notifications/{id}", tag = "accounts",
    params(("id" = String, Path, description = "`target_id` of the target.")),
    responses((status = 204, description = "It is removed"), Submitter, NoSuchTarget),
)]
pub(crate) async fn remove_target(
    engine: ActorEngine,
    Path(id): Path<String>,
) -> Result<StatusCode> {
    engine.remove_target(&id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Sends a test message to one of your targets, or a new code to an unconfirmed
/// mailbox. The deliveries show the result.
#[utoipa::path(
    post, path = "/api/v1/notifications/{id}/test", tag = "accounts",
    params(("id" = String, Path, description = "`target_id` of the target.")),
    responses(
        (status = 202, description = "The message is queued"),
        Submitter, NoSuchTarget,
        (status = 429, description = "More than 20 tests in an hour, or 5 codes in a day"),
    ),
)]
pub(crate) async fn test_target(engine: ActorEngine, Path(id): Path<String>) -> Result<StatusCode> {
    engine.test_target(&id).await?;
    Ok(StatusCode::ACCEPTED)
}

/// Confirms one of your mailboxes with the code sent to it.
#[utoipa::path(
    post, path = "/api/v1/notifications/{id}/confirm", tag = "accounts",
    params(("id" = String, Path, description = "`target_id` of the target.")), request_body = SentCode,
    responses(
        (status = 204, description = "The mailbox is confirmed"),
        Submitter,
        (status = 400, description = "The code is not the latest one, or has expired"),
        (status = 404, description = "You have no such mailbox"),
    ),
)]
pub(crate) async fn confirm_mailbox(
    engine: ActorEngine,
    Path(id): Path<String>,
    body: Result<Body<SentCode>>,
) -> Result<StatusCode> {
    engine.require(AccountRole::Submitter)?;
    let Body(SentCode { code }) = body?;
    engine.confirm_mailbox(&id, &code).await?;
    Ok(StatusCode::NO_CONTENT)
}
