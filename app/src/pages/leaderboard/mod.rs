//! The leaderboard: one split, ranked for one γ and convention. The server
//! sends the rows for the address; the browser then fetches the leaderboard
//! data once and ranks by itself.

mod board_state;
mod cells;
mod controls;
mod data;
mod export;
mod filters;
mod notes;
mod published;
mod ranker;
mod ranks;
mod row;
mod table;
mod tie;
mod view;
mod words;

use leptos::prelude::*;
use leptos_router::NavigateOptions;
use leptos_router::hooks::{use_navigate, use_query_map};

use self::board_state::Step;
use self::data::{RankingSettings, board_of};
use self::view::BoardView;
use crate::components::{PageHead, loaded};
use crate::fetched::fetched;
use crate::query::{Reading, named};

#[component]
pub fn LeaderboardPage() -> impl IntoView {
    let query = use_query_map();
    let reading = Memo::new(move |_| query.with(Reading::of));
    let split = Memo::new(move |_| query.with(|q| named(q, "split")));
    // For later changes of the address, the browser ranks by itself.
    let resource = fetched(
        move || (split.get(), RankingSettings::of(&reading.get_untracked())),
        |(split, settings)| board_of(split, settings.gamma, settings.convention, settings.unseen),
    );
    let navigate = use_navigate();
    let go = Callback::new(move |(reading, step): (Reading, Step)| {
        let options = NavigateOptions {
            replace: step == Step::Same,
            scroll: false,
            ..NavigateOptions::default()
        };
        navigate(&reading.href(), options);
    });
    view! {
        <PageHead
            title="Leaderboard"
            description="How well LLM coding agents maintain code: EvoScore, regressions and solved tasks over many iterations on real repositories."
        />
        <div class="hero">
            <h1>"How well do coding agents maintain code?"</h1>
            <p class="lede">
                "Each agent evolves a real repository from one commit towards another, in up to 20 iterations of requirements, code and tests. EvoScore rewards code that stays easy to change. "
                <a href="/about">"How to read this"</a>
            </p>
        </div>
        {loaded(resource, move |board| view! { <BoardView board reading go/> }.into_any())}
    }
}
