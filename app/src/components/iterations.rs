use leptos::prelude::*;
use swe_ci_core::finding::Grade;
use swe_ci_views::view::{EvolutionView, IterationView};

use super::Tag;
use crate::components::CollectAny;
use crate::{format, labels};

#[component]
pub fn Iterations(
    evolution: Memo<EvolutionView>,
    target: u32,
    href: Callback<u32, String>,
    #[prop(optional, into)] chosen: Signal<Option<u32>>,
) -> impl IntoView {
    let iterations = Memo::new(move |_| evolution.with(|e| e.iterations.clone()));
    let rows = move || {
        let row = |i: IterationView| {
            let n = i.iteration;
            let href = Signal::derive(move || href.run(n));
            let chosen = Signal::derive(move || chosen.get() == Some(n));
            view! { <IterationRow iteration=i target href chosen/> }
        };
        iterations.get().into_iter().map(row).collect_any()
    };
    let none = move || iterations.with(Vec::is_empty);
    let empty = move || match evolution.with(|e| e.progress.is_over()) {
        true => "It ended before an iteration was tested.",
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
    let (sign, word, tone) = labels::verdict(&iteration, target);
    let findings = (!iteration.findings.is_empty()).then(|| {
        let text = format::count(iteration.findings.len(), "finding");
        let worst = iteration.findings.iter().map(|finding| finding.grade).max();
        let (hint, tone) = labels::grade(worst.unwrap_or(Grade::Note));
        view! { <Tag text tone hint/> }
    });
    view! {
        <tr class:chosen=chosen>
            <th scope="row" class="number">
                <a href=href aria-current=move || chosen.get().then_some("true")>{iteration.iteration}</a>
            </th>
            <td class="number">{iteration.verdict.in_target()}</td>
            <td class="number">{labels::gained(iteration.gained)}</td>
            <td class="number" class:bad=iteration.verdict.lost().gt(&0)>{labels::lost(iteration.verdict.lost())}</td>
            <td class="verdict" data-tone=tone.name()>
                <span aria-hidden="true">{sign}</span>
                " "
                {word}
                {findings}
            </td>
        </tr>
    }
}
