use leptos::prelude::*;
use serde::{Deserialize, Serialize};
use swe_ci_core::account::{AccountRole, Actor, Identity};

/// Who reads the page: somebody signed in, or a visitor.
///
/// Pages find it in their context, on the server and in the browser alike. It
/// is for what is offered; what may be done the engine decides.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reader(Option<Identity>);

impl Reader {
    /// Of the page that is made; the server knows, and tells the browser.
    pub(crate) fn of_page() -> Self {
        let known = SharedValue::new(|| {
            let by = use_context::<Actor>();
            Self(by.and_then(|by| by.identity().cloned()))
        });
        known.into_inner()
    }

    /// Of the page at hand.
    pub(crate) fn at_hand() -> Self {
        use_context().unwrap_or_default()
    }

    #[must_use]
    pub fn identity(&self) -> Option<&Identity> {
        self.0.as_ref()
    }

    /// Whether they may do what this role may.
    #[must_use]
    pub fn is(&self, role: AccountRole) -> bool {
        self.0.as_ref().is_some_and(|who| who.role >= role)
    }
}
