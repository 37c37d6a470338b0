//! The values that pass between this site and an identity provider.

use openidconnect::{
    AuthorizationCode, ClientId, ClientSecret, CsrfToken, Nonce, PkceCodeVerifier, RedirectUrl,
};
use serde::{Deserialize, Serialize};
use swe_ci_app::NotSignedIn;
use swe_ci_engine::ProvenIdentity;
use url::Url;

use super::file::Only;

/// This site's registration at a provider.
#[derive(Debug)]
pub(super) struct Registration {
    pub client_id: ClientId,
    pub client_secret: ClientSecret,
    /// The address of the callback.
    pub back: RedirectUrl,
}

/// The address to send a browser to, and the secrets to keep until the
/// callback.
#[derive(Debug)]
pub(crate) struct AuthorizationRequest {
    pub url: Url,
    pub secrets: CallbackSecrets,
}

/// Secrets that bind a callback to the browser that began the sign-in. Never
/// shown.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct CallbackSecrets {
    pub state: CsrfToken,
    pub(super) nonce: Nonce,
    pub(super) verifier: PkceCodeVerifier,
}

/// The parameters of a callback.
#[derive(Debug)]
pub(crate) struct Callback {
    pub code: AuthorizationCode,
    /// The issuer, where the provider says so (RFC 9207).
    pub issuer: Option<String>,
}

/// A person proven by a provider, and the properties that may admit them.
#[derive(Debug)]
pub(crate) struct Caller {
    pub identity: ProvenIdentity,
    /// The preferred account name.
    pub preferred_name: String,
    /// An e-mail address the provider has verified.
    pub(super) email: Option<String>,
    pub(super) login: Option<String>,
}

/// Why the server rejects a provider's answer. The texts are for the log and
/// contain no secret.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ProviderError {
    #[error("the provider does not answer: {0}")]
    Unreachable(String),
    #[error("{0}")]
    Unverified(String),
}

impl Caller {
    pub(super) fn is_one_of(&self, only: &Only) -> bool {
        match only {
            Only::Everybody => true,
            Only::EmailDomains(domains) => {
                let domain = self.email.as_deref().and_then(|e| e.rsplit_once('@'));
                domain.is_some_and(|(_, domain)| contains_ignoring_case(domains, domain))
            }
            Only::Logins(logins) => self
                .login
                .as_deref()
                .is_some_and(|l| contains_ignoring_case(logins, l)),
        }
    }
}

impl ProviderError {
    /// The error as the sign-in page shows it.
    pub(crate) fn not_signed_in(&self) -> NotSignedIn {
        match self {
            Self::Unreachable(_) => NotSignedIn::Unreachable,
            Self::Unverified(_) => NotSignedIn::Unverified,
        }
    }
}

pub(super) fn random_state() -> CsrfToken {
    CsrfToken::new_random_len(32)
}

fn contains_ignoring_case(list: &[String], text: &str) -> bool {
    list.iter().any(|one| one.eq_ignore_ascii_case(text))
}
