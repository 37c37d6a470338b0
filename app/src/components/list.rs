//! Lists of views as one type.

use leptos::prelude::{AnyView, IntoAny, IntoView};

/// Collects views whose type is forgotten. A list of typed views is a type of its
/// own, and all that leptos and the standard library do with a list would be
/// compiled for each: a quarter of this crate.
pub trait CollectAny {
    fn collect_any(self) -> Vec<AnyView>;
}

impl<V: IntoView + 'static, I: IntoIterator<Item = V>> CollectAny for I {
    fn collect_any(self) -> Vec<AnyView> {
        let mut views = Vec::new();
        for view in self {
            views.push(view.into_any());
        }
        views
    }
}
