use leptos::prelude::*;
use serde::{Deserialize, Serialize};

/// The other sites at which somebody may prove who they are.
///
/// Pages find them in their context, on the server and in the browser alike.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignInProviders(pub Vec<SignInProvider>);

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignInProvider {
    /// As addresses name it.
    pub id: String,
    /// As people know it.
    pub name: String,
    /// Whether an invitation can be accepted by it.
    pub invites: bool,
    /// Whether whoever may come by it and is new gets an account.
    pub admits: bool,
}

impl SignInProviders {
    /// Those of the page that is made; the server knows, and tells the browser.
    pub(crate) fn of_page() -> Self {
        SharedValue::new(|| use_context::<Self>().unwrap_or_default()).into_inner()
    }

    /// Those of the page at hand.
    pub(crate) fn at_hand() -> Self {
        use_context().unwrap_or_default()
    }

    #[must_use]
    pub fn named(&self, id: &str) -> Option<&SignInProvider> {
        self.0.iter().find(|provider| provider.id == id)
    }
}

/// Why somebody who came back from a provider is not signed in, or not linked.
/// Said in the address of the page that tells them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotSignedIn {
    /// They did not want it, or the provider did not.
    Denied,
    /// It was begun long ago, elsewhere, or not at all.
    Expired,
    /// The provider does not answer.
    Unreachable,
    /// What it says does not hold.
    Unverified,
    /// No account is linked, and they are not admitted without one.
    NotLinked,
    /// The account is shut out.
    Disabled,
    /// The invitation leads nowhere any more.
    NoInvitation,
    /// They are linked to another account, or cannot be to one more.
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

    /// What the address says.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Denied => "denied",
            Self::Expired => "expired",
            Self::Unreachable => "unreachable",
            Self::Unverified => "unverified",
            Self::NotLinked => "not-linked",
            Self::Disabled => "disabled",
            Self::NoInvitation => "no-invitation",
            Self::NotLinkable => "not-linkable",
        }
    }

    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|why| why.word() == word)
    }

    /// The HTTP status of the page that tells it.
    #[must_use]
    pub fn status(self) -> u16 {
        match self {
            Self::Expired => 400,
            Self::Denied | Self::Unverified | Self::NotLinked | Self::Disabled => 403,
            Self::NoInvitation => 404,
            Self::NotLinkable => 409,
            Self::Unreachable => 503,
        }
    }

    /// What is said to whoever it befell, of a provider of this name.
    #[must_use]
    pub fn sentence(self, provider: &str) -> String {
        match self {
            Self::Denied => format!(
                "{provider} did not tell this site who you are, because you or {provider} declined. Nothing was changed; you can begin again."
            ),
            Self::Expired => "This was begun more than 10 minutes ago, in another browser, or was finished already. Begin again.".to_owned(),
            Self::Unreachable => format!(
                "{provider} does not answer this site. Try again in a moment; if it stays, tell whoever runs this site."
            ),
            Self::Unverified => format!(
                "What {provider} answered could not be verified, so nothing was done. Begin again; if it stays, tell whoever runs this site."
            ),
            Self::NotLinked => format!(
                "No account of this site is linked to who you are at {provider}. Sign in with your password and link {provider} on the page of your account, or ask an administrator of this site for an invitation."
            ),
            Self::Disabled => "Your account is disabled; an administrator of this site can enable it.".to_owned(),
            Self::NoInvitation => "The invitation you followed was used, was withdrawn or has expired. Ask whoever gave it to you for another one.".to_owned(),
            Self::NotLinkable => format!(
                "Who you are at {provider} is linked to another account of this site, or your account has as many links as there can be. Unlink one first."
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
