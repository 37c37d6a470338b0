use axum::Json;
use axum::http::StatusCode;
use secrecy::ExposeSecret;
use serde::{Deserialize, Serialize};
use swe_ci_core::account::AccountRole;
use swe_ci_core::notification::{Channel, Notifications, Occasion, TargetView};
use utoipa::{IntoParams, ToSchema};

use super::Result;
use super::body::Body;
use super::path::Path;
use super::problem::ProblemBody;
use super::query::{NoParameters, Query};
use crate::auth::As;

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Path)]
pub(crate) struct TargetPath {
    /// `target_id` of the target.
    id: String,
}

/// Where you want to be told of your runs, and of what.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TargetToAdd {
    channel: Channel,
    /// An `https` URL of at most 2,000 characters, or an address of e-mail.
    address: String,
    /// One or more of `run.finished`, `run.blocked` and `run.budget`.
    events: Vec<Occasion>,
}

/// A target that was added.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct AddedTarget {
    target: TargetView,
    /// What a webhook's messages are signed with; shown this once.
    #[serde(skip_serializing_if = "Option::is_none")]
    secret: Option<String>,
}

/// The code that was sent to a mailbox.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SentCode {
    code: String,
}

/// Where you are told of your runs, and what became of the last messages.
#[utoipa::path(
    get,
    path = "/api/v1/notifications",
    tag = "accounts",
    security(("token" = [])),
    responses(
        (status = 200, description = "Targets and deliveries", body = Notifications),
        (status = 401, description = "It takes a token", body = ProblemBody, content_type = "application/problem+json"),
        (status = 403, description = "It takes the role submitter", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn notifications(
    As(engine): As,
    Query(NoParameters): Query<NoParameters>,
) -> Result<Json<Notifications>> {
    Ok(Json(engine.notifications().await?))
}

/// Adds a webhook, or your address of e-mail, which is sent a code first.
#[utoipa::path(
    post,
    path = "/api/v1/notifications",
    tag = "accounts",
    security(("token" = [])),
    request_body = TargetToAdd,
    responses(
        (status = 201, description = "It is added", body = AddedTarget),
        (status = 400, description = "Address or events cannot be used", body = ProblemBody, content_type = "application/problem+json"),
        (status = 401, description = "It takes a token", body = ProblemBody, content_type = "application/problem+json"),
        (status = 403, description = "It takes the role submitter", body = ProblemBody, content_type = "application/problem+json"),
        (status = 409, description = "There are as many as there may be, or no mails are sent here", body = ProblemBody, content_type = "application/problem+json"),
        (status = 429, description = "Too many codes were sent today", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn add_target(
    As(engine): As,
    Query(NoParameters): Query<NoParameters>,
    body: Result<Body<TargetToAdd>>,
) -> Result<(StatusCode, Json<AddedTarget>)> {
    engine.require(AccountRole::Submitter)?;
    let Body(TargetToAdd {
        channel,
        address,
        events,
    }) = body?;
    let (target, secret) = match channel {
        Channel::Webhook => {
            let (target, secret) = engine.add_webhook(&address, &events).await?;
            (target, Some(secret.expose_secret().to_owned()))
        }
        Channel::Mail => (engine.add_mailbox(&address, &events).await?, None),
    };
    Ok((StatusCode::CREATED, Json(AddedTarget { target, secret })))
}

/// Removes a target of yours, and what waits to be sent there.
#[utoipa::path(
    delete,
    path = "/api/v1/notifications/{id}",
    tag = "accounts",
    security(("token" = [])),
    params(TargetPath),
    responses(
        (status = 204, description = "It is gone"),
        (status = 401, description = "It takes a token", body = ProblemBody, content_type = "application/problem+json"),
        (status = 403, description = "It takes the role submitter", body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "You have no such target", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn remove_target(
    As(engine): As,
    Path(TargetPath { id }): Path<TargetPath>,
    Query(NoParameters): Query<NoParameters>,
) -> Result<StatusCode> {
    engine.remove_target(&id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Sends a test to a target of yours, or another code to a mailbox that is not
/// confirmed. What comes of it is among the deliveries.
#[utoipa::path(
    post,
    path = "/api/v1/notifications/{id}/test",
    tag = "accounts",
    security(("token" = [])),
    params(TargetPath),
    responses(
        (status = 202, description = "It is on its way"),
        (status = 401, description = "It takes a token", body = ProblemBody, content_type = "application/problem+json"),
        (status = 403, description = "It takes the role submitter", body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "You have no such target", body = ProblemBody, content_type = "application/problem+json"),
        (status = 429, description = "More than 20 in an hour, or 5 codes in a day", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn test_target(
    As(engine): As,
    Path(TargetPath { id }): Path<TargetPath>,
    Query(NoParameters): Query<NoParameters>,
) -> Result<StatusCode> {
    engine.test_target(&id).await?;
    Ok(StatusCode::ACCEPTED)
}

/// Confirms a mailbox of yours with the code that was sent there.
#[utoipa::path(
    post,
    path = "/api/v1/notifications/{id}/confirm",
    tag = "accounts",
    security(("token" = [])),
    params(TargetPath),
    request_body = SentCode,
    responses(
        (status = 204, description = "It is confirmed"),
        (status = 400, description = "It is not the code that was sent last, or no longer good", body = ProblemBody, content_type = "application/problem+json"),
        (status = 401, description = "It takes a token", body = ProblemBody, content_type = "application/problem+json"),
        (status = 403, description = "It takes the role submitter", body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "You have no such mailbox", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn confirm_mailbox(
    As(engine): As,
    Path(TargetPath { id }): Path<TargetPath>,
    Query(NoParameters): Query<NoParameters>,
    body: Result<Body<SentCode>>,
) -> Result<StatusCode> {
    engine.require(AccountRole::Submitter)?;
    let Body(SentCode { code }) = body?;
    engine.confirm_mailbox(&id, &code).await?;
    Ok(StatusCode::NO_CONTENT)
}
