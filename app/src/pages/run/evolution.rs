use leptos::prelude::*;
use swe_ci_core::run::Progress;
use swe_ci_core::view::{EvolutionView, IterationView};

use super::standing::{Stopped, Waiting};
use crate::components::{Meter, Picture, Tag, Tone};
use crate::format;
use crate::pages::evolution::evolution_href;
use crate::pages::words;
use crate::plots::{Size, Theme, passing};

/// One evolution: how far it is, its chart, its iterations. Parts that an
/// event does not touch are not redrawn.
#[component]
pub fn EvolutionCard(
    first: EvolutionView,
    evolution: Memo<EvolutionView>,
    run_id: String,
    unfolded: bool,
) -> impl IntoView {
    let standing = Memo::new(move |_| evolution.with(words::standing));
    let step = Memo::new(move |_| evolution.with(words::current_step));
    let drawn = Memo::new(move |_| evolution.with(|e| passing(e, Size::SMALL, Theme::Page)));
    let closed = Signal::derive(move || evolution.with(closed));
    let suite = first.suite;
    let base = format!("/runs/{run_id}/{}", first.evolution_id);
    let href = Callback::new(move |n: u32| format!("{base}/{n}"));
    let whole = evolution_href(&run_id, first.task_id.as_str(), first.sample);
    let sample = (first.sample > 1).then(|| format!(" · sample {}", first.sample));
    let tone = Signal::derive(move || meter_tone(evolution.with(|e| (e.progress, is_closed(e)))));
    view! {
        <details class="evolution" open=unfolded>
            <summary>
                <span class="evolution-name">{first.task_id.to_string()}{sample}</span>
                <span class="evolution-standing">
                    <Tag
                        text=Signal::derive(move || standing.get().0.to_owned())
                        tone=Signal::derive(move || standing.get().1)
                    />
                    <span class="evolution-step">{move || step.get()}</span>
                </span>
                <span class="measure">
                    <span class="measure-number">{move || format!("{} / {}", closed.get(), suite.gap())}</span>
                    <Meter value=closed most=suite.gap() label="Tests of the gap closed" tone/>
                </span>
            </summary>
            <Waiting evolution/>
            <Stopped evolution run_id/>
            <div class="evolution-body">
                <div class="evolution-chart">
                    <Picture figure=drawn/>
                    <p class="quiet">
                        <a href=whole>"Test by test"</a>
                        " · "
                        <a href=format!("/tasks/{}", first.task_id)>"About this task"</a>
                        {format!(" · {} missing on the base", format::count(suite.gap(), "target test"))}
                    </p>
                </div>
                <Iterations evolution target=suite.target href/>
            </div>
        </details>
    }
}

/// Net tests of the gap that pass now; 0 below the base.
fn closed(evolution: &EvolutionView) -> u32 {
    let suite = evolution.suite;
    let now = evolution
        .iterations
        .last()
        .map_or(suite.base_in_target, |i| i.verdict.in_target());
    now.saturating_sub(suite.base_in_target)
}

fn is_closed(evolution: &EvolutionView) -> bool {
    closed(evolution) >= evolution.suite.gap()
}

fn meter_tone((progress, solved): (Progress, bool)) -> &'static str {
    match (progress, solved) {
        (_, true) => "good",
        (Progress::Running, _) => "live",
        _ => "plain",
    }
}

#[component]
pub(in crate::pages) fn Iterations(
    evolution: Memo<EvolutionView>,
    target: u32,
    /// Where each iteration leads.
    href: Callback<u32, String>,
    /// The one that is looked into.
    #[prop(optional, into)]
    chosen: Signal<Option<u32>>,
) -> impl IntoView {
    let iterations = Memo::new(move |_| evolution.with(|e| e.iterations.clone()));
    let rows = move || {
        let row = |i: IterationView| {
            let n = i.iteration;
            let href = Signal::derive(move || href.run(n));
            let chosen = Signal::derive(move || chosen.get() == Some(n));
            view! { <IterationRow iteration=i target href chosen/> }
        };
        iterations.get().into_iter().map(row).collect_view()
    };
    let none = move || iterations.with(Vec::is_empty);
    let empty = move || match evolution.with(|e| e.progress.is_over()) {
        true => "It was over before an iteration was tested.",
        false => "Its iterations will be listed here, as they are tested.",
    };
    view! {
        <div class="table-frame" hidden=none>
            <table class="iterations">
                <caption class="visually-hidden">"Iterations"</caption>
                <thead>
                    <tr>
                        <th scope="col" class="number">"Iteration"</th>
                        <th scope="col" class="number">"Passing"</th>
                        <th scope="col" class="number">"Gained"</th>
                        <th scope="col" class="number">"Lost"</th>
                        <th scope="col">"Verdict"</th>
                    </tr>
                </thead>
                <tbody>{rows}</tbody>
            </table>
        </div>
        <p class="quiet" hidden=move || !none()>{empty}</p>
    }
}

#[component]
fn IterationRow(
    iteration: IterationView,
    target: u32,
    href: Signal<String>,
    chosen: Signal<bool>,
) -> impl IntoView {
    let (sign, word, tone) = words::verdict(&iteration, target);
    let findings = u32::try_from(iteration.findings.len()).unwrap_or(u32::MAX);
    let findings = (findings > 0).then(|| {
        let text = format::count(findings, "finding");
        view! { <Tag text tone=Tone::Warn hint="Configuration of the tests was changed"/> }
    });
    view! {
        <tr class:chosen=chosen>
            <th scope="row" class="number">
                <a href=href aria-current=move || chosen.get().then_some("true")>{iteration.iteration}</a>
            </th>
            <td class="number">{iteration.verdict.in_target()}</td>
            <td class="number">{words::gained(iteration.gained)}</td>
            <td class="number" class:bad=iteration.verdict.lost().gt(&0)>{words::lost(iteration.verdict.lost())}</td>
            <td class="verdict" data-tone=tone.name()>
                <span aria-hidden="true">{sign}</span>
                " "
                {word}
                {findings}
            </td>
        </tr>
    }
}
