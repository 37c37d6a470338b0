use leptos::either::Either;
use leptos::prelude::*;
use leptos_router::components::A;
use leptos_router::hooks::use_location;
use swe_ci_views::account::{AccountRole, Identity};

use super::Popup;
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
            <A href="/workers">"Workers"</A>
            <A href="/disk">"Disk"</A>
        }
    });
    let submitter = (who.role >= AccountRole::Submitter).then(|| {
        view! {
            <A href="/keys">"Keys"</A>
            <A href="/notifications">"Notifications"</A>
            <A href="/submissions">"Submissions"</A>
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

/// Switches between light and dark; the page's script does it and stores the
/// choice. Both icons are in the
/// page; the style sheet shows that of the other theme.
#[component]
pub fn ThemeSwitch() -> impl IntoView {
    view! {
        <button
            type="button"
            class="theme-switch needs-js"
            aria-label="Switch between light and dark"
            title="Switch between light and dark"
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
