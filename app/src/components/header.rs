use leptos::either::Either;
use leptos::ev::{FocusEvent, KeyboardEvent};
use leptos::html::{Details, Summary};
use leptos::prelude::*;
use leptos_router::components::A;
use leptos_router::hooks::use_location;
use swe_ci_views::account::{AccountRole, Identity};
use wasm_bindgen::JsCast;

use crate::context::Reader;
use crate::query::encode;

/// In the header: a sign-in link for visitors, their own pages for accounts.
#[component]
pub fn AccountMenu() -> impl IntoView {
    match Reader::at_hand().identity().cloned() {
        Some(who) => Either::Left(view! { <Menu who/> }),
        None => Either::Right(view! { <SignIn/> }),
    }
}

/// A link to the sign-in page, which leads back to this one.
#[component]
pub fn SignIn() -> impl IntoView {
    let location = use_location();
    let href = move || {
        let (path, search) = (location.pathname.get(), location.search.get());
        match (path.as_str(), search.as_str()) {
            ("/", _) => "/sign-in".to_owned(),
            (path, _) if path.starts_with("/sign-in") => "/sign-in".to_owned(),
            (path, "") => format!("/sign-in?next={}", encode(path)),
            (path, search) => format!("/sign-in?next={}", encode(&format!("{path}?{search}"))),
        }
    };
    view! { <a class="sign-in" href=href>"Sign in"</a> }
}

#[component]
fn Menu(who: Identity) -> impl IntoView {
    let admin = (who.role >= AccountRole::Admin).then(|| {
        view! {
            <A href="/accounts">"Accounts"</A>
            <A href="/findings">"Open findings"</A>
            <A href="/audit">"Audit log"</A>
            <A href="/disk">"Disk"</A>
        }
    });
    let submitter = (who.role >= AccountRole::Submitter).then(|| {
        view! {
            <A href="/keys">"Keys"</A>
            <A href="/notifications">"Notifications"</A>
        }
    });
    view! {
        <Popup class="account-menu" summary=who.name>
            <div class="account-menu-items">
                <p class="quiet">{format!("Signed in as {}", who.role.name())}</p>
                <A href="/account">"Account"</A>
                {submitter}
                {admin}
                <form method="post" action="/sign-out">
                    <button class="button" type="submit">"Sign out"</button>
                </form>
            </div>
        </Popup>
    }
}

const KEY: &str = "swe-ci-theme";

/// Runs in the head, before the first paint, so that a stored theme applies
/// without a flash of the other one. Also tells the style sheet that scripts
/// run.
pub const THEME_SCRIPT: &str = "(d=>{d.dataset.js='';try{let t=localStorage.getItem('swe-ci-theme');\
    if(t==='light'||t==='dark')d.dataset.theme=t}catch{}})(document.documentElement)";

/// Switches between light and dark and stores the choice. Both icons are in the
/// page; the style sheet shows that of the other theme.
#[component]
pub fn ThemeSwitch() -> impl IntoView {
    view! {
        <button
            type="button"
            class="theme-switch needs-js"
            aria-label="Switch between light and dark"
            title="Switch between light and dark"
            on:click=|_| switch_theme()
        >
            <svg viewBox="0 0 20 20" width="18" height="18" aria-hidden="true" focusable="false">
                <g class="icon-sun">
                    <circle cx="10" cy="10" r="3.5"/>
                    <path d="M10 1.5v2M10 16.5v2M1.5 10h2M16.5 10h2M4 4l1.4 1.4M14.6 14.6L16 16M4 16l1.4-1.4M14.6 5.4L16 4"/>
                </g>
                <path class="icon-moon" d="M16.5 12.2A7 7 0 0 1 7.8 3.5a7 7 0 1 0 8.7 8.7z"/>
            </svg>
        </button>
    }
}

fn switch_theme() {
    let window = window();
    let Some(root) = document().document_element() else {
        return;
    };
    let dark = match root.get_attribute("data-theme") {
        Some(theme) => theme == "dark",
        None => window
            .match_media("(prefers-color-scheme: dark)")
            .ok()
            .flatten()
            .is_some_and(|query| query.matches()),
    };
    let theme = if dark { "light" } else { "dark" };
    // Without storage, the choice holds for this page.
    let _ = root.set_attribute("data-theme", theme);
    if let Ok(Some(storage)) = window.local_storage() {
        let _ = storage.set_item(KEY, theme);
    }
}

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

#[cfg(test)]
mod tests {
    #[test]
    fn script_and_switch_use_one_key() {
        assert!(super::THEME_SCRIPT.contains(super::KEY));
    }
}
