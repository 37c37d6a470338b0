//! Sign-in with GitHub, which speaks OAuth 2 without ID tokens.

use anyhow::Context;
use axum::http::{Request, StatusCode, header};
use openidconnect::{
    AccessToken, AuthType, AuthUrl, EndpointNotSet, EndpointSet, Nonce, OAuth2TokenResponse,
    PkceCodeChallenge, TokenUrl,
};
use serde::Deserialize;
use swe_ci_engine::ProvenIdentity;
use url::Url;

use super::client::{Client, code_error};
use super::types::{
    AuthorizationRequest, Callback, CallbackSecrets, Caller, ProviderError, Registration,
    random_state,
};

/// github.com has its API at a host of its own; other installations have it
/// below their address.
const SITE: &str = "github.com";
const API: &str = "https://api.github.com/";

/// GitHub, or an installation of it. It speaks only OAuth 2: its API returns
/// the user of a token.
#[derive(Debug)]
pub(super) struct GitHub {
    /// Boxed because it is large.
    library: Box<Library>,
    user: Url,
    client: Client,
}

type Library = oauth2::basic::BasicClient<
    EndpointSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointSet,
>;

/// The API's description of the token's user.
#[derive(Deserialize)]
struct User {
    /// Permanent, while logins change hands.
    id: u64,
    login: String,
}

impl GitHub {
    /// `site` ends with a slash, as all addresses without a path do.
    pub(super) fn new(
        site: &Url,
        registration: Registration,
        client: Client,
    ) -> anyhow::Result<Self> {
        let at = |path: &str| site.join(path).context("not an address with paths");
        let user = match site.host_str() {
            Some(SITE) => Url::parse(API)?.join("user")?,
            _ => at("api/v3/user")?,
        };
        let library = oauth2::basic::BasicClient::new(registration.client_id)
            .set_client_secret(registration.client_secret)
            .set_auth_uri(AuthUrl::from_url(at("login/oauth/authorize")?))
            .set_token_uri(TokenUrl::from_url(at("login/oauth/access_token")?))
            .set_redirect_uri(registration.back)
            .set_auth_type(AuthType::RequestBody);
        Ok(Self {
            library: Box::new(library),
            user,
            client,
        })
    }

    /// Requests no scope: the user of a token is readable without any.
    pub(super) fn begin(&self) -> Result<AuthorizationRequest, ProviderError> {
        let (challenge, verifier) = PkceCodeChallenge::new_random_sha256();
        let request = self.library.authorize_url(random_state);
        let (url, state) = request.set_pkce_challenge(challenge).url();
        let secrets = CallbackSecrets {
            state,
            // There is no ID token to carry it.
            nonce: Nonce::new(String::new()),
            verifier,
        };
        Ok(AuthorizationRequest { url, secrets })
    }

    pub(super) async fn finish(
        &self,
        callback: Callback,
        secrets: CallbackSecrets,
    ) -> Result<Caller, ProviderError> {
        let request = self.library.exchange_code(callback.code);
        let request = request.set_pkce_verifier(secrets.verifier);
        let answer = request
            .request_async(&self.client)
            .await
            .map_err(code_error)?;
        let user = self.user(answer.access_token()).await?;
        Ok(Caller {
            identity: ProvenIdentity {
                provider: String::new(),
                subject: user.id.to_string(),
                shown_as: user.login.clone(),
            },
            preferred_name: user.login.clone(),
            email: None,
            login: Some(user.login),
        })
    }

    async fn user(&self, token: &AccessToken) -> Result<User, ProviderError> {
        let request = Request::get(self.user.as_str())
            .header(header::ACCEPT, "application/vnd.github+json")
            .header(header::AUTHORIZATION, format!("Bearer {}", token.secret()))
            .body(Vec::new());
        let unusable = |says: &str| ProviderError::Unverified(format!("its API {says}"));
        let request = request.map_err(|_| unusable("cannot be called with this token"))?;
        let answer = self.client.send(request).await?;
        match answer.status() {
            StatusCode::OK => serde_json::from_slice(answer.body())
                .map_err(|_| unusable("does not name the token's user")),
            status if status.is_server_error() => Err(ProviderError::Unreachable(format!(
                "its API answers {status}"
            ))),
            status => Err(unusable(&format!("answers {status}"))),
        }
    }
}
