//! Who may do what: accounts, their roles, and whose a run is.

use serde::{Deserialize, Serialize};

/// What an account may do; each role may also do what the ones before it may.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum AccountRole {
    /// Looks at what is public, also where the operator has closed the site.
    Reader,
    /// Submits runs and steers its own.
    Submitter,
    /// Steers all runs, and says who else may.
    Admin,
}

impl AccountRole {
    pub const ALL: [Self; 3] = [Self::Reader, Self::Submitter, Self::Admin];

    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Reader => "reader",
            Self::Submitter => "submitter",
            Self::Admin => "admin",
        }
    }

    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.name() == name)
    }
}

/// Who asks for something, or does it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "actor", rename_all = "snake_case")]
pub enum Actor {
    /// Nobody we know.
    Visitor,
    /// Somebody signed in, or a program with one of their tokens.
    Account(Identity),
    /// Whoever runs the command line on this machine, and the server itself.
    Operator,
}

/// An account as it acts now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Identity {
    pub account_id: String,
    /// What one signs in with.
    pub name: String,
    /// What may be done now: the account's role, or less where a token says so.
    pub role: AccountRole,
    /// RFC 3339; when the token is good no more by which it acts. Absent for
    /// who is signed in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
}

impl Actor {
    /// Whether it may do what this role may.
    #[must_use]
    pub fn is(&self, role: AccountRole) -> bool {
        match self {
            Self::Visitor => false,
            Self::Account(identity) => identity.role >= role,
            Self::Operator => true,
        }
    }

    /// What it goes by in the audit log.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Visitor => "visitor",
            Self::Account(identity) => &identity.name,
            Self::Operator => "operator",
        }
    }

    #[must_use]
    pub fn identity(&self) -> Option<&Identity> {
        match self {
            Self::Account(identity) => Some(identity),
            Self::Visitor | Self::Operator => None,
        }
    }

    /// Whether it is the one an id belongs to.
    #[must_use]
    pub fn has_id(&self, account_id: &str) -> bool {
        self.identity().is_some_and(|i| i.account_id == account_id)
    }

    /// Whether it may look at a run.
    #[must_use]
    pub fn may_see(&self, standing: &Standing) -> bool {
        standing.visibility == Visibility::Public || self.owns(standing)
    }

    /// Whether it may pause, cancel, publish, … a run.
    #[must_use]
    pub fn may_steer(&self, standing: &Standing) -> bool {
        self.is(AccountRole::Submitter) && self.owns(standing)
    }

    fn owns(&self, standing: &Standing) -> bool {
        let own = standing.owner.as_deref().is_some_and(|id| self.has_id(id));
        own || self.is(AccountRole::Admin)
    }
}

/// Whose a run is, and who may see it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Standing {
    /// Id of the account; absent for what the command line submitted.
    pub owner: Option<String>,
    pub visibility: Visibility,
}

/// Who may see a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Visibility {
    /// Its owner and admins. It stands in no ranking and no list of others.
    Private,
    /// Everybody.
    #[default]
    Public,
    /// It was public, and was taken back with a reason: admins and its owner.
    Withdrawn,
}

impl Visibility {
    pub const ALL: [Self; 3] = [Self::Private, Self::Public, Self::Withdrawn];

    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Private => "private",
            Self::Public => "public",
            Self::Withdrawn => "withdrawn",
        }
    }

    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|v| v.name() == name)
    }
}

/// An account as lists of accounts show it. Times are RFC 3339.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AccountView {
    pub account_id: String,
    pub name: String,
    pub role: AccountRole,
    pub created_at: String,
    pub signed_in_at: Option<String>,
    /// It may not sign in, and its tokens are good for nothing.
    pub disabled: bool,
}

/// A token of the API; its text is shown once, when it is made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TokenView {
    pub token_id: String,
    /// What its owner calls it.
    pub name: String,
    /// The most it may do, whatever its owner may.
    pub scope: AccountRole,
    pub created_at: String,
    pub expires_at: String,
    pub used_at: Option<String>,
}

/// An invitation that can still be followed; its link is shown once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct InvitationView {
    pub invitation_id: String,
    /// What the account it makes may do.
    pub role: AccountRole,
    /// Whom it is for, in the words of who made it.
    pub note: String,
    pub created_at: String,
    pub expires_at: String,
}

/// Who somebody is at another site, by which they get into an account. Times
/// are RFC 3339.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkedIdentity {
    /// Id of the provider that says so.
    pub provider: String,
    /// What the provider calls them, for good.
    pub subject: String,
    /// Their login or address there, as it was said last.
    pub shown_as: String,
    pub linked_at: String,
    /// When somebody last signed in by it.
    pub last_used: Option<String>,
}

/// By what an account can be signed in to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaysIn {
    pub has_password: bool,
    /// The first linked first.
    pub identities: Vec<LinkedIdentity>,
}

/// A line of the audit log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AuditEntry {
    pub entry_id: String,
    pub at: String,
    /// Name of the account at that time; `operator` for the command line,
    /// `visitor` for who was not signed in.
    pub actor: String,
    /// What was done, as a dotted name: `account.sign_in`, `run.cancel`, ….
    pub action: String,
    /// What it was done to: the id of a run, the name of an account, ….
    pub subject: String,
    /// More, in words; never a secret.
    pub detail: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn account(id: &str, role: AccountRole) -> Actor {
        Actor::Account(Identity {
            account_id: id.into(),
            name: id.into(),
            role,
            until: None,
        })
    }

    #[test]
    fn who_sees_and_steers_what() {
        use AccountRole::{Admin, Reader, Submitter};
        use Visibility::{Private, Public, Withdrawn};
        // Who, a run of the account `a` that is …, sees it, steers it.
        let check = |actor: &Actor, visibility, sees, steers| {
            let standing = Standing {
                owner: Some("a".into()),
                visibility,
            };
            let found = (actor.may_see(&standing), actor.may_steer(&standing));
            assert_eq!(found, (sees, steers), "{actor:?} {visibility:?}");
        };
        for hidden in [Private, Withdrawn] {
            check(&Actor::Visitor, hidden, false, false);
            check(&account("b", Submitter), hidden, false, false);
            check(&account("a", Submitter), hidden, true, true);
            // A token that may only read.
            check(&account("a", Reader), hidden, true, false);
            check(&account("b", Admin), hidden, true, true);
            check(&Actor::Operator, hidden, true, true);
        }
        check(&Actor::Visitor, Public, true, false);
        check(&account("b", Submitter), Public, true, false);
        check(&account("a", Submitter), Public, true, true);
        check(&account("b", Admin), Public, true, true);
        // What the command line submitted belongs to nobody.
        let standing = Standing {
            owner: None,
            visibility: Private,
        };
        assert!(!account("a", Submitter).may_see(&standing));
        assert!(account("a", Admin).may_steer(&standing));
    }

    #[test]
    fn names_lead_back() {
        for role in AccountRole::ALL {
            assert_eq!(AccountRole::from_name(role.name()), Some(role));
        }
        for visibility in Visibility::ALL {
            assert_eq!(Visibility::from_name(visibility.name()), Some(visibility));
        }
    }
}
