//! The leaderboard: one split, ranked for one γ and convention. The server
//! sends the rows of the address; the browser then fetches the sheet once and
//! ranks by itself.

mod cells;
mod chart;
mod controls;
mod data;
mod filters;
mod looking;
mod near;
mod notes;
mod published;
mod ranker;
mod ranks;
mod row;
mod table;
mod take;
mod tie;
mod view;
mod words;

use leptos::prelude::*;
use leptos_router::NavigateOptions;
use leptos_router::hooks::{use_navigate, use_query_map};

pub(super) use self::data::splits;

use self::data::{Asked, board_of};
use self::looking::Step;
use self::view::BoardView;
use crate::components::{PageHead, loaded};
use crate::fetched::fetched;
use crate::query::{Reading, named};

#[component]
pub fn LeaderboardPage() -> impl IntoView {
    let query = use_query_map();
    let reading = Memo::new(move |_| query.with(Reading::of));
    let split = Memo::new(move |_| query.with(|q| named(q, "split")));
    // What the address says later the browser ranks by itself.
    let resource = fetched(
        move || (split.get(), Asked::of(&reading.get_untracked())),
        |(split, asked)| board_of(split, asked.gamma, asked.convention, asked.unseen),
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
                "Each agent takes a real repository from one commit towards another, in up to 20 iterations of requirements, code and tests. EvoScore rewards code that stays easy to change. "
                <a href="/about">"How to read this"</a>
            </p>
        </div>
        {loaded(resource, move |board| view! { <BoardView board reading go/> }.into_any())}
    }
}
