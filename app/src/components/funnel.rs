use leptos::prelude::*;
use swe_ci_views::curation::{Dropped, Stage, StageCount};

use super::Meter;
use crate::format;

/// The candidates left after each stage of a curation, with the reasons (figure 2 of
/// the paper).
#[component]
pub fn Funnel(stages: Vec<StageCount>) -> impl IntoView {
    let row = |count: StageCount| {
        let StageCount {
            stage,
            entered,
            survived,
            waiting,
            dropped,
        } = count;
        let (title, does, came) = words(stage);
        let reason = |Dropped { reason, count }: Dropped| {
            view! { <li>{format!("{reason}: {}", format::thousands(count))}</li> }
        };
        let waiting = (waiting > 0).then(|| view! { <p class="quiet">{format!("{} not examined yet", format::thousands(waiting))}</p> });
        view! {
            <li class="funnel-stage">
                <h3>{title}</h3>
                <p>{does}</p>
                <Meter value=survived most=entered label=format!("{} that stayed", stage.yields())/>
                <p><strong>{format::thousands(survived)}</strong>{format!(" of {} {came} stayed", format::thousands(entered))}</p>
                {waiting}
                <ul class="funnel-reasons">{dropped.into_iter().map(reason).collect_view()}</ul>
            </li>
        }
    };
    view! { <ol class="funnel">{stages.into_iter().map(row).collect_view()}</ol> }
}

/// The stage's title, what it does, and what enters it.
fn words(stage: Stage) -> (&'static str, &'static str, &'static str) {
    match stage {
        Stage::Collect => (
            "1. Collect",
            "Repositories that are old enough, tested, and free to use.",
            "repositories",
        ),
        Stage::Spans => (
            "2. Spans",
            "Stretches of the main branch with unchanged dependencies, and enough change.",
            "stretches",
        ),
        Stage::Environment => (
            "3. Environment",
            "An image in which the target’s tests run, mended where something was missing.",
            "candidates",
        ),
        Stage::Filter => (
            "4. Filter",
            "Both ends tested, a gap worth closing, and the best of all.",
            "candidates",
        ),
    }
}
