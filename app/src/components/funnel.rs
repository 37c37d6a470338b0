use leptos::prelude::*;
use swe_ci_views::curation::{Dropped, Stage, StageCount};

use super::Meter;
use crate::format;

/// The candidates left after each stage, with the reasons (figure 2 of the paper).
#[component]
pub fn Funnel(stages: Vec<StageCount>) -> impl IntoView {
    let row = |count: StageCount| {
        let (title, does, came) = words(count.stage);
        let reason = |dropped: Dropped| {
            let times = format::thousands(dropped.count);
            view! { <li>{format!("{}: {times}", dropped.reason)}</li> }
        };
        let waiting = (count.waiting > 0).then(|| view! { <p class="quiet">{format!("{} not examined yet", format::thousands(count.waiting))}</p> });
        view! {
            <li class="funnel-stage">
                <h3>{title}</h3>
                <p>{does}</p>
                <Meter value=count.survived most=count.entered label=format!("{} that stayed", count.stage.yields())/>
                <p><strong>{format::thousands(count.survived)}</strong>{format!(" of {} {came} stayed", format::thousands(count.entered))}</p>
                {waiting}
                <ul class="funnel-reasons">{count.dropped.into_iter().map(reason).collect_view()}</ul>
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
