//! Pages in parts the browser fetches when it needs them, each as small as
//! its readers need: nobody who looks at the leaderboard waits for the code of
//! the heat map.
//!
//! A page belongs to one part; what two parts use stands in a file of its own
//! that both fetch, and what all use in the program that every page loads.
//! `xtask` cuts the module at these functions. More parts than few would be
//! many small files, one for each set of parts that share something.

use leptos::prelude::*;
use leptos_router::LazyRoute;
use leptos_router::hooks::use_location;
use wasm_split_helpers::{SplitLoaderError, wasm_split};

/// `$part: $route = $page`: a route whose page stands in that part.
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
                // The page says which files its part is in, so that they are
                // on their way before the program asks for them.
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

/// A part cannot be fetched, mostly because the site was built anew since
/// this page was opened. The page asked for comes whole from the server then.
/// One that has just come from there stays as it is, without its script.
async fn load_anew() -> AnyView {
    let there = use_location();
    let (path, search) = untrack(|| (there.pathname.get(), there.search.get()));
    let here = window().location();
    if here.pathname().is_ok_and(|here| here != path) {
        let mark = if search.is_empty() { "" } else { "?" };
        // Whatever keeps the browser from going there, it tells by itself.
        let _ = here.set_href(&format!("{path}{mark}{search}"));
    }
    std::future::pending().await
}
