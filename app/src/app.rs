//! The document, its frame (header, main, footer) and the routes.

use leptos::nonce::use_nonce;
use leptos::prelude::*;
use leptos_meta::{HashedStylesheet, MetaTags, provide_meta_context};
use leptos_router::components::{A, FlatRoutes, Route, Router};
use leptos_router::hooks::use_location;
use leptos_router::{SsrMode, path};

use crate::components::{THEME_SCRIPT, ThemeSwitch};
use crate::pages::{
    AboutPage, IterationPage, LeaderboardPage, NotFoundPage, RunPage, RunsPage, TaskPage, TasksPage,
};

/// The whole document around [`App`]; made on the server only.
#[must_use]
pub fn shell(options: LeptosOptions) -> impl IntoView {
    view! {
        <!DOCTYPE html>
        <html lang="en">
            <head>
                <meta charset="utf-8"/>
                <meta name="viewport" content="width=device-width, initial-scale=1"/>
                <meta name="color-scheme" content="light dark"/>
                <script nonce=use_nonce() inner_html=THEME_SCRIPT></script>
                <HashedStylesheet options=options.clone() id="swe-ci-style"/>
                <link rel="icon" href="/favicon.svg" type="image/svg+xml"/>
                <HydrationScripts options/>
                <MetaTags/>
            </head>
            <body>
                <App/>
            </body>
        </html>
    }
}

#[component]
pub fn App() -> impl IntoView {
    provide_meta_context();
    view! {
        <Router>
            <a class="skip" href="#main" rel="external">"Skip to the content"</a>
            <Header/>
            <Main/>
            <Footer/>
        </Router>
    }
}

#[component]
fn Main() -> impl IntoView {
    let main = NodeRef::new();
    focus_on_new_pages(main);
    view! {
        <main id="main" tabindex="-1" node_ref=main>
            <FlatRoutes fallback=NotFoundPage>
                <Route path=path!("/") view=LeaderboardPage ssr=SsrMode::Async/>
                <Route path=path!("/runs") view=RunsPage ssr=SsrMode::Async/>
                <Route path=path!("/runs/:id") view=RunPage ssr=SsrMode::Async/>
                <Route
                    path=path!("/runs/:id/:evolution/:iteration")
                    view=IterationPage
                    ssr=SsrMode::Async
                />
                <Route path=path!("/tasks") view=TasksPage ssr=SsrMode::Async/>
                <Route path=path!("/tasks/:id") view=TaskPage ssr=SsrMode::Async/>
                <Route path=path!("/about") view=AboutPage ssr=SsrMode::Async/>
            </FlatRoutes>
        </main>
    }
}

/// Following a link inside the page, a reader with a keyboard or a screen
/// reader starts at the new content, as after a full load.
fn focus_on_new_pages(main: NodeRef<leptos::html::Main>) {
    let path = use_location().pathname;
    Effect::new(move |before: Option<String>| {
        let path = path.get();
        if before.is_some_and(|before| before != path)
            && let Some(main) = main.get_untracked()
        {
            // Where it cannot be focused the page is readable all the same.
            let _ = main.focus();
        }
        path
    });
}

#[component]
fn Header() -> impl IntoView {
    view! {
        <header class="site-header">
            <A href="/" exact=true attr:class="brand">
                <svg viewBox="0 0 24 24" width="22" height="22" aria-hidden="true" focusable="false">
                    <path class="brand-goal" d="M3 5H21"/>
                    <path class="brand-line" d="M3 19L9 14L14 15.5L21 7"/>
                    <circle class="brand-dot" cx="14" cy="15.5" r="2.2"/>
                </svg>
                "swe-ci"
            </A>
            <nav aria-label="Main">
                <A href="/" exact=true>"Leaderboard"</A>
                <A href="/runs">"Runs"</A>
                <A href="/tasks">"Tasks"</A>
                <A href="/about">"About"</A>
            </nav>
            <ThemeSwitch/>
        </header>
    }
}

#[component]
fn Footer() -> impl IntoView {
    view! {
        <footer class="site-footer">
            <p>"swe-ci measures how well coding agents maintain code, over many iterations."</p>
            <nav aria-label="More">
                <a href="/about">"How to read this"</a>
                <a href="/api/v1/openapi.json" rel="external">"API"</a>
            </nav>
        </footer>
    }
}
