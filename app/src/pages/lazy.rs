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

/// `$part: $route = $page`: a route whose page is in that part.
macro_rules! lazy_pages {
    ($($part:ident: $(($route:ident, $function:ident, $page:ident)),+;)+) => {$($(
        #[doc = concat!("[`", stringify!($page), "`](super::", stringify!($page), "), in the part `", stringify!($part), "`.")]
        #[derive(Debug, Clone, Copy)]
        pub struct $route;

        #[wasm_split($part, fallible)]
        fn $function() -> Result<AnyView, SplitLoaderError> {
            Ok(view! { <super::$page/> }.into_any())
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
        (Leaderboard, leaderboard, LeaderboardPage);
    plots:
        (Figures, figures, FiguresPage),
        (Embed, embed, EmbedPage),
        (Compare, compare, ComparePage),
        (Model, model, ModelPage);
    runs:
        (Runs, runs, RunsPage),
        (Run, run, RunPage),
        (Evolution, evolution, EvolutionPage),
        (Iteration, iteration, IterationPage),
        (Style, style, StylePage),
        (Conversation, conversation, ConversationPage),
        (Matrix, matrix, MatrixPage),
        (Tasks, tasks, TasksPage),
        (Task, task, TaskPage),
        (Datasets, datasets, DatasetsPage),
        (Dataset, dataset, DatasetPage);
    text:
        (About, about, AboutPage);
    accounts:
        (SignIn, sign_in, SignInPage),
        (Invitation, invitation, InvitationPage),
        (Account, account, AccountPage),
        (Accounts, accounts, AccountsPage),
        (Audit, audit, AuditPage),
        (Keys, keys, KeysPage),
        (Notifications, notifications, NotificationsPage),
        (Submit, submit, SubmitPage),
        (Curate, curate, CuratePage),
        (Curation, curation, CurationPage),
        (Disk, disk, DiskPage);
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
