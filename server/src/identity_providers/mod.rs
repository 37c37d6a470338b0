//! Sign-in through identity providers: OpenID Connect, and GitHub, which speaks
//! only OAuth 2.
//!
//! The operator's file (`file`) configures them. A `Provider` makes the
//! address to send a browser to, and turns the callback into a proven identity
//! (`oidc`, `github`); both use the one `client`. `auth` keeps the
//! pending state in the session, and the engine finds the account.

mod client;
mod file;
mod github;
mod oidc;
mod types;

use std::sync::Arc;
use std::time::Duration;

use openidconnect::{ClientId, RedirectUrl};
use swe_ci_app::{PublicUrl, SignInProvider, SignInProviders};
use swe_ci_engine::{Admission, FollowedInvitation};

pub use file::{Admits, Kind, Only, ProviderConfig, read};
pub(crate) use types::{AuthorizationRequest, Callback, CallbackSecrets, Caller, ProviderError};

use client::Client;
use github::GitHub;
use oidc::Oidc;
use types::Registration;

/// The time limit for all requests to a provider in one step; shorter than the
/// limit of the browser's request.
const PATIENCE: Duration = Duration::from_secs(20);

/// The longest displayed name to keep, in characters.
const LONGEST_SHOWN: usize = 100;
/// The longest subject that OpenID Connect allows, in bytes.
const LONGEST_SUBJECT: usize = 255;

/// The providers, in the order of the operator's file. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Providers(Arc<[Provider]>);

#[derive(Debug)]
pub(crate) struct Provider {
    pub id: String,
    /// The name people know.
    pub name: String,
    admits: Admits,
    protocol: Protocol,
}

#[derive(Debug)]
enum Protocol {
    Oidc(Box<Oidc>),
    GitHub(GitHub),
}

impl Providers {
    /// `site` is the public URL for callbacks.
    ///
    /// # Errors
    /// When no HTTP client can be made.
    pub fn new(configs: Vec<ProviderConfig>, site: &PublicUrl) -> anyhow::Result<Self> {
        if configs.is_empty() {
            return Ok(Self::default());
        }
        let client = Client::new()?;
        let made = configs
            .into_iter()
            .map(|config| Provider::new(config, site, client.clone()));
        Ok(Self(made.collect::<anyhow::Result<_>>()?))
    }

    pub(crate) fn named(&self, id: &str) -> Option<&Provider> {
        self.0.iter().find(|provider| provider.id == id)
    }

    pub(crate) fn ids(&self) -> Vec<String> {
        self.0.iter().map(|provider| provider.id.clone()).collect()
    }

    /// The providers as pages show them.
    pub(crate) fn shown(&self) -> SignInProviders {
        let shown = self.0.iter().map(|provider| SignInProvider {
            id: provider.id.clone(),
            name: provider.name.clone(),
            invites: provider.invites(),
            admits: matches!(provider.admits, Admits::Anyone { .. }),
        });
        SignInProviders(shown.collect())
    }
}

impl Provider {
    fn new(config: ProviderConfig, site: &PublicUrl, client: Client) -> anyhow::Result<Self> {
        let back = site.at(&format!("/sign-in/{}/callback", config.id));
        let registration = Registration {
            client_id: ClientId::new(config.client_id),
            client_secret: config.client_secret,
            back: RedirectUrl::new(back)?,
        };
        Ok(Self {
            id: config.id,
            admits: config.admits,
            name: config.name,
            protocol: match config.kind {
                Kind::Oidc { issuer } => {
                    Protocol::Oidc(Box::new(Oidc::new(issuer, registration, client)))
                }
                Kind::GitHub { site } => {
                    Protocol::GitHub(GitHub::new(&site, registration, client)?)
                }
            },
        })
    }

    /// Whether people can accept an invitation with it.
    pub(crate) fn invites(&self) -> bool {
        self.admits != Admits::Linked
    }

    pub(crate) async fn begin(&self) -> Result<AuthorizationRequest, ProviderError> {
        let begun = async {
            match &self.protocol {
                Protocol::Oidc(oidc) => oidc.begin().await,
                Protocol::GitHub(github) => github.begin(),
            }
        };
        let begun = with_timeout(begun).await?;
        match begun.url.scheme() {
            "https" | "http" => Ok(begun),
            other => Err(ProviderError::Unverified(format!(
                "its sign-in page is not a web page, but `{other}:`"
            ))),
        }
    }

    /// The caller's identity, from the callback.
    pub(crate) async fn finish(
        &self,
        callback: Callback,
        secrets: CallbackSecrets,
    ) -> Result<Caller, ProviderError> {
        let caller = async {
            match &self.protocol {
                Protocol::Oidc(oidc) => oidc.finish(callback, secrets).await,
                Protocol::GitHub(github) => github.finish(callback, secrets).await,
            }
        };
        let mut caller = with_timeout(caller).await?;
        caller.identity.provider = self.id.clone();
        let length = caller.identity.subject.len();
        if !(1..=LONGEST_SUBJECT).contains(&length) {
            return Err(ProviderError::Unverified(format!(
                "the subject has {length} bytes; 1 to {LONGEST_SUBJECT} are allowed"
            )));
        }
        caller.identity.shown_as = shown(&caller.identity.shown_as);
        Ok(caller)
    }

    /// The grounds on which a caller without an account gets one.
    pub(crate) fn admission(
        &self,
        caller: &Caller,
        followed: Option<FollowedInvitation>,
    ) -> Admission {
        match (&self.admits, followed) {
            (Admits::Linked, _) | (Admits::Invited, None) => Admission::Linked,
            (_, Some(followed)) => Admission::Invited(followed),
            (Admits::Anyone { role, only }, None) if caller.is_one_of(only) => {
                Admission::Anyone(*role)
            }
            (Admits::Anyone { .. }, None) => Admission::Linked,
        }
    }
}

async fn with_timeout<T>(
    future: impl Future<Output = Result<T, ProviderError>>,
) -> Result<T, ProviderError> {
    let late = || ProviderError::Unreachable(format!("not within {} s", PATIENCE.as_secs()));
    let answered = tokio::time::timeout(PATIENCE, future).await;
    answered.unwrap_or_else(|_| Err(late()))
}

/// One short line, without characters that change the direction of the text.
pub(crate) fn shown(text: &str) -> String {
    let turns = |c: char| matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}');
    let plain = text.chars().filter(|c| !c.is_control() && !turns(*c));
    plain.take(LONGEST_SHOWN).collect()
}

#[cfg(test)]
mod tests {
    use openidconnect::ClientSecret;
    use swe_ci_engine::ProvenIdentity;
    use swe_ci_views::account::AccountRole;
    use url::Url;

    use super::*;

    fn provider(admits: Admits) -> Provider {
        let config = ProviderConfig {
            id: "corp".into(),
            name: "Corp".into(),
            client_id: "id".into(),
            client_secret: ClientSecret::new("hunter2".into()),
            admits,
            kind: Kind::GitHub {
                site: Url::parse("https://github.com").unwrap(),
            },
        };
        let site = PublicUrl::new("https://bench.example.org".into());
        Provider::new(config, &site, Client::new().unwrap()).unwrap()
    }

    fn caller(email: Option<&str>, login: Option<&str>) -> Caller {
        Caller {
            identity: ProvenIdentity {
                provider: String::new(),
                subject: "1".into(),
                shown_as: String::new(),
            },
            preferred_name: String::new(),
            email: email.map(str::to_owned),
            login: login.map(str::to_owned),
        }
    }

    #[test]
    fn admission_of_callers() {
        let role = AccountRole::Submitter;
        let followed: FollowedInvitation = serde_json::from_str("\"digest\"").unwrap();
        let invited = Admission::Invited(followed.clone());
        let anyone = |only| Admits::Anyone { role, only };
        let check = |admits: Admits, caller: &Caller, uninvited: Admission, by_invitation| {
            let provider = provider(admits);
            assert_eq!(provider.admission(caller, None), uninvited, "{provider:?}");
            let found = provider.admission(caller, Some(followed.clone()));
            assert_eq!(found, by_invitation, "{provider:?}");
        };
        let (closed, open) = (Admission::Linked, Admission::Anyone(role));
        let of_corp = caller(Some("ada@mail@Corp.example"), Some("Ada"));
        check(Admits::Linked, &of_corp, closed.clone(), closed.clone());
        check(Admits::Invited, &of_corp, closed.clone(), invited.clone());
        let all = anyone(Only::Everybody);
        check(all, &of_corp, open.clone(), invited.clone());
        let domains = anyone(Only::EmailDomains(vec!["corp.example".into()]));
        check(domains.clone(), &of_corp, open.clone(), invited.clone());
        for other in [
            "ada@evil.example",
            "ada@corp.example.evil.org",
            "corp.example",
            "ada@sub.corp.example",
        ] {
            let other = caller(Some(other), None);
            check(domains.clone(), &other, closed.clone(), invited.clone());
        }
        // An unverified address counts as none.
        check(
            domains,
            &caller(None, Some("corp.example")),
            closed.clone(),
            invited.clone(),
        );
        let logins = anyone(Only::Logins(vec!["ada".into()]));
        check(logins.clone(), &of_corp, open, invited.clone());
        check(logins, &caller(Some("ada"), Some("eve")), closed, invited);
    }

    #[test]
    fn secrets_are_in_no_debugging_text() {
        let text = format!("{:?}", provider(Admits::Linked));
        assert!(text.contains("corp") && !text.contains("hunter2"), "{text}");
    }

    #[test]
    fn shown_names_are_one_short_line() {
        let check = |given: &str, expect: &str| assert_eq!(shown(given), expect);
        check("octocat", "octocat");
        check("a\nb\u{202e}c\u{200b}", "abc");
        check(&"x".repeat(300), &"x".repeat(100));
    }
}
