//! The layout of code changes: unified or side by side. The address contains
//! the choice.

use leptos::prelude::*;

use crate::components::{Choice, Choices};

#[derive(Debug, Clone, Copy)]
pub(in crate::pages) struct Layout {
    /// Whether the layout is side by side.
    pub split: Signal<bool>,
    /// The page in the given layout.
    pub href: Callback<bool, String>,
}

#[component]
pub(super) fn LayoutChoice(layout: Layout) -> impl IntoView {
    let Layout { split, href } = layout;
    let choice = |label: &str, hint: &str, wanted: bool| Choice {
        label: label.to_owned(),
        hint: hint.to_owned(),
        href: Signal::derive(move || href.run(wanted)),
        chosen: Signal::derive(move || split.get() == wanted),
    };
    let choices = vec![
        choice("Unified", "Removed lines above added ones", false),
        choice(
            "Side by side",
            "Before on the left, after on the right",
            true,
        ),
    ];
    let narrow = move || {
        split.get().then(|| {
            view! { <p class="quiet diff-narrow">"Side by side is wider than this window: each file scrolls sideways."</p> }
        })
    };
    view! {
        <div class="controls controls-plain"><Choices label="Changes" choices/></div>
        {narrow}
    }
}
