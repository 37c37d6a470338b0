use axum::Json;
use axum::http::StatusCode;
use secrecy::ExposeSecret;
use serde::{Deserialize, Serialize};
use swe_ci_core::account::{AccountRole, AccountView, AuditEntry, Identity, TokenView};
use swe_ci_core::view::Page;
use swe_ci_engine::PageRequest;
use utoipa::{IntoParams, ToSchema};

use super::Result;
use super::body::Body;
use super::path::{Path, TokenPath};
use super::problem::{Problem, ProblemBody};
use super::query::{FromQuery, Given, NoParameters, PageParameters, Query};
use crate::auth::As;

/// Whom the token sent belongs to, and what it may do.
#[utoipa::path(
    get,
    path = "/api/v1/me",
    tag = "accounts",
    security(("token" = [])),
    responses(
        (status = 200, description = "The account, with the role that holds now", body = Identity),
        (status = 401, description = "No good token was sent", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn me(
    As(engine): As,
    Query(NoParameters): Query<NoParameters>,
) -> Result<Json<Identity>> {
    engine.require(AccountRole::Reader)?;
    let me = engine.by().identity().cloned();
    Ok(Json(me.ok_or_else(Problem::internal)?))
}

/// One's own tokens, without their texts.
#[utoipa::path(
    get,
    path = "/api/v1/tokens",
    tag = "accounts",
    security(("token" = [])),
    responses(
        (status = 200, description = "The tokens", body = Vec<TokenView>),
        (status = 401, description = "No good token was sent", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn tokens(
    As(engine): As,
    Query(NoParameters): Query<NoParameters>,
) -> Result<Json<Vec<TokenView>>> {
    Ok(Json(engine.tokens().await?))
}

/// A token as it is wished for.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewToken {
    /// What it is for.
    #[schema(example = "nightly runs")]
    name: String,
    /// The most it may do; its owner's role is the other bound.
    scope: AccountRole,
    /// Days it is good for.
    #[schema(minimum = 1, maximum = 365)]
    days: u32,
}

/// A token that was just made.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct MadeToken {
    token: TokenView,
    /// To be sent as `Authorization: Bearer …`. It is told this once.
    text: String,
}

/// Makes a token for oneself.
#[utoipa::path(
    post,
    path = "/api/v1/tokens",
    tag = "accounts",
    security(("token" = [])),
    request_body = NewToken,
    responses(
        (status = 201, description = "The token and its text", body = MadeToken),
        (status = 400, description = "It cannot be made so", body = ProblemBody, content_type = "application/problem+json"),
        (status = 401, description = "No good token was sent", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn make_token(
    As(engine): As,
    Query(NoParameters): Query<NoParameters>,
    body: Result<Body<NewToken>>,
) -> Result<(StatusCode, Json<MadeToken>)> {
    engine.require(AccountRole::Reader)?;
    let Body(NewToken { name, scope, days }) = body?;
    let (token, text) = engine.make_token(&name, scope, days).await?;
    let text = text.expose_secret().to_owned();
    Ok((StatusCode::CREATED, Json(MadeToken { token, text })))
}

/// Revokes a token: nothing answers to it any more.
#[utoipa::path(
    delete,
    path = "/api/v1/tokens/{id}",
    tag = "accounts",
    security(("token" = [])),
    params(TokenPath),
    responses(
        (status = 204, description = "It is revoked"),
        (status = 401, description = "No good token was sent", body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "One has no such token", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn revoke_token(
    As(engine): As,
    Path(TokenPath { id }): Path<TokenPath>,
    Query(NoParameters): Query<NoParameters>,
) -> Result<StatusCode> {
    engine.require(AccountRole::Reader)?;
    engine.revoke_token(&id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// All accounts, by name; for administrators.
#[utoipa::path(
    get,
    path = "/api/v1/accounts",
    tag = "accounts",
    security(("token" = [])),
    responses(
        (status = 200, description = "The accounts", body = Vec<AccountView>),
        (status = 401, description = "No good token was sent", body = ProblemBody, content_type = "application/problem+json"),
        (status = 403, description = "It takes an administrator", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn accounts(
    As(engine): As,
    Query(NoParameters): Query<NoParameters>,
) -> Result<Json<Vec<AccountView>>> {
    Ok(Json(engine.accounts().await?))
}

/// Which entries of the audit log.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Entries {
    /// Only what was done to this account, run, key, ….
    #[param(value_type = Option<String>)]
    subject: Option<String>,
    #[param(ignore)]
    page: PageRequest,
}

impl FromQuery for Entries {
    const NAMES: &'static [&'static str] = &["subject", "limit", "after"];

    fn from_query(given: &Given) -> Result<Self, Problem> {
        Ok(Self {
            subject: given.subject()?,
            page: given.page()?,
        })
    }
}

/// Who did what, newest first; for administrators.
#[utoipa::path(
    get,
    path = "/api/v1/audit",
    tag = "accounts",
    security(("token" = [])),
    params(Entries, PageParameters),
    responses(
        (status = 200, description = "A page of entries", body = Page<AuditEntry>),
        (status = 400, description = "A parameter cannot be used", body = ProblemBody, content_type = "application/problem+json"),
        (status = 401, description = "No good token was sent", body = ProblemBody, content_type = "application/problem+json"),
        (status = 403, description = "It takes an administrator", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn audit(
    As(engine): As,
    Query(Entries { subject, page }): Query<Entries>,
) -> Result<Json<Page<AuditEntry>>> {
    Ok(Json(engine.audit(&page, subject.as_deref()).await?))
}
