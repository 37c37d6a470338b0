//! Sign-in providers, and why a sign-in with one can fail.

use leptos::prelude::*;
use serde::{Deserialize, Serialize};

/// The other sites people can sign in with.
///
/// Pages find them in their context, on the server and in the browser.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignInProviders(pub Vec<SignInProvider>);

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignInProvider {
    /// The name in addresses.
    pub id: String,
    /// The name people know.
    pub name: String,
    /// Whether people can accept an invitation with it.
    pub invites: bool,
    /// Whether new people from it get an account without an invitation.
    pub admits: bool,
}

impl SignInProviders {
    /// Those of the current page; the server sends them to the browser.
    pub(crate) fn of_page() -> Self {
        SharedValue::new(|| use_context::<Self>().unwrap_or_default()).into_inner()
    }

    pub(crate) fn at_hand() -> Self {
        use_context().unwrap_or_default()
    }

    pub fn named(&self, id: &str) -> Option<&SignInProvider> {
        self.0.iter().find(|provider| provider.id == id)
    }
}

/// Why a sign-in or link through a provider failed. The address of the page
/// that shows the reason contains it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotSignedIn {
    /// The person or the provider declined.
    Denied,
    /// The attempt expired, began in another browser, or never began.
    Expired,
    Unreachable,
    /// Its answer cannot be verified.
    Unverified,
    /// No account is linked, and the provider does not admit new people.
    NotLinked,
    Disabled,
    /// The invitation is no longer valid.
    NoInvitation,
    /// The identity belongs to another account, or the account has too many.
    NotLinkable,
}

impl NotSignedIn {
    pub const ALL: [Self; 8] = [
        Self::Denied,
        Self::Expired,
        Self::Unreachable,
        Self::Unverified,
        Self::NotLinked,
        Self::Disabled,
        Self::NoInvitation,
        Self::NotLinkable,
    ];

    /// The value in the address, and the HTTP status of the page that shows it.
    fn entry(self) -> (&'static str, u16) {
        match self {
            Self::Denied => ("denied", 403),
            Self::Expired => ("expired", 400),
            Self::Unreachable => ("unreachable", 503),
            Self::Unverified => ("unverified", 403),
            Self::NotLinked => ("not-linked", 403),
            Self::Disabled => ("disabled", 403),
            Self::NoInvitation => ("no-invitation", 404),
            Self::NotLinkable => ("not-linkable", 409),
        }
    }

    pub fn word(self) -> &'static str {
        self.entry().0
    }

    pub fn status(self) -> u16 {
        self.entry().1
    }

    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|why| why.word() == word)
    }

    /// The message to the person; `name` is the provider's.
    pub fn sentence(self, provider: &str) -> String {
        match self {
            Self::Denied => format!(
                "{provider} did not tell this site who you are, because you or {provider} declined. Nothing was changed; you can try again."
            ),
            Self::Expired => "This attempt began more than 10 minutes ago or in another browser, or is already complete. Start again.".to_owned(),
            Self::Unreachable => format!(
                "{provider} does not respond. Try again in a moment. If it still fails, tell the operator of this site."
            ),
            Self::Unverified => format!(
                "The response of {provider} could not be verified, so nothing was done. Start again. If it still fails, tell the operator of this site."
            ),
            Self::NotLinked => format!(
                "No account of this site is linked to your identity at {provider}. Sign in with your password and link {provider} on your account page, or ask an administrator of this site for an invitation."
            ),
            Self::Disabled => "Your account is disabled; an administrator of this site can enable it.".to_owned(),
            Self::NoInvitation => "The invitation was used or withdrawn, or has expired. Ask the sender for another one.".to_owned(),
            Self::NotLinkable => format!(
                "Your identity at {provider} is linked to another account of this site, or your account has the maximum number of links. Unlink one first."
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_lead_back_and_no_answer_is_a_success_or_our_fault() {
        for why in NotSignedIn::ALL {
            assert_eq!(NotSignedIn::from_word(why.word()), Some(why));
            let status = why.status();
            assert!((400..500).contains(&status) || status == 503, "{why:?}");
            assert!(why.sentence("Corp").ends_with('.'));
        }
        assert_eq!(NotSignedIn::from_word("<script>"), None);
    }
}
