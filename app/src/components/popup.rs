use leptos::ev::{FocusEvent, KeyboardEvent};
use leptos::html::{Details, Summary};
use leptos::prelude::*;
use wasm_bindgen::JsCast;

/// Something small that opens over the page, by its summary, with or without a
/// script. Escape closes it and leads back to where it was opened; so that it
/// hides nothing that has the focus, going on to what is behind closes it too.
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
            // What cannot be focused is not; the popup is closed all the same.
            let _ = opener.focus();
        }
    };
    let on_leave = move |event: FocusEvent| {
        let to = event.related_target();
        let to = to.and_then(|to| to.dyn_into::<web_sys::Node>().ok());
        let within = popup
            .get_untracked()
            .is_some_and(|p| p.contains(to.as_ref()));
        // The focus of a window that is left goes nowhere, and comes back.
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
