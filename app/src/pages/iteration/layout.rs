//! How changes of code are laid out: one line above the other, or before and
//! after side by side. The choice is in the address.

use leptos::prelude::*;

use crate::components::{Choice, Choices};

/// What the address calls it, and what it says when they are side by side.
pub(in crate::pages) const DIFF: &str = "diff";
pub(in crate::pages) const SPLIT: &str = "split";

#[derive(Debug, Clone, Copy)]
pub(in crate::pages) struct Layout {
    /// Side by side.
    pub split: Signal<bool>,
    /// The page with the other choice, or this one.
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
        choice("Unified", "What went above what came", false),
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
