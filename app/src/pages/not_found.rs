use leptos::prelude::*;

use crate::components::PageHead;
use crate::error::{ErrorKind, set_status};

/// The page for unknown addresses.
#[component]
pub fn NotFoundPage() -> impl IntoView {
    set_status(ErrorKind::NotFound.status());
    view! {
        <PageHead title="Not found" description="There is no page at this address." missing=true/>
        <section class="problem">
            <p class="problem-code">"404"</p>
            <h1>"Page not found"</h1>
            <p>"The address has a typo, or the page was removed."</p>
            <p class="quiet">
                <a href="/">"Leaderboard"</a>
                " · "
                <a href="/runs">"Runs"</a>
                " · "
                <a href="/tasks">"Tasks"</a>
            </p>
        </section>
    }
}
