//! The caller's account, tokens and stored keys of model providers; all
//! accounts and the audit log for administrators.

use axum::Json;
use axum::body::Bytes;
use axum::http::StatusCode;
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};
use swe_ci_engine::KeyView;
use swe_ci_views::account::{
    AccountRole, AccountView, AuditEntry, Identity, TokenScope, TokenView,
};
use swe_ci_views::view::Page;
use utoipa::ToSchema;

use super::query::{PageParameters, Query, parameters};
use super::responses::{Admin, Invalid, SignedIn, Submitter};
use super::{Answer, Result};
use crate::extract::{ActorEngine, Body, Path};
use crate::problem::Problem;

/// The account the token belongs to, and its role.
#[utoipa::path(
    get, path = "/api/v1/me", tag = "accounts",
    responses((status = 200, description = "The account, with its current role", body = Identity), SignedIn),
)]
pub(crate) async fn me(engine: ActorEngine) -> Answer<Identity> {
    engine.require(AccountRole::Reader)?;
    let me = engine.by().identity().cloned();
    Ok(Json(me.ok_or_else(Problem::internal)?))
}

/// Your own tokens, without their texts.
#[utoipa::path(
    get, path = "/api/v1/tokens", tag = "accounts",
    responses((status = 200, description = "The tokens", body = Vec<TokenView>), SignedIn),
)]
pub(crate) async fn tokens(engine: ActorEngine) -> Answer<Vec<TokenView>> {
    Ok(Json(engine.tokens().await?))
}

/// A token to create.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewToken {
    /// The purpose of the token.
    #[schema(example = "nightly runs")]
    name: String,
    /// What the token permits at most; the owner's role limits it further.
    /// `metrics` reads `/metrics` and public results; administrators give it.
    scope: TokenScope,
    /// Days until the token expires.
    #[schema(minimum = 1, maximum = 365)]
    days: u32,
}

/// A new token.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct MadeToken {
    token: TokenView,
    /// Send it as `Authorization: Bearer …`. The server returns it only once.
    text: String,
}

/// Creates a token of your own.
#[utoipa::path(
    post, path = "/api/v1/tokens", tag = "accounts",
    request_body = NewToken,
    responses(
        (status = 201, description = "The token and its text", body = MadeToken),
        SignedIn,
        (status = 400, description = "A field is invalid"),
        (status = 403, description = "The new token would be valid for longer, or for more, than the token of this request"),
    ),
)]
pub(crate) async fn make_token(
    engine: ActorEngine,
    body: Result<Body<NewToken>>,
) -> Result<(StatusCode, Json<MadeToken>)> {
    engine.require(AccountRole::Reader)?;
    let Body(NewToken { name, scope, days }) = body?;
    let (token, text) = engine.make_token(&name, scope, days).await?;
    let text = text.expose_secret().to_owned();
    Ok((StatusCode::CREATED, Json(MadeToken { token, text })))
}

/// Revokes a token; it stops working at once.
#[utoipa::path(
    delete, path = "/api/v1/tokens/{id}", tag = "accounts",
    params(("id" = String, Path, description = "The token's id; addresses never contain the token's text.")),
    responses(
        (status = 204, description = "The token is revoked"),
        SignedIn,
        (status = 404, description = "You have no such token"),
    ),
)]
pub(crate) async fn revoke_token(
    engine: ActorEngine,
    Path(id): Path<String>,
) -> Result<StatusCode> {
    engine.require(AccountRole::Reader)?;
    engine.revoke_token(&id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// All accounts, by name; for administrators.
#[utoipa::path(
    get, path = "/api/v1/accounts", tag = "accounts",
    responses((status = 200, description = "The accounts", body = Vec<AccountView>), Admin),
)]
pub(crate) async fn accounts(engine: ActorEngine) -> Answer<Vec<AccountView>> {
    Ok(Json(engine.accounts().await?))
}

parameters! {
    /// Which entries of the audit log.
    struct AuditParameters of |query| {
        /// Only entries about this account, run, key, ….
        subject: Option<String> = query.text("subject", "at most 200 bytes of text")?,
    }
}

/// Audit log entries, newest first; for administrators.
#[utoipa::path(
    get, path = "/api/v1/audit", tag = "accounts",
    params(AuditParameters, PageParameters),
    responses((status = 200, description = "A page of entries", body = Page<AuditEntry>), Invalid, Admin),
)]
pub(crate) async fn audit(
    engine: ActorEngine,
    query: Result<Query<(AuditParameters, PageParameters)>>,
) -> Answer<Page<AuditEntry>> {
    engine.require(AccountRole::Admin)?;
    let Query((AuditParameters { subject }, page)) = query?;
    Ok(Json(engine.audit(&page.into(), subject.as_deref()).await?))
}

/// A key to store.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct KeyValue {
    /// The provider's key; the API never returns it.
    #[schema(value_type = String, format = "password")]
    value: SecretString,
}

parameters! {
    /// Whether to remove a key that runs still need.
    struct RemovalParameters of |query| {
        /// Removes the key even if runs need it; their steps will then fail.
        #[param(value_type = Option<bool>, default = false)]
        force: bool = query.word("force", [("true", true), ("false", false)])?,
    }
}

/// The stored keys your runs may use, without their values.
#[utoipa::path(
    get, path = "/api/v1/keys", tag = "runs",
    responses((status = 200, description = "The keys", body = Vec<KeyView>), Submitter),
)]
pub(crate) async fn keys(engine: ActorEngine) -> Answer<Vec<KeyView>> {
    Ok(Json(engine.key_names().await?))
}

/// Stores one of your keys under a name and replaces an earlier one.
#[utoipa::path(
    put, path = "/api/v1/keys/{name}", tag = "runs",
    params(("name" = String, Path, description = "The key's name in configurations.")), request_body = KeyValue,
    responses(
        (status = 204, description = "The key is stored"),
        Submitter,
        (status = 400, description = "The name or the value is invalid"),
    ),
)]
pub(crate) async fn set_key(
    engine: ActorEngine,
    Path(name): Path<String>,
    body: Bytes,
) -> Result<StatusCode> {
    engine.require(AccountRole::Submitter)?;
    // The parser's error would repeat the body, and the body is a secret.
    let key: KeyValue = serde_json::from_slice(&body).map_err(|_| {
        Problem::unreadable("the body is not a key, `{\"value\": \"…\"}`".to_owned())
    })?;
    engine.set_key(&name, &key.value).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Removes one of your keys.
#[utoipa::path(
    delete, path = "/api/v1/keys/{name}", tag = "runs",
    params(("name" = String, Path, description = "The key's name in configurations."), RemovalParameters),
    responses(
        (status = 204, description = "It is removed"),
        Invalid,
        Submitter,
        (status = 404, description = "You have no such key"),
        (status = 409, description = "Unfinished runs need the key"),
    ),
)]
pub(crate) async fn remove_key(
    engine: ActorEngine,
    Path(name): Path<String>,
    query: Result<Query<RemovalParameters>>,
) -> Result<StatusCode> {
    engine.require(AccountRole::Submitter)?;
    let Query(RemovalParameters { force }) = query?;
    engine.remove_key(&name, force).await?;
    Ok(StatusCode::NO_CONTENT)
}
