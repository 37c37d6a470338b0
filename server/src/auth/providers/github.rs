use anyhow::Context;
use axum::http::{Request, StatusCode, header};
use openidconnect::core::CoreErrorResponseType;
use openidconnect::{
    AccessToken, AuthType, AuthUrl, EndpointNotSet, EndpointSet, Nonce, OAuth2TokenResponse,
    PkceCodeChallenge, RequestTokenError, StandardErrorResponse, TokenUrl,
};
use serde::Deserialize;
use swe_ci_engine::ProvenIdentity;
use url::Url;

use super::client::{Client, ClientError};
use super::{Begun, Brought, Caller, Kept, Refusal, Registration, random_state};

/// GitHub's own site has its API at a host of its own; other installations
/// have it below their address.
const SITE: &str = "github.com";
const API: &str = "https://api.github.com/";

/// GitHub, or an installation of it. It speaks OAuth 2 alone: who somebody is
/// its API says to whoever has their token.
#[derive(Debug)]
pub(super) struct GitHub {
    /// Large, and the same for all who come.
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

/// What its API says of whoever has a token.
#[derive(Deserialize)]
struct User {
    /// Theirs for good; logins change hands.
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

    /// Asks for no scope: whose token it is may be known without any.
    pub(super) fn begin(&self) -> Result<Begun, Refusal> {
        let (challenge, verifier) = PkceCodeChallenge::new_random_sha256();
        let request = self.library.authorize_url(random_state);
        let (url, state) = request.set_pkce_challenge(challenge).url();
        let kept = Kept {
            state,
            // There is no ID token to carry it.
            nonce: Nonce::new(String::new()),
            verifier,
        };
        Ok(Begun { url, kept })
    }

    pub(super) async fn finish(&self, brought: Brought, kept: Kept) -> Result<Caller, Refusal> {
        let request = self.library.exchange_code(brought.code);
        let request = request.set_pkce_verifier(kept.verifier);
        let answer = request.request_async(&self.client).await.map_err(refused)?;
        let user = self.user(answer.access_token()).await?;
        Ok(Caller {
            who: ProvenIdentity {
                provider: String::new(),
                subject: user.id.to_string(),
                shown_as: user.login.clone(),
            },
            called: user.login.clone(),
            email: None,
            login: Some(user.login),
        })
    }

    async fn user(&self, token: &AccessToken) -> Result<User, Refusal> {
        let request = Request::get(self.user.as_str())
            .header(header::ACCEPT, "application/vnd.github+json")
            .header(header::AUTHORIZATION, format!("Bearer {}", token.secret()))
            .body(Vec::new());
        let unusable = |says: &str| Refusal::Unverified(format!("its API {says}"));
        let request = request.map_err(|_| unusable("cannot be asked with this token"))?;
        let answer = self.client.send(request).await?;
        match answer.status() {
            StatusCode::OK => serde_json::from_slice(answer.body())
                .map_err(|_| unusable("does not say who has the token")),
            status if status.is_server_error() => {
                Err(Refusal::Unreachable(format!("its API answers {status}")))
            }
            status => Err(unusable(&format!("answers {status}"))),
        }
    }
}

/// Why no token was given for a code. What the provider says is told as far as
/// it is one of the errors there are: its answers may hold tokens.
pub(super) fn refused(
    error: RequestTokenError<ClientError, StandardErrorResponse<CoreErrorResponseType>>,
) -> Refusal {
    match error {
        RequestTokenError::Request(error) => error.into(),
        RequestTokenError::ServerResponse(said) => {
            Refusal::Unverified(format!("it gives no token for the code: {}", said.error()))
        }
        RequestTokenError::Parse(..) | RequestTokenError::Other(_) => {
            Refusal::Unverified("its answer to the code holds no token".into())
        }
    }
}
