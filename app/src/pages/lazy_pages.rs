//! Pages in parts that the browser fetches on demand, so that nobody who looks
//! at the leaderboard waits for the code of the heat map.
//!
//! A page belongs to one part. Code that two parts share gets a file of its
//! own, which both fetch; code that all share is in the program that every page
//! loads. `xtask` cuts the module at these functions. The parts are few,
//! because every set of parts that shares code adds a small file.

use leptos::prelude::*;
use leptos_router::LazyRoute;
use leptos_router::hooks::use_location;
use wasm_split_helpers::{SplitLoaderError, wasm_split};

/// Each line is a route, its function and its page, in the part above it.
macro_rules! lazy_pages {
    ($($part:ident: $(($route:ident, $function:ident, $module:ident::$page:ident)),+;)+) => {$($(
        #[doc = concat!("`", stringify!($page), "`, in the part `", stringify!($part), "`.")]
        #[derive(Debug, Clone, Copy)]
        pub struct $route;

        #[wasm_split($part, fallible)]
        fn $function() -> Result<AnyView, SplitLoaderError> {
            Ok(view! { <super::$module::$page/> }.into_any())
        }

        impl LazyRoute for $route {
            fn data() -> Self {
                Self
            }

            async fn view(_: Self) -> AnyView {
                // The page names the files of its part, so that the browser
                // fetches them before the program requests them.
                #[cfg(feature = "ssr")]
                leptos::prefetch_lazy_fn_on_server(stringify!($part));
                match $function().await.ok() {
                    Some(page) => page,
                    None => load_anew().await,
                }
            }
        }
    )+)+};
}

lazy_pages! {
    board:
        (Leaderboard, leaderboard, leaderboard::LeaderboardPage);
    plots:
        (Figures, figures, figures::FiguresPage),
        (Embed, embed, figures::EmbedPage),
        (Compare, compare, compare::ComparePage),
        (Model, model, model::ModelPage);
    runs:
        (Runs, runs, runs::RunsPage),
        (Run, run, run::RunPage),
        (Evolution, evolution, evolution::EvolutionPage),
        (Iteration, iteration, iteration::IterationPage),
        (Style, style, style::StylePage),
        (Conversation, conversation, conversation::ConversationPage),
        (Matrix, matrix, matrix::MatrixPage),
        (Tasks, tasks, tasks::TasksPage),
        (Task, task, task::TaskPage),
        (Datasets, datasets, datasets::DatasetsPage),
        (Dataset, dataset, dataset::DatasetPage);
    text:
        (About, about, about::AboutPage);
    accounts:
        (SignIn, sign_in, sign_in::SignInPage),
        (Invitation, invitation, invitation::InvitationPage),
        (Account, account, account::AccountPage),
        (Accounts, accounts, accounts::AccountsPage),
        (Audit, audit, audit::AuditPage),
        (OpenFindings, open_findings, open_findings::OpenFindingsPage),
        (Keys, keys, keys::KeysPage),
        (Notifications, notifications, notifications::NotificationsPage),
        (Submit, submit, submit::SubmitPage),
        (Curate, curate, curate::CuratePage),
        (Curation, curation, curation::CurationPage),
        (Disk, disk, disk::DiskPage);
}

/// A part cannot be fetched, mostly because a new build of the site was
/// deployed after this page was opened. Then the server delivers the requested
/// page whole. A page that has just come from the server stays, without its
/// script.
async fn load_anew() -> AnyView {
    let there = use_location();
    let (path, search) = untrack(|| (there.pathname.get(), there.search.get()));
    let here = window().location();
    if here.pathname().is_ok_and(|here| here != path) {
        let mark = if search.is_empty() { "" } else { "?" };
        // If the navigation fails, the browser reports it.
        let _ = here.set_href(&format!("{path}{mark}{search}"));
    }
    std::future::pending().await
}
