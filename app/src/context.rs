//! The context of pages: the reader, the public address, and the
//! sign-in providers, with why a sign-in with one can fail.

use leptos::prelude::*;
use swe_ci_views::account::{AccountRole, Actor, Identity};

/// The reader of the page: a signed-in account or a visitor.
///
/// Pages use it to decide what to offer. The engine enforces the permissions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reader(Option<Identity>);

impl Reader {
    pub(crate) fn at_hand() -> Self {
        Self(use_context::<Actor>().and_then(|actor| actor.identity().cloned()))
    }

    pub fn identity(&self) -> Option<&Identity> {
        self.0.as_ref()
    }

    /// Whether the reader has at least this role.
    pub fn is(&self, role: AccountRole) -> bool {
        self.0.as_ref().is_some_and(|who| who.role >= role)
    }
}

/// The public address of this site: a scheme, a host and, unless it is the
/// default, a port. It is configured and never taken from a request.
///
/// Pages find it as `Option<PublicUrl>` in their context. Without it, pages have
/// no absolute addresses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicUrl(String);

impl PublicUrl {
    /// `origin` has no trailing slash.
    #[must_use]
    pub fn new(origin: String) -> Self {
        Self(origin)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The absolute address of a path, which starts with a slash.
    pub fn at(&self, path: &str) -> String {
        format!("{}{path}", self.0)
    }
}

/// The other sites people can sign in with.
///
/// Pages find them in their context.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SignInProviders(pub Vec<SignInProvider>);

#[derive(Debug, Clone, PartialEq, Eq)]
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
    pub(crate) fn at_hand() -> Self {
        use_context().unwrap_or_default()
    }

    pub fn named(&self, id: &str) -> Option<&SignInProvider> {
        self.0.iter().find(|provider| provider.id == id)
    }
}

swe_ci_core::plain_named! {
    /// Why a sign-in or link through a provider failed. The address of the page
    /// that shows the reason contains its name.
    pub enum NotSignedIn {
        /// The person or the provider declined.
        Denied = "denied",
        /// The attempt expired, began in another browser, or never began.
        Expired = "expired",
        Unreachable = "unreachable",
        /// Its answer cannot be verified.
        Unverified = "unverified",
        /// No account is linked, and the provider does not admit new people.
        NotLinked = "not-linked",
        Disabled = "disabled",
        /// The invitation is no longer valid.
        NoInvitation = "no-invitation",
        /// The identity belongs to another account, or the account has too many.
        NotLinkable = "not-linkable",
    }
}

impl NotSignedIn {
    /// The HTTP status of the page that shows it.
    pub fn status(self) -> u16 {
        match self {
            Self::Denied | Self::Unverified | Self::NotLinked | Self::Disabled => 403,
            Self::Expired => 400,
            Self::Unreachable => 503,
            Self::NoInvitation => 404,
            Self::NotLinkable => 409,
        }
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
            assert_eq!(NotSignedIn::from_name(why.name()), Some(why));
            let status = why.status();
            assert!((400..500).contains(&status) || status == 503, "{why:?}");
            assert!(why.sentence("Corp").ends_with('.'));
        }
        assert_eq!(NotSignedIn::from_name("<script>"), None);
    }
}
