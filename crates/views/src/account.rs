//! Accounts, roles, and the ownership and visibility of runs.

use serde::{Deserialize, Serialize};

swe_ci_core::named! {
    /// The role of an account; each role includes the ones before it.
    #[derive(PartialOrd, Ord)]
    pub enum AccountRole {
        /// May read public results, even when the operator has closed the site.
        Reader = "reader",
        /// May submit runs and steer its own.
        Submitter = "submitter",
        /// May steer all runs and manage accounts.
        Admin = "admin",
    }
}

swe_ci_core::named! {
    /// What a token permits at most: a role, or less.
    pub enum TokenScope {
        Reader = "reader",
        Submitter = "submitter",
        Admin = "admin",
        /// May read the numbers of the installation, as a monitoring program
        /// does, and public results. Only administrators give it.
        Metrics = "metrics",
    }
}

impl TokenScope {
    /// The role of a token with this scope, if its owner has it.
    pub fn role(self) -> AccountRole {
        match self {
            Self::Metrics | Self::Reader => AccountRole::Reader,
            Self::Submitter => AccountRole::Submitter,
            Self::Admin => AccountRole::Admin,
        }
    }

    /// The role that an account needs to give it.
    pub fn given_by(self) -> AccountRole {
        match self {
            Self::Metrics => AccountRole::Admin,
            scope => scope.role(),
        }
    }
}

impl From<AccountRole> for TokenScope {
    fn from(role: AccountRole) -> Self {
        match role {
            AccountRole::Reader => Self::Reader,
            AccountRole::Submitter => Self::Submitter,
            AccountRole::Admin => Self::Admin,
        }
    }
}

/// The origin of a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "actor", rename_all = "snake_case")]
pub enum Actor {
    /// An anonymous visitor.
    Visitor,
    /// A signed-in user, or a program with one of their tokens.
    Account(Identity),
    /// The command line on this machine, and the server itself.
    Operator,
}

/// The account behind a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Identity {
    pub account_id: String,
    /// The name for signing in.
    pub name: String,
    /// The effective role: the account's, or a lower one from a token's scope.
    pub role: AccountRole,
    /// Expiry of the token, RFC 3339; absent for a session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// Whether it may read the numbers of the installation, whatever its role: a
    /// token with the scope `metrics`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reads_metrics: bool,
}

impl Actor {
    pub fn is(&self, role: AccountRole) -> bool {
        match self {
            Self::Visitor => false,
            Self::Account(identity) => identity.role >= role,
            Self::Operator => true,
        }
    }

    /// Whether it may read the numbers of the installation.
    pub fn reads_metrics(&self) -> bool {
        self.is(AccountRole::Admin) || self.identity().is_some_and(|who| who.reads_metrics)
    }

    pub fn name(&self) -> &str {
        match self {
            Self::Visitor => "visitor",
            Self::Account(identity) => &identity.name,
            Self::Operator => "operator",
        }
    }

    pub fn identity(&self) -> Option<&Identity> {
        match self {
            Self::Account(identity) => Some(identity),
            Self::Visitor | Self::Operator => None,
        }
    }

    pub fn has_id(&self, account_id: &str) -> bool {
        self.identity().is_some_and(|i| i.account_id == account_id)
    }

    pub fn may_see(&self, standing: &Standing) -> bool {
        standing.visibility == Visibility::Public || self.owns(standing)
    }

    /// Whether it may pause, cancel, publish, … a run.
    pub fn may_steer(&self, standing: &Standing) -> bool {
        self.is(AccountRole::Submitter) && self.owns(standing)
    }

    fn owns(&self, standing: &Standing) -> bool {
        let own = standing.owner.as_deref().is_some_and(|id| self.has_id(id));
        own || self.is(AccountRole::Admin)
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Standing {
    /// Id of the account; absent for runs from the command line.
    pub owner: Option<String>,
    pub visibility: Visibility,
}

swe_ci_core::named! {
    /// The visibility of a run.
    #[derive(Default)]
    pub enum Visibility {
        /// Visible to its owner and admins only; it appears in no ranking and in
        /// no list of others.
        Private = "private",
        /// Visible to everybody.
        #[default]
        Public = "public",
        /// Withdrawn after publication, with a reason; visible to its owner and
        /// admins only.
        Withdrawn = "withdrawn",
    }
}

/// An account in a list. Times are RFC 3339.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct AccountView {
    pub account_id: String,
    pub name: String,
    pub role: AccountRole,
    pub created_at: String,
    pub signed_in_at: Option<String>,
    /// It may not sign in, and its tokens are invalid.
    pub disabled: bool,
}

/// An API token; its text is shown once, on creation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct TokenView {
    pub token_id: String,
    /// The owner's name for it.
    pub name: String,
    /// What it permits at most, whatever the owner's role.
    pub scope: TokenScope,
    pub created_at: String,
    pub expires_at: String,
    pub used_at: Option<String>,
}

/// A pending invitation; its link is shown once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct InvitationView {
    pub invitation_id: String,
    /// The role of the new account.
    pub role: AccountRole,
    /// The inviting user's note about the recipient.
    pub note: String,
    pub created_at: String,
    pub expires_at: String,
}

/// A user's identity at another site, which can sign in to the account. Times
/// are RFC 3339.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkedIdentity {
    /// Id of the identity provider.
    pub provider: String,
    /// The provider's permanent id of the user.
    pub subject: String,
    /// Their last known login or address there.
    pub shown_as: String,
    pub linked_at: String,
    pub last_used: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaysIn {
    pub has_password: bool,
    pub identities: Vec<LinkedIdentity>,
}

/// A line of the audit log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct AuditEntry {
    pub entry_id: String,
    pub at: String,
    /// Name of the account at that time; `operator` for the command line,
    /// `visitor` for an anonymous request.
    pub actor: String,
    /// The action as a dotted name: `account.sign_in`, `run.cancel`, ….
    pub action: String,
    /// The object of the action: the id of a run, the name of an account, ….
    pub subject: String,
    /// Details in words; never a secret.
    pub detail: String,
}

/// Whether an account has done what leads to a first result.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FirstSteps {
    /// Its runs may use a provider's key.
    pub key: bool,
    /// It has submitted a run.
    pub run: bool,
    /// It has a target of notifications.
    pub notifications: bool,
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
            reads_metrics: false,
        })
    }

    #[test]
    fn permissions_on_runs() {
        use AccountRole::{Admin, Reader, Submitter};
        use Visibility::{Private, Public, Withdrawn};
        // For a run of account `a`: whether the actor may see and steer it.
        let check = |actor: &Actor, visibility, sees, steers| {
            let standing = Standing {
                owner: Some("a".into()),
                visibility,
            };
            let actual = (actor.may_see(&standing), actor.may_steer(&standing));
            assert_eq!(actual, (sees, steers), "{actor:?} {visibility:?}");
        };
        for hidden in [Private, Withdrawn] {
            check(&Actor::Visitor, hidden, false, false);
            check(&account("b", Submitter), hidden, false, false);
            check(&account("a", Submitter), hidden, true, true);
            // A read-only token.
            check(&account("a", Reader), hidden, true, false);
            check(&account("b", Admin), hidden, true, true);
            check(&Actor::Operator, hidden, true, true);
        }
        check(&Actor::Visitor, Public, true, false);
        check(&account("b", Submitter), Public, true, false);
        check(&account("a", Submitter), Public, true, true);
        check(&account("b", Admin), Public, true, true);
        // Runs from the command line have no owner.
        let standing = Standing {
            owner: None,
            visibility: Private,
        };
        assert!(!account("a", Submitter).may_see(&standing));
        assert!(account("a", Admin).may_steer(&standing));
    }

    #[test]
    fn names_round_trip() {
        for role in AccountRole::ALL {
            assert_eq!(AccountRole::from_name(role.name()), Some(role));
        }
        for visibility in Visibility::ALL {
            assert_eq!(Visibility::from_name(visibility.name()), Some(visibility));
        }
    }
}
