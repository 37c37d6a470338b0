use leptos::ev::{FocusEvent, KeyboardEvent};
use leptos::html::{Details, Summary};
use leptos::prelude::*;
use wasm_bindgen::JsCast;

/// A small panel over the page, opened by its summary, with or without
/// JavaScript. Escape closes it and returns the focus to its opener; moving the
/// focus elsewhere closes it too, so that it never covers the focused element.
#[component]
pub fn Popup(
    class: &'static str,
    #[prop(into)] summary: String,
    children: Children,
) -> impl IntoView {
    let (popup, opener) = (NodeRef::<Details>::new(), NodeRef::<Summary>::new());
    let close = move || {
        popup.get_untracked().is_some_and(|popup| {
            let open = popup.open();
            popup.set_open(false);
            open
        })
    };
    let on_key = move |event: KeyboardEvent| {
        if event.key() == "Escape"
            && close()
            && let Some(opener) = opener.get_untracked()
        {
            // Focusing may fail; the popup closes all the same.
            let _ = opener.focus();
        }
    };
    let on_leave = move |event: FocusEvent| {
        let to = event.related_target();
        let to = to.and_then(|to| to.dyn_into::<web_sys::Node>().ok());
        let within = popup
            .get_untracked()
            .is_some_and(|p| p.contains(to.as_ref()));
        // A window that loses focus has no new target, and gets it back.
        if to.is_some() && !within {
            close();
        }
    };
    view! {
        <details class=class node_ref=popup on:keydown=on_key on:focusout=on_leave>
            <summary node_ref=opener>{summary}</summary>
            {children()}
        </details>
    }
}
