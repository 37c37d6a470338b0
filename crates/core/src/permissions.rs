//! The permissions of a run: which keys and which addresses it may use. The
//! server fixes and stores them at submission, so that no configuration can
//! extend them.

/// Never the id of an account, because those are UUIDs.
const WEBHOOKS: &str = "webhooks";

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Keyring {
    /// Keys from the command line; administrators' runs may use them too.
    #[default]
    Operator,
    /// Keys of an account, by its id.
    Account(String),
    /// Signing keys of webhooks, by the ids of their targets; no run uses
    /// them.
    Webhooks,
}

crate::named! {
    /// The addresses an endpoint may have.
    #[derive(Default)]
    pub enum Reach {
        /// Any address, including this machine and private networks.
        #[default]
        Anywhere = "anywhere",
        /// Public addresses only.
        Public = "public",
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunPermissions {
    pub keyring: Keyring,
    pub reach: Reach,
}

impl Keyring {
    /// The owner column of stored rows.
    pub fn owner(&self) -> &str {
        match self {
            Self::Operator => "",
            Self::Account(id) => id,
            Self::Webhooks => WEBHOOKS,
        }
    }

    pub fn of_owner(owner: String) -> Self {
        match owner.as_str() {
            "" => Self::Operator,
            WEBHOOKS => Self::Webhooks,
            _ => Self::Account(owner),
        }
    }

    /// The unique name of a key. The seal of a key includes it, so that rows
    /// cannot be swapped. A key's own name has no `/`; the operator's keys
    /// have no prefix because their seals are older than accounts' keys.
    pub fn full_name(&self, name: &str) -> String {
        match self {
            Self::Operator => name.to_owned(),
            _ => format!("{}/{name}", self.owner()),
        }
    }
}
