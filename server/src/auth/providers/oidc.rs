use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use openidconnect::core::{
    CoreAuthenticationFlow, CoreClient, CoreClientAuthMethod, CoreIdToken, CoreProviderMetadata,
    CoreTokenResponse,
};
use openidconnect::{
    AuthType, ClaimsVerificationError, DiscoveryError, EndpointMaybeSet, EndpointNotSet,
    EndpointSet, IssuerUrl, Nonce, PkceCodeChallenge, Scope, SignatureVerificationError,
    TokenResponse,
};
use swe_ci_engine::ProvenIdentity;

use super::client::{Client, ClientError};
use super::github::refused;
use super::{Begun, Brought, Caller, Kept, Refusal, Registration, random_state};

/// For so long what a provider says of itself is not asked again. Keys that it
/// changes meanwhile are asked for when one is missing.
const FRESH: Duration = Duration::from_mins(10);

/// A provider of OpenID Connect.
#[derive(Debug)]
pub(super) struct Oidc {
    issuer: IssuerUrl,
    registration: Registration,
    client: Client,
    /// What it said of itself, and when.
    known: Mutex<Option<(Instant, Arc<CoreProviderMetadata>)>>,
}

/// The library's client for what a provider says of itself.
type Discovered = CoreClient<
    EndpointSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointMaybeSet,
    EndpointMaybeSet,
>;

impl Oidc {
    pub(super) fn new(issuer: IssuerUrl, registration: Registration, client: Client) -> Self {
        Self {
            issuer,
            registration,
            client,
            known: Mutex::default(),
        }
    }

    pub(super) async fn begin(&self) -> Result<Begun, Refusal> {
        let (challenge, verifier) = PkceCodeChallenge::new_random_sha256();
        let metadata = self.metadata().await?;
        let client = self.discovered(&metadata);
        let flow = CoreAuthenticationFlow::AuthorizationCode;
        let request = client
            .authorize_url(flow, random_state, Nonce::new_random)
            .add_scopes(["profile", "email"].map(|scope| Scope::new(scope.to_owned())))
            .set_pkce_challenge(challenge);
        let (url, state, nonce) = request.url();
        let kept = Kept {
            state,
            nonce,
            verifier,
        };
        Ok(Begun { url, kept })
    }

    pub(super) async fn finish(&self, brought: Brought, kept: Kept) -> Result<Caller, Refusal> {
        let unverified = |says: &str| Refusal::Unverified(says.to_owned());
        if brought.issuer.is_some_and(|issuer| issuer != *self.issuer) {
            return Err(unverified("somebody was sent back by another issuer"));
        }
        let metadata = self.metadata().await?;
        let client = self.discovered(&metadata);
        let request = client.exchange_code(brought.code);
        let request = request.map_err(|_| unverified("it names no token endpoint"))?;
        let request = request.set_pkce_verifier(kept.verifier);
        let answer: CoreTokenResponse =
            request.request_async(&self.client).await.map_err(refused)?;
        let token = answer.id_token();
        let token = token.ok_or_else(|| unverified("its answer holds no ID token"))?;
        match caller(&client, token, &kept.nonce) {
            // It may have new keys.
            Err(ClaimsVerificationError::SignatureVerification(
                SignatureVerificationError::NoMatchingKey,
            )) => {
                let metadata = self.discover().await?;
                let client = self.discovered(&metadata);
                caller(&client, token, &kept.nonce)
            }
            told => told,
        }
        .map_err(|error| Refusal::Unverified(format!("its ID token is refused: {}", why(&error))))
    }

    fn discovered(&self, metadata: &CoreProviderMetadata) -> Discovered {
        let Registration {
            client_id,
            client_secret,
            back,
        } = &self.registration;
        // What is not said means "by the header".
        let methods = metadata.token_endpoint_auth_methods_supported();
        let in_body = methods.is_some_and(|methods| {
            !methods.contains(&CoreClientAuthMethod::ClientSecretBasic)
                && methods.contains(&CoreClientAuthMethod::ClientSecretPost)
        });
        let secret = Some(client_secret.clone());
        CoreClient::from_provider_metadata(metadata.clone(), client_id.clone(), secret)
            .set_redirect_uri(back.clone())
            .set_auth_type(match in_body {
                true => AuthType::RequestBody,
                false => AuthType::BasicAuth,
            })
    }

    /// What the provider says of itself, or said a moment ago.
    async fn metadata(&self) -> Result<Arc<CoreProviderMetadata>, Refusal> {
        match self.remembered() {
            Some(metadata) => Ok(metadata),
            None => self.discover().await,
        }
    }

    fn remembered(&self) -> Option<Arc<CoreProviderMetadata>> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let fresh = known.as_ref().filter(|(at, _)| at.elapsed() < FRESH);
        fresh.map(|(_, metadata)| metadata.clone())
    }

    async fn discover(&self) -> Result<Arc<CoreProviderMetadata>, Refusal> {
        let asked = CoreProviderMetadata::discover_async(self.issuer.clone(), &self.client);
        let metadata = Arc::new(asked.await.map_err(undiscovered)?);
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        *known = Some((Instant::now(), metadata.clone()));
        Ok(metadata)
    }
}

/// Who an ID token is about, once its signature, issuer, audience, nonce and
/// times are found right.
fn caller(
    client: &Discovered,
    token: &CoreIdToken,
    nonce: &Nonce,
) -> Result<Caller, ClaimsVerificationError> {
    let claims = token.claims(&client.id_token_verifier(), nonce)?;
    let subject = claims.subject().to_string();
    let email = claims.email().map(|email| email.to_string());
    let name = claims.preferred_username().map(|name| name.to_string());
    let before_at = email.as_deref().and_then(|email| email.split('@').next());
    let called = name.as_deref().or(before_at).unwrap_or_default().to_owned();
    let shown_as = name.or(email.clone()).unwrap_or(subject.clone());
    Ok(Caller {
        who: ProvenIdentity {
            provider: String::new(),
            subject,
            shown_as,
        },
        called,
        email: email.filter(|_| claims.email_verified() == Some(true)),
        login: None,
    })
}

/// With what was found wrong with a signature.
fn why(error: &ClaimsVerificationError) -> String {
    match error {
        ClaimsVerificationError::SignatureVerification(cause) => format!("{error}: {cause}"),
        other => other.to_string(),
    }
}

/// The texts of the library leave out what the provider answered.
fn undiscovered(error: DiscoveryError<ClientError>) -> Refusal {
    match error {
        DiscoveryError::Request(error) => error.into(),
        DiscoveryError::Response(status, ..) => {
            Refusal::Unreachable(format!("it answers {status} where it describes itself"))
        }
        other => Refusal::Unverified(format!("what it says of itself cannot be used: {other}")),
    }
}
