//! Signing in by who one is at another site: OpenID Connect, and GitHub, which
//! speaks OAuth 2 alone.
//!
//! The operator's file says which there are ([`file`]). A [`Provider`] makes the
//! address somebody is sent to, and of what they bring back the proof who they
//! are there ([`oidc`], [`github`]); both ask through the one [`client`]. What has
//! to be remembered meanwhile is kept in the session ([`pending`]). Whose account
//! it is, the engine knows.

mod client;
mod file;
mod github;
mod oidc;
mod pending;

use std::sync::Arc;
use std::time::Duration;

use openidconnect::{
    AuthorizationCode, ClientId, ClientSecret, CsrfToken, Nonce, PkceCodeVerifier, RedirectUrl,
};
use serde::{Deserialize, Serialize};
use swe_ci_app::{NotSignedIn, PublicUrl, SignInProvider, SignInProviders};
use swe_ci_engine::{Admission, FollowedInvitation, ProvenIdentity};
use url::Url;

pub use file::{Admits, Kind, Only, ProviderConfig, read};
pub(super) use pending::{Pending, Purpose, keep, take};

use client::Client;
use github::GitHub;
use oidc::Oidc;

/// All that is asked of a provider at once is answered within this time, or
/// given up: before the browser's request is.
const PATIENCE: Duration = Duration::from_secs(20);

/// The most that is kept of what somebody is called, in characters.
const LONGEST_SHOWN: usize = 100;
/// The longest subject that OpenID Connect allows, in bytes.
const LONGEST_SUBJECT: usize = 255;

/// The providers there are, in the order of the operator's file. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Providers(Arc<[Provider]>);

/// A site at which people may prove who they are.
#[derive(Debug)]
pub(super) struct Provider {
    pub id: String,
    admits: Admits,
    name: String,
    way: Way,
}

/// What it speaks.
#[derive(Debug)]
enum Way {
    Oidc(Box<Oidc>),
    GitHub(GitHub),
}

/// Who this site is to a provider.
#[derive(Debug)]
struct Registration {
    client_id: ClientId,
    client_secret: ClientSecret,
    /// Where people are sent back to.
    back: RedirectUrl,
}

/// Where somebody is sent, and what is to be remembered until they are back.
#[derive(Debug)]
pub(super) struct Begun {
    pub url: Url,
    pub kept: Kept,
}

/// What makes sure that whoever comes back is who was sent. Shown to nobody.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Kept {
    pub state: CsrfToken,
    nonce: Nonce,
    verifier: PkceCodeVerifier,
}

/// What somebody brings back.
#[derive(Debug)]
pub(super) struct Brought {
    pub code: AuthorizationCode,
    /// The issuer, where the provider says so (RFC 9207).
    pub issuer: Option<String>,
}

/// Who came, and by what they may be admitted.
#[derive(Debug)]
pub(super) struct Caller {
    pub who: ProvenIdentity,
    /// What they would like to be called.
    pub called: String,
    /// An address that the provider has verified.
    email: Option<String>,
    login: Option<String>,
}

/// Why a provider's word is not taken. The texts are for the log, and tell no
/// secret.
#[derive(Debug, thiserror::Error)]
pub(super) enum Refusal {
    #[error("it does not answer: {0}")]
    Unreachable(String),
    #[error("{0}")]
    Unverified(String),
}

impl Providers {
    /// `site` is where they send people back to.
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
        Ok(Self(
            made.collect::<anyhow::Result<Vec<Provider>>>()?.into(),
        ))
    }

    pub(super) fn named(&self, id: &str) -> Option<&Provider> {
        self.0.iter().find(|provider| provider.id == id)
    }

    /// The id of each.
    pub(super) fn ids(&self) -> Vec<String> {
        self.0.iter().map(|provider| provider.id.clone()).collect()
    }

    /// What pages show of them.
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
            way: match config.kind {
                Kind::Oidc { issuer } => {
                    Way::Oidc(Box::new(Oidc::new(issuer, registration, client)))
                }
                Kind::GitHub { site } => Way::GitHub(GitHub::new(&site, registration, client)?),
            },
        })
    }

    /// As people know it.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Whether an invitation can be accepted by it.
    pub(super) fn invites(&self) -> bool {
        self.admits != Admits::Linked
    }

    /// Where somebody is to prove who they are.
    pub(super) async fn begin(&self) -> Result<Begun, Refusal> {
        let begun = async {
            match &self.way {
                Way::Oidc(oidc) => oidc.begin().await,
                Way::GitHub(github) => github.begin(),
            }
        };
        let begun = in_time(begun).await?;
        match begun.url.scheme() {
            "https" | "http" => Ok(begun),
            other => Err(Refusal::Unverified(format!(
                "its page to sign in is no web page, but `{other}:`"
            ))),
        }
    }

    /// Who somebody is, by what they bring back.
    pub(super) async fn finish(&self, brought: Brought, kept: Kept) -> Result<Caller, Refusal> {
        let caller = async {
            match &self.way {
                Way::Oidc(oidc) => oidc.finish(brought, kept).await,
                Way::GitHub(github) => github.finish(brought, kept).await,
            }
        };
        let mut caller = in_time(caller).await?;
        caller.who.provider = self.id.clone();
        let length = caller.who.subject.len();
        if !(1..=LONGEST_SUBJECT).contains(&length) {
            return Err(Refusal::Unverified(format!(
                "the subject it gives has {length} bytes; 1 to {LONGEST_SUBJECT} can be kept"
            )));
        }
        caller.who.shown_as = shown(&caller.who.shown_as);
        Ok(caller)
    }

    /// By what a caller gets an account who has none.
    pub(super) fn admission(
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

impl Caller {
    fn is_one_of(&self, only: &Only) -> bool {
        match only {
            Only::Everybody => true,
            Only::EmailDomains(domains) => {
                let domain = self.email.as_deref().and_then(|e| e.rsplit_once('@'));
                domain.is_some_and(|(_, domain)| has(domains, domain))
            }
            Only::Logins(logins) => self.login.as_deref().is_some_and(|l| has(logins, l)),
        }
    }
}

impl Refusal {
    /// What is said to whoever it befell.
    pub(super) fn told(&self) -> NotSignedIn {
        match self {
            Self::Unreachable(_) => NotSignedIn::Unreachable,
            Self::Unverified(_) => NotSignedIn::Unverified,
        }
    }
}

fn random_state() -> CsrfToken {
    CsrfToken::new_random_len(32)
}

async fn in_time<T>(asked: impl Future<Output = Result<T, Refusal>>) -> Result<T, Refusal> {
    let late = || Refusal::Unreachable(format!("not within {} s", PATIENCE.as_secs()));
    let answered = tokio::time::timeout(PATIENCE, asked).await;
    answered.unwrap_or_else(|_| Err(late()))
}

fn has(list: &[String], text: &str) -> bool {
    list.iter().any(|one| one.eq_ignore_ascii_case(text))
}

/// One short line, without what turns the text around it.
pub(super) fn shown(text: &str) -> String {
    let turns = |c: char| matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}');
    let plain = text.chars().filter(|c| !c.is_control() && !turns(*c));
    plain.take(LONGEST_SHOWN).collect()
}

#[cfg(test)]
mod tests {
    use swe_ci_core::account::AccountRole;

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
            who: ProvenIdentity {
                provider: String::new(),
                subject: "1".into(),
                shown_as: String::new(),
            },
            called: String::new(),
            email: email.map(str::to_owned),
            login: login.map(str::to_owned),
        }
    }

    #[test]
    fn who_is_admitted() {
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
        // One that is not verified is none.
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
    fn what_is_shown_of_somebody_is_one_short_line() {
        let check = |given: &str, expect: &str| assert_eq!(shown(given), expect);
        check("octocat", "octocat");
        check("a\nb\u{202e}c\u{200b}", "abc");
        check(&"x".repeat(300), &"x".repeat(100));
    }
}
