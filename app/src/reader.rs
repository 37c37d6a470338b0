use leptos::prelude::*;
use serde::{Deserialize, Serialize};
use swe_ci_views::account::{AccountRole, Actor, Identity};

/// The reader of the page: a signed-in account or a visitor.
///
/// Pages find it in their context, on the server and in the browser, and use it
/// to decide what to offer. The engine enforces the permissions.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reader(Option<Identity>);

impl Reader {
    /// That of the current page; the server sends it to the browser.
    pub(crate) fn of_page() -> Self {
        let identity = || use_context::<Actor>()?.identity().cloned();
        SharedValue::new(|| Self(identity())).into_inner()
    }

    pub(crate) fn at_hand() -> Self {
        use_context().unwrap_or_default()
    }

    pub fn identity(&self) -> Option<&Identity> {
        self.0.as_ref()
    }

    /// Whether the reader has at least this role.
    pub fn is(&self, role: AccountRole) -> bool {
        self.0.as_ref().is_some_and(|who| who.role >= role)
    }
}
