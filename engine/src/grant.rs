//! What a run may use of the world outside: whose keys, and which addresses.
//! It is settled when the run is submitted and kept with it, so that nothing
//! written into a configuration can widen it.

/// Ids of accounts are UUIDs, so none is this.
const WEBHOOKS: &str = "webhooks";

/// Whose keys.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Keyring {
    /// Those of the command line; administrators' runs may use them too.
    #[default]
    Operator,
    /// Those of an account, by its id.
    Account(String),
    /// What webhooks sign with, by the ids of their targets; no run uses them.
    Webhooks,
}

/// Which addresses an endpoint may have.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Reach {
    /// Also of this machine and of private networks.
    #[default]
    Anywhere,
    /// Those that everybody can reach.
    Public,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Grant {
    pub keyring: Keyring,
    pub reach: Reach,
}

impl Keyring {
    /// As rows have it.
    #[must_use]
    pub fn owner(&self) -> &str {
        match self {
            Self::Operator => "",
            Self::Account(id) => id,
            Self::Webhooks => WEBHOOKS,
        }
    }

    #[must_use]
    pub fn of_owner(owner: String) -> Self {
        match owner.as_str() {
            "" => Self::Operator,
            WEBHOOKS => Self::Webhooks,
            _ => Self::Account(owner),
        }
    }

    /// What a key is called among all keys: it is sealed with this, so that
    /// rows cannot be swapped. A key's own name has no `/`, and the operator's
    /// keep the name they were sealed with before accounts had any.
    #[must_use]
    pub fn full_name(&self, name: &str) -> String {
        match self {
            Self::Operator => name.to_owned(),
            Self::Account(id) => format!("{id}/{name}"),
            Self::Webhooks => format!("{WEBHOOKS}/{name}"),
        }
    }
}

impl Reach {
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Anywhere => "anywhere",
            Self::Public => "public",
        }
    }

    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Anywhere, Self::Public]
            .into_iter()
            .find(|reach| reach.name() == name)
    }
}
