//! Sign-in with OpenID Connect.

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

use super::client::{Client, ClientError, code_error};
use super::types::{
    AuthorizationRequest, Callback, CallbackSecrets, Caller, ProviderError, Registration,
    random_state,
};

/// How long to cache the provider's metadata. A missing key refreshes it
/// earlier.
const FRESH: Duration = Duration::from_mins(10);

/// A provider of OpenID Connect.
#[derive(Debug)]
pub(super) struct Oidc {
    issuer: IssuerUrl,
    registration: Registration,
    client: Client,
    /// The provider's metadata, and when it was fetched.
    known: Mutex<Option<(Instant, Arc<CoreProviderMetadata>)>>,
}

/// The library's client for discovered metadata.
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

    pub(super) async fn begin(&self) -> Result<AuthorizationRequest, ProviderError> {
        let (challenge, verifier) = PkceCodeChallenge::new_random_sha256();
        let metadata = self.metadata().await?;
        let client = self.discovered(&metadata);
        let flow = CoreAuthenticationFlow::AuthorizationCode;
        let request = client
            .authorize_url(flow, random_state, Nonce::new_random)
            .add_scopes(["profile", "email"].map(|scope| Scope::new(scope.to_owned())))
            .set_pkce_challenge(challenge);
        let (url, state, nonce) = request.url();
        let secrets = CallbackSecrets {
            state,
            nonce,
            verifier,
        };
        Ok(AuthorizationRequest { url, secrets })
    }

    pub(super) async fn finish(
        &self,
        callback: Callback,
        secrets: CallbackSecrets,
    ) -> Result<Caller, ProviderError> {
        let unverified = |says: &str| ProviderError::Unverified(says.to_owned());
        if callback.issuer.is_some_and(|issuer| issuer != *self.issuer) {
            return Err(unverified("the callback names another issuer"));
        }
        let metadata = self.metadata().await?;
        let client = self.discovered(&metadata);
        let request = client.exchange_code(callback.code);
        let request = request.map_err(|_| unverified("the metadata name no token endpoint"))?;
        let request = request.set_pkce_verifier(secrets.verifier);
        let answer: CoreTokenResponse = request
            .request_async(&self.client)
            .await
            .map_err(code_error)?;
        let token = answer.id_token();
        let token = token.ok_or_else(|| unverified("the response contains no ID token"))?;
        match caller(&client, token, &secrets.nonce) {
            // The provider may have rotated its keys.
            Err(ClaimsVerificationError::SignatureVerification(
                SignatureVerificationError::NoMatchingKey,
            )) => {
                let metadata = self.discover().await?;
                let client = self.discovered(&metadata);
                caller(&client, token, &secrets.nonce)
            }
            other => other,
        }
        .map_err(|error| {
            ProviderError::Unverified(format!("the ID token is invalid: {}", why(&error)))
        })
    }

    fn discovered(&self, metadata: &CoreProviderMetadata) -> Discovered {
        let site = &self.registration;
        // The default is the header.
        let methods = metadata.token_endpoint_auth_methods_supported();
        let in_body = methods.is_some_and(|methods| {
            !methods.contains(&CoreClientAuthMethod::ClientSecretBasic)
                && methods.contains(&CoreClientAuthMethod::ClientSecretPost)
        });
        let secret = Some(site.client_secret.clone());
        CoreClient::from_provider_metadata(metadata.clone(), site.client_id.clone(), secret)
            .set_redirect_uri(site.back.clone())
            .set_auth_type(match in_body {
                true => AuthType::RequestBody,
                false => AuthType::BasicAuth,
            })
    }

    /// The provider's metadata, cached or fetched.
    async fn metadata(&self) -> Result<Arc<CoreProviderMetadata>, ProviderError> {
        match self.cached_metadata() {
            Some(metadata) => Ok(metadata),
            None => self.discover().await,
        }
    }

    fn cached_metadata(&self) -> Option<Arc<CoreProviderMetadata>> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let fresh = known.as_ref().filter(|(at, _)| at.elapsed() < FRESH);
        fresh.map(|(_, metadata)| metadata.clone())
    }

    async fn discover(&self) -> Result<Arc<CoreProviderMetadata>, ProviderError> {
        let discovery = CoreProviderMetadata::discover_async(self.issuer.clone(), &self.client);
        let metadata = Arc::new(discovery.await.map_err(discovery_error)?);
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        *known = Some((Instant::now(), metadata.clone()));
        Ok(metadata)
    }
}

/// The subject of an ID token, after verification of its signature, issuer,
/// audience, nonce and times.
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
    let preferred_name = name.as_deref().or(before_at).unwrap_or_default().to_owned();
    let shown_as = name.or(email.clone()).unwrap_or(subject.clone());
    Ok(Caller {
        identity: ProvenIdentity {
            provider: String::new(),
            subject,
            shown_as,
        },
        preferred_name,
        email: email.filter(|_| claims.email_verified() == Some(true)),
        login: None,
    })
}

/// The error's text, with the cause of a wrong signature.
fn why(error: &ClaimsVerificationError) -> String {
    match error {
        ClaimsVerificationError::SignatureVerification(cause) => format!("{error}: {cause}"),
        other => other.to_string(),
    }
}

/// The library's texts omit the provider's response status.
fn discovery_error(error: DiscoveryError<ClientError>) -> ProviderError {
    match error {
        DiscoveryError::Request(error) => error.into(),
        DiscoveryError::Response(status, ..) => {
            ProviderError::Unreachable(format!("the metadata request returned {status}"))
        }
        other => ProviderError::Unverified(format!("the metadata cannot be used: {other}")),
    }
}
