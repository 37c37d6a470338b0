//! The document, its frame (header, main, footer) and the routes.

use leptos::nonce::use_nonce;
use leptos::prelude::*;
use leptos_meta::{HashedStylesheet, MetaTags, provide_meta_context};
use leptos_router::components::{A, FlatRoutes, Route, Router};
use leptos_router::hooks::use_location;
use leptos_router::{SsrMode, path};

use crate::components::{AccountMenu, ThemeSwitch};
use crate::pages as page;
use crate::pages::NotFoundPage;

/// The script that every page contains.
const PAGE_SCRIPT: &str = include_str!("page.js");
/// The script that fetches the program of the islands.
const LOADER: &str = include_str!("loader.js");

/// The addresses of the program of the islands.
#[derive(Debug, Clone)]
pub struct Scripts {
    pub glue: String,
    pub module: String,
}

/// The whole document around [`App`]. Without the islands' program it is a
/// document that works by links and forms.
pub fn shell(options: LeptosOptions, scripts: Option<Scripts>) -> impl IntoView {
    let (glue, module) = scripts
        .map(|scripts| (scripts.glue, scripts.module))
        .unzip();
    let loader = glue.is_some().then(|| {
        view! { <script type="module" nonce=use_nonce() inner_html=LOADER></script> }
    });
    view! {
        <!DOCTYPE html>
        <html lang="en" data-glue=glue data-module=module>
            <head>
                <meta charset="utf-8"/>
                <meta name="viewport" content="width=device-width, initial-scale=1"/>
                <meta name="color-scheme" content="light dark"/>
                <script nonce=use_nonce() inner_html=PAGE_SCRIPT></script>
                <HashedStylesheet options id="swe-ci-style"/>
                <link rel="icon" href="/favicon.svg" type="image/svg+xml"/>
                <link rel="alternate" href="/feed.xml" type="application/atom+xml" title="New results"/>
                {loader}
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
            <Frame/>
        </Router>
    }
}

/// Header and footer, but not around pages that other sites frame.
#[component]
fn Frame() -> impl IntoView {
    let path = use_location().pathname;
    let framed = path.with_untracked(|path| path.starts_with("/embed/"));
    let above = (!framed).then(|| {
        view! {
            <a class="skip" href="#main">"Skip to the content"</a>
            <Header/>
        }
    });
    view! {
        {above}
        <Main framed/>
        {(!framed).then(|| view! { <Footer/> })}
    }
}

#[component]
fn Main(framed: bool) -> impl IntoView {
    view! {
        <main id="main" tabindex="-1" class:bare=framed>
            <FlatRoutes fallback=NotFoundPage>
                <Route path=path!("/") view=page::leaderboard::LeaderboardPage ssr=SsrMode::Async/>
                <Route path=path!("/runs") view=page::runs::RunsPage ssr=SsrMode::Async/>
                // Before the next one, which would match it as a run.
                <Route path=path!("/runs/new") view=page::submit::SubmitPage ssr=SsrMode::Async/>
                <Route path=path!("/runs/:id") view=page::run::RunPage ssr=SsrMode::Async/>
                <Route path=path!("/runs/:id/trajectories") view=page::trajectories::TrajectoriesPage ssr=SsrMode::Async/>
                <Route path=path!("/runs/:id/search") view=page::trajectories::TranscriptSearchPage ssr=SsrMode::Async/>
                <Route path=path!("/runs/:id/judgements") view=page::judgements::JudgementsPage ssr=SsrMode::Async/>
                // Before the next one, which would match it as an iteration.
                <Route path=path!("/runs/:id/tasks/:task") view=page::evolution::EvolutionPage ssr=SsrMode::Async/>
                <Route path=path!("/runs/:id/tasks/:task/style") view=page::style::StylePage ssr=SsrMode::Async/>
                <Route path=path!("/runs/:id/:evolution/:iteration") view=page::iteration::IterationPage ssr=SsrMode::Async/>
                <Route path=path!("/runs/:id/:evolution/:iteration/:role") view=page::conversation::ConversationPage ssr=SsrMode::Async/>
                <Route path=path!("/tasks") view=page::tasks::TasksPage ssr=SsrMode::Async/>
                <Route path=path!("/tasks/:id") view=page::task::TaskPage ssr=SsrMode::Async/>
                <Route path=path!("/datasets") view=page::datasets::DatasetsPage ssr=SsrMode::Async/>
                // Before the next one, which would match it as a split.
                <Route path=path!("/datasets/import") view=page::import::ImportPage ssr=SsrMode::Async/>
                <Route path=path!("/datasets/new") view=page::curate::CuratePage ssr=SsrMode::Async/>
                <Route path=path!("/datasets/curations/:id") view=page::curation::CurationPage ssr=SsrMode::Async/>
                <Route path=path!("/datasets/:split") view=page::dataset::DatasetPage ssr=SsrMode::Async/>
                <Route path=path!("/matrix") view=page::matrix::MatrixPage ssr=SsrMode::Async/>
                <Route path=path!("/handover") view=page::handover::HandoverPage ssr=SsrMode::Async/>
                <Route path=path!("/snapshots") view=page::snapshots::SnapshotsPage ssr=SsrMode::Async/>
                <Route path=path!("/snapshots/:day") view=page::leaderboard::LeaderboardPage ssr=SsrMode::Async/>
                <Route path=path!("/compare") view=page::compare::ComparePage ssr=SsrMode::Async/>
                <Route path=path!("/compare/:task") view=page::compare::TaskComparisonPage ssr=SsrMode::Async/>
                <Route path=path!("/models/:name") view=page::model::ModelPage ssr=SsrMode::Async/>
                <Route path=path!("/figures") view=page::figures::FiguresPage ssr=SsrMode::Async/>
                <Route path=path!("/embed/:figure") view=page::figures::EmbedPage ssr=SsrMode::Async/>
                <Route path=path!("/api") view=page::api::ApiPage ssr=SsrMode::Async/>
                <Route path=path!("/about") view=page::about::AboutPage ssr=SsrMode::Async/>
                <Route path=path!("/sign-in") view=page::sign_in::SignInPage ssr=SsrMode::Async/>
                // The target of forms that lead to another site.
                <Route path=path!("/sign-in/:provider") view=page::sign_in::SignInPage ssr=SsrMode::Async/>
                <Route path=path!("/invitation/:secret") view=page::invitation::InvitationPage ssr=SsrMode::Async/>
                <Route path=path!("/account") view=page::account::AccountPage ssr=SsrMode::Async/>
                <Route path=path!("/accounts") view=page::accounts::AccountsPage ssr=SsrMode::Async/>
                <Route path=path!("/keys") view=page::keys::KeysPage ssr=SsrMode::Async/>
                <Route path=path!("/notifications") view=page::notifications::NotificationsPage ssr=SsrMode::Async/>
                <Route path=path!("/workers") view=page::workers::WorkersPage ssr=SsrMode::Async/>
                <Route path=path!("/disk") view=page::disk::DiskPage ssr=SsrMode::Async/>
                <Route path=path!("/findings") view=page::open_findings::OpenFindingsPage ssr=SsrMode::Async/>
                <Route path=path!("/submissions") view=page::submitted_runs::SubmissionsPage ssr=SsrMode::Async/>
                <Route path=path!("/audit") view=page::audit::AuditPage ssr=SsrMode::Async/>
            </FlatRoutes>
        </main>
    }
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
                <A href="/compare">"Compare"</A>
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
                <a href="/handover">"Handovers"</a>
                <a href="/snapshots">"Snapshots"</a>
                <a href="/datasets">"Datasets"</a>
                <a href="/about">"How to read this"</a>
                <a href="/feed.xml">"Feed"</a>
                <a href="/api">"API"</a>
            </nav>
        </footer>
    }
}
