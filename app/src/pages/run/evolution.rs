//! The card of one evolution on the page of its run.

use leptos::prelude::*;
use swe_ci_core::run::Progress;
use swe_ci_plots::{Size, Theme, passing};
use swe_ci_views::view::EvolutionView;

use super::status::{Stopped, Waiting};
use crate::components::{Iterations, Meter, Picture, Tag};
use crate::pages::routes::{evolution_href, iteration_href, task_href};
use crate::{format, labels};

/// One evolution. An event redraws only the parts it changes.
#[component]
pub fn EvolutionCard(
    first: EvolutionView,
    evolution: Memo<EvolutionView>,
    run_id: String,
    unfolded: bool,
) -> impl IntoView {
    let standing = Memo::new(move |_| evolution.with(labels::standing));
    let step = Memo::new(move |_| evolution.with(labels::current_step));
    let drawn = Memo::new(move |_| evolution.with(|e| passing(e, Size::SMALL, Theme::Page)));
    let closed = Signal::derive(move || evolution.with(closed));
    let suite = first.suite;
    let (run, id) = (run_id.clone(), first.evolution_id.clone());
    let href = Callback::new(move |n: u32| iteration_href(&run, &id, n));
    let whole = evolution_href(&run_id, first.task_id.as_str(), first.sample);
    let sample = (first.sample > 1).then(|| format!(" · sample {}", first.sample));
    let tone = Signal::derive(move || evolution.with(meter_tone));
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
                        <a href=task_href(first.task_id.as_str())>"About this task"</a>
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
    evolution
        .passing()
        .saturating_sub(evolution.suite.base_in_target)
}

fn meter_tone(evolution: &EvolutionView) -> &'static str {
    match evolution.progress {
        _ if closed(evolution) >= evolution.suite.gap() => "good",
        Progress::Running => "live",
        _ => "plain",
    }
}
