//! The leaderboard: one split, ranked for one γ and convention. The server
//! sends the rows for the address; the browser then fetches the leaderboard
//! data once and ranks by itself.

mod board_state;
mod cells;
mod column_names;
mod controls;
mod data;
mod export;
mod filters;
mod notes;
mod published;
mod ranker;
mod row;
mod table;
mod tie_mark;

use leptos::prelude::*;
use leptos_router::NavigateOptions;
use leptos_router::hooks::use_navigate;
use swe_ci_plots::{Curves, Size, Theme, evoscore_gamma};

use self::board_state::{BoardState, Step};
use self::controls::Controls;
use self::data::{Board, RankingSettings, Scene, board_of};
use self::export::{Cite, Shown, api_href};
use self::filters::Filters;
use self::notes::{Announcer, Certainty, CountsOnly, OnlyUnseen, Reader, Unranked, not_drawn};
use self::ranker::Ranks;
use self::table::Ranking;
use self::tie_mark::Places;
use crate::components::{NoRuns, NoTasks, PageTop, Picture, Problem, Term, fetched, loaded};
use crate::glossary::Word;
use crate::query::{Reading, named, of_query};

#[component]
pub fn LeaderboardPage() -> impl IntoView {
    let reading = of_query(Reading::of);
    let split = of_query(|query| named(query, "split"));
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
        <PageTop
            title="Leaderboard"
            description="How well LLM coding agents maintain code: EvoScore, regressions and solved tasks over many iterations on real repositories."
            heading="How well do coding agents maintain code?"
        >
            <p class="lede">
                "Each agent evolves a real repository from one commit towards another, in up to 20 iterations of requirements, code and tests. EvoScore rewards code that stays easy to change. "
                <a href="/about">"How to read this"</a>
            </p>
        </PageTop>
        {loaded(resource, move |board| view! { <BoardView board reading go/> }.into_any())}
    }
}

/// The board of one split. Values derived from its rows are computed here once,
/// for both table and chart.
#[component]
fn BoardView(
    board: Board,
    /// The query in the address.
    #[prop(into)]
    reading: Signal<Reading>,
    /// Writes a query into the address.
    go: Callback<(Reading, Step)>,
) -> impl IntoView {
    let state = BoardState::new(reading, go);
    let ranks = Ranks::new(&board, state);
    let (rows, scene, failed) = (ranks.rows, ranks.scene, ranks.failed);
    let (splits, published, today) = (board.splits, board.published, board.today);
    let (any_runs, any_published) = (board.runs > 0, !published.rows.is_empty());
    let summary = splits.iter().find(|s| s.name == board.split).cloned();
    let tasks = summary.as_ref().map_or(0, |s| s.tasks);
    let places = Memo::new(move |_| {
        let view = state.get().view;
        rows.with(|rows| Places::of(rows, &view))
    });
    let curves = Memo::new(move |_| scene.with(|scene| scene.curves.clone()));
    let name = StoredValue::new(board.split);
    let head = if splits.is_empty() {
        let will = "This page will rank runs by how well their agents maintain code.";
        view! { <NoTasks will/> }.into_any()
    } else {
        let controls = view! {
            <Controls splits split=name.get_value() any_published state iterations=board.most_iterations/>
        };
        let rows = if any_runs {
            let filters = view! { <Filters rows state/> }.into_any();
            view! { {filters}<Shown rows places state split=name.get_value()/> }.into_any()
        } else {
            let will = "Runs appear here as soon as their first task is scored.";
            view! { <NoRuns split=name.get_value() will/> }.into_any()
        };
        view! { {controls.into_any()}{rows} }.into_any()
    };
    let below = any_runs.then(|| {
        view! {
            <Reader rows/>
            <Certainty scene rows/>
            <Announcer rows gamma=state.gamma/>
            <Cite rows state split=name.get_value() tasks today/>
            <GammaChart curves scene state split=name.get_value()/>
        }
        .into_any()
    });
    let table = view! { <Ranking rows places curves published any_runs split=summary state/> };
    // Type-erased, because large view types are moved on the stack at every
    // level of the page, and a server's threads have small stacks.
    view! {
        {head}
        {move || failed.get().map(|error| view! { <Problem error/> })}
        <CountsOnly scene state/>
        <OnlyUnseen scene/>
        {table.into_any()}
        <Unranked scene/>
        {below}
    }
}

/// With more lines, the chart waits until the slider rests: drawing it takes
/// longer than a frame.
const FOLLOWING: usize = 20;

/// EvoScore against γ. Drawn in two sizes; the style sheet shows the one that
/// fits, so that its text is always readable.
#[component]
fn GammaChart(
    curves: Memo<Curves>,
    scene: Memo<Scene>,
    state: BoardState,
    split: String,
) -> impl IntoView {
    let left_out = move || scene.with(not_drawn).map(|text| view! { <p>{text}</p> });
    let gamma = Memo::new(move |_| {
        let many = curves.with(|curves| curves.iter().len() > FOLLOWING);
        let following = if many { state.rested } else { state.gamma };
        following.get()
    });
    let drawn = move |size| {
        Memo::new(move |_| curves.with(|c| evoscore_gamma(c, gamma.get(), size, Theme::Page)))
    };
    let (wide, narrow) = (drawn(Size::WIDE), drawn(Size::NARROW));
    let download = move || api_href("plots/evoscore-gamma.svg", &split, &state.get());
    view! {
        <figure class="figure figure-beside">
            <figcaption>
                <h2>"EvoScore against γ"</h2>
                <p>
                    <Term word=Word::Gamma/>" sets how much later iterations weigh. At 1 all weigh the same; further right, the final state counts more."
                </p>
                <p>
                    "A line that falls to the right means code that gets harder to change; a rising line means an agent that catches up. Where lines cross, the ranking depends on your priorities."
                </p>
                {left_out}
                <p class="figure-links">
                    <a href=download rel="external" download="">"Download as SVG"</a>
                </p>
            </figcaption>
            <div class="only-wide"><Picture figure=wide/></div>
            <div class="only-narrow"><Picture figure=narrow/></div>
        </figure>
    }
}
