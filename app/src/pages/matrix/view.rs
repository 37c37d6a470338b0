use leptos::either::EitherOf3;
use leptos::prelude::*;
use swe_ci_core::leaderboard::{Absence, MatrixRun, TaskKey};
use swe_ci_core::metrics::Convention;
use swe_ci_core::run::Kind;
use swe_ci_core::view::SplitSummary;

use super::asked::Asked;
use super::data::Found;
use super::grid::Grid;
use super::table::{CALM, SOLVED, absence, rows};
use crate::components::{Choice, Choices, GammaForm, NoTasks};
use crate::format;
use crate::pages::words;
use crate::query::encode;

/// With more runs than this their names stand upright.
const FEW_RUNS: usize = 6;

#[component]
pub(super) fn MatrixView(found: Found, #[prop(into)] asked: Signal<Asked>) -> impl IntoView {
    let Found {
        splits,
        split,
        grid,
    } = found;
    if splits.is_empty() {
        return EitherOf3::A(view! {
            <NoTasks will="Tasks and runs will stand here against each other."/>
        });
    }
    let left_out = left_out(grid.left_out);
    let how = view! { <How splits split asked/> };
    if grid.tasks.is_empty() {
        return EitherOf3::B(view! {
            {how}
            {left_out}
            <p class="note">
                "No run has a score on this split in this convention yet. "
                <a href="/runs">"See what is running"</a>
            </p>
        });
    }
    EitherOf3::C(view! {
        {how}
        {left_out}
        <Legend/>
        <Table grid asked/>
        <p class="footnote">
            "Mean, spread and solved are over the models; the human baseline counts only where it stands alone. Solved means in every sample. Tasks that no run is scored on are not here: "
            <a href="/tasks">"all tasks"</a>
            "."
        </p>
    })
}

fn left_out(runs: u32) -> Option<impl IntoView> {
    (runs > 0).then(|| {
        let runs = format::count(runs, "run");
        view! { <p class="quiet">{format!("Not here: {runs} known by counts alone, scored in the reference convention only.")}</p> }
    })
}

/// What the matrix is read with, and where else it is.
#[component]
fn How(splits: Vec<SplitSummary>, split: String, asked: Signal<Asked>) -> impl IntoView {
    let gamma = Signal::derive(move || asked.with(|a| a.gamma));
    let others = Signal::derive(move || {
        let fields = asked.with(Asked::fields).into_iter();
        fields.filter(|(name, _)| *name != "gamma").collect()
    });
    view! {
        <section class="controls" aria-label="How to read the matrix">
            <GammaForm action="/matrix" gamma others/>
            <div class="controls-choices">
                <Choices label="Split" choices=split_choices(&splits, &split, asked)/>
                <Choices label="Counting" choices=convention_choices(asked)/>
                <a class="controls-link" href=move || asked.with(|a| a.api("matrix.csv")) rel="external" download="">"CSV"</a>
                <a class="controls-link" href=move || asked.with(|a| a.api("matrix")) rel="external">"JSON"</a>
            </div>
        </section>
    }
}

fn split_choices(splits: &[SplitSummary], shown: &str, asked: Signal<Asked>) -> Vec<Choice> {
    let choice = |split: &SplitSummary| {
        let name = split.name.clone();
        Choice {
            label: name.clone(),
            hint: format!("{} of {} tasks can be run", split.ready, split.tasks),
            chosen: Signal::stored(name == shown),
            href: Signal::derive(move || {
                let asked = Asked {
                    split: Some(name.clone()),
                    ..asked.get()
                };
                asked.href()
            }),
        }
    };
    splits.iter().map(choice).collect()
}

fn convention_choices(asked: Signal<Asked>) -> Vec<Choice> {
    let choice = |convention: Convention| Choice {
        label: convention.name().to_owned(),
        hint: words::convention(convention).to_owned(),
        href: Signal::derive(move || {
            let asked = Asked {
                convention,
                ..asked.get()
            };
            asked.href()
        }),
        chosen: Signal::derive(move || asked.with(|a| a.convention == convention)),
    };
    Convention::ALL.map(choice).to_vec()
}

#[component]
fn Legend() -> impl IntoView {
    let levels = ["low", "0", "2", "4", "6", "8", "10"];
    let keys = levels.map(|level| view! { <span data-level=level></span> });
    let why = |why| {
        let (sign, words) = absence(why);
        view! { <li><span class="matrix-sign" aria-hidden="true">{sign}</span>{words}</li> }
    };
    view! {
        <ul class="matrix-legend" aria-label="Signs">
            <li>"below 0"<span class="matrix-scale" aria-hidden="true">{keys.collect_view()}</span>"1"</li>
            <li><span class="matrix-sign" aria-hidden="true" inner_html=SOLVED></span>"solved"</li>
            <li><span class="matrix-sign" aria-hidden="true" inner_html=CALM></span>"never regressed"</li>
            {why(Absence::NotYet)}
            {why(Absence::BlockedOrNoPart)}
        </ul>
    }
}

#[component]
fn Table(grid: Grid, asked: Signal<Asked>) -> impl IntoView {
    let few = grid.runs.len() <= FEW_RUNS;
    let models = grid.runs.iter().map(model_head).collect_view();
    let scores = grid.runs.iter().map(run_head).collect_view();
    let head = |key, text, hint| view! { <SortHead key text hint asked/> };
    view! {
        <div class="matrix-frame" tabindex="0" role="region" aria-label="Tasks by runs; scrolls in both directions">
            <table class="matrix" class:matrix-few=few>
                <caption class="visually-hidden">"EvoScore of each run on each task"</caption>
                <thead>
                    <tr>
                        {head(TaskKey::Task, "Task", "By name")}
                        {head(TaskKey::Mean, "Mean", "Mean EvoScore over the models: low is hard")}
                        {head(TaskKey::Spread, "Spread", "How far the best and the worst model are apart")}
                        {head(TaskKey::Solved, "Solved", "How many of the models scored on it solved it")}
                        {models}
                    </tr>
                    <tr class="matrix-scores">
                        <th scope="row">"All tasks"</th>
                        <td></td>
                        <td></td>
                        <td></td>
                        {scores}
                    </tr>
                </thead>
                <tbody inner_html=rows(&grid)></tbody>
            </table>
        </div>
    }
}

/// The model; people and imported runs are told from others by a word.
fn model_head(run: &MatrixRun) -> impl IntoView + use<> {
    let kind = (run.kind != Kind::Measured).then(|| view! { <small>{run.kind.name()}</small> });
    let title = words::origin(&run.model, &run.provider);
    view! {
        <th scope="col">
            <a href=format!("/models/{}", encode(&run.model)) title=title>{run.model.clone()}</a>
            {kind}
        </th>
    }
}

/// Its score over all tasks, which leads to the run.
fn run_head(run: &MatrixRun) -> impl IntoView + use<> {
    let label = format!(
        "{}: EvoScore {} over all its tasks, rank {}",
        run.model,
        format::share(run.evoscore),
        run.rank
    );
    view! {
        <td><a href=format!("/runs/{}", encode(&run.run_id)) aria-label=label>{format::share(run.evoscore)}</a></td>
    }
}

#[component]
fn SortHead(
    key: TaskKey,
    text: &'static str,
    hint: &'static str,
    asked: Signal<Asked>,
) -> impl IntoView {
    let order = move || asked.with(|a| (a.order.key == key).then_some(a.order.descending));
    let sorted = move || match order() {
        None => None,
        Some(false) => Some("ascending"),
        Some(true) => Some("descending"),
    };
    view! {
        <th scope="col" aria-sort=sorted class:margin=key != TaskKey::Task>
            <a class="head" href=move || asked.with(|a| a.sorted(key).href()) title=hint data-noscroll="">
                {text}
                <span class="head-mark" aria-hidden="true"></span>
            </a>
        </th>
    }
}
