//! The document, its frame (header, main, footer) and the routes.

use leptos::nonce::use_nonce;
use leptos::prelude::*;
use leptos_meta::{HashedStylesheet, MetaTags, provide_meta_context};
use leptos_router::components::{A, FlatRoutes, Route, Router};
use leptos_router::hooks::use_location;
use leptos_router::{Lazy, SsrMode, path};

use crate::components::{AccountMenu, THEME_SCRIPT, ThemeSwitch};
use crate::context::{PublicUrl, Reader, SignInProviders};
use crate::pages::{NotFoundPage, lazy_pages as page};

/// The whole document around [`App`]; made on the server only. Without scripts
/// it is a document that works by links and forms.
pub fn shell(options: LeptosOptions, has_scripts: bool) -> impl IntoView {
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
                <link rel="alternate" href="/feed.xml" type="application/atom+xml" title="New results"/>
                {has_scripts.then(|| view! { <HydrationScripts options/> })}
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
    // The server knows it and sends it along with the page.
    let public_url = SharedValue::new(|| use_context::<Option<PublicUrl>>().flatten());
    provide_context(public_url.into_inner());
    provide_context(Reader::of_page());
    provide_context(SignInProviders::of_page());
    view! {
        <Router>
            <Frame/>
        </Router>
    }
}

/// Header and footer, but not around pages that other sites frame.
#[component]
fn Frame() -> impl IntoView {
    let path = use_location().pathname;
    let bare = Memo::new(move |_| path.with(|path| path.starts_with("/embed/")));
    view! {
        <Show when=move || !bare.get()>
            <a class="skip" href="#main" rel="external">"Skip to the content"</a>
            <Header/>
        </Show>
        <Main bare/>
        <Show when=move || !bare.get()><Footer/></Show>
    }
}

#[component]
fn Main(bare: Memo<bool>) -> impl IntoView {
    let main = NodeRef::new();
    focus_on_new_pages(main);
    view! {
        <main id="main" tabindex="-1" node_ref=main class:bare=bare>
            <FlatRoutes fallback=NotFoundPage>
                <Route path=path!("/") view={Lazy::<page::Leaderboard>::new()} ssr=SsrMode::Async/>
                <Route path=path!("/runs") view={Lazy::<page::Runs>::new()} ssr=SsrMode::Async/>
                // Before the next one, which would match it as a run.
                <Route path=path!("/runs/new") view={Lazy::<page::Submit>::new()} ssr=SsrMode::Async/>
                <Route path=path!("/runs/:id") view={Lazy::<page::Run>::new()} ssr=SsrMode::Async/>
                // Before the next one, which would match it as an iteration.
                <Route path=path!("/runs/:id/tasks/:task") view={Lazy::<page::Evolution>::new()} ssr=SsrMode::Async/>
                <Route path=path!("/runs/:id/tasks/:task/style") view={Lazy::<page::Style>::new()} ssr=SsrMode::Async/>
                <Route path=path!("/runs/:id/:evolution/:iteration") view={Lazy::<page::Iteration>::new()} ssr=SsrMode::Async/>
                <Route path=path!("/runs/:id/:evolution/:iteration/:role") view={Lazy::<page::Conversation>::new()} ssr=SsrMode::Async/>
                <Route path=path!("/tasks") view={Lazy::<page::Tasks>::new()} ssr=SsrMode::Async/>
                <Route path=path!("/tasks/:id") view={Lazy::<page::Task>::new()} ssr=SsrMode::Async/>
                <Route path=path!("/datasets") view={Lazy::<page::Datasets>::new()} ssr=SsrMode::Async/>
                // Before the next one, which would match it as a split.
                <Route path=path!("/datasets/new") view={Lazy::<page::Curate>::new()} ssr=SsrMode::Async/>
                <Route path=path!("/datasets/curations/:id") view={Lazy::<page::Curation>::new()} ssr=SsrMode::Async/>
                <Route path=path!("/datasets/:split") view={Lazy::<page::Dataset>::new()} ssr=SsrMode::Async/>
                <Route path=path!("/matrix") view={Lazy::<page::Matrix>::new()} ssr=SsrMode::Async/>
                <Route path=path!("/compare") view={Lazy::<page::Compare>::new()} ssr=SsrMode::Async/>
                <Route path=path!("/models/:name") view={Lazy::<page::Model>::new()} ssr=SsrMode::Async/>
                <Route path=path!("/figures") view={Lazy::<page::Figures>::new()} ssr=SsrMode::Async/>
                <Route path=path!("/embed/:figure") view={Lazy::<page::Embed>::new()} ssr=SsrMode::Async/>
                <Route path=path!("/about") view={Lazy::<page::About>::new()} ssr=SsrMode::Async/>
                <Route path=path!("/sign-in") view={Lazy::<page::SignIn>::new()} ssr=SsrMode::Async/>
                // The target of forms that lead to another site.
                <Route path=path!("/sign-in/:provider") view={Lazy::<page::SignIn>::new()} ssr=SsrMode::Async/>
                <Route path=path!("/invitation/:secret") view={Lazy::<page::Invitation>::new()} ssr=SsrMode::Async/>
                <Route path=path!("/account") view={Lazy::<page::Account>::new()} ssr=SsrMode::Async/>
                <Route path=path!("/accounts") view={Lazy::<page::Accounts>::new()} ssr=SsrMode::Async/>
                <Route path=path!("/keys") view={Lazy::<page::Keys>::new()} ssr=SsrMode::Async/>
                <Route path=path!("/notifications") view={Lazy::<page::Notifications>::new()} ssr=SsrMode::Async/>
                <Route path=path!("/disk") view={Lazy::<page::Disk>::new()} ssr=SsrMode::Async/>
                <Route path=path!("/findings") view={Lazy::<page::OpenFindings>::new()} ssr=SsrMode::Async/>
                <Route path=path!("/audit") view={Lazy::<page::Audit>::new()} ssr=SsrMode::Async/>
            </FlatRoutes>
        </main>
    }
}

/// After a link inside the page, moves the focus to the new content, so that
/// keyboard and screen reader users start there, as after a full load.
fn focus_on_new_pages(main: NodeRef<leptos::html::Main>) {
    let path = use_location().pathname;
    Effect::new(move |before: Option<String>| {
        let path = path.get();
        if before.is_some_and(|before| before != path)
            && let Some(main) = main.get_untracked()
        {
            // Without focus the page is still readable.
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
                <A href="/figures">"Figures"</A>
                <A href="/runs">"Runs"</A>
                <A href="/tasks">"Tasks"</A>
                <A href="/about">"About"</A>
            </nav>
            <AccountMenu/>
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
                <a href="/compare">"Compare runs"</a>
                <a href="/datasets">"Datasets"</a>
                <a href="/about">"How to read this"</a>
                <a href="/feed.xml" rel="external">"Feed"</a>
                <a href="/api/v1/openapi.json" rel="external">"API"</a>
            </nav>
        </footer>
    }
}
