//! The funnel of a curation.

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
        let reason = |Dropped { reason, count }: Dropped| {
            view! { <li>{format!("{reason}: {}", format::thousands(count))}</li> }
        };
        let waiting = (waiting > 0).then(|| view! { <p class="quiet">{format!("{} not examined yet", format::thousands(waiting))}</p> });
        view! {
            <li class="funnel-stage">
                <h3>{title(stage)}</h3>
                <p>{words(stage)}</p>
                <Meter value=survived most=entered label=format!("{} that stayed", stage.yields())/>
                <p><strong>{format::thousands(survived)}</strong>{format!(" of {} {} stayed", format::thousands(entered), came(stage))}</p>
                {waiting}
                <ul class="funnel-reasons">{dropped.into_iter().map(reason).collect_view()}</ul>
            </li>
        }
    };
    view! { <ol class="funnel">{stages.into_iter().map(row).collect_view()}</ol> }
}

fn title(stage: Stage) -> &'static str {
    match stage {
        Stage::Collect => "1. Collect",
        Stage::Spans => "2. Spans",
        Stage::Environment => "3. Environment",
        Stage::Filter => "4. Filter",
    }
}

fn words(stage: Stage) -> &'static str {
    match stage {
        Stage::Collect => "Repositories that are old enough, tested, and free to use.",
        Stage::Spans => {
            "Stretches of the main branch with unchanged dependencies, and enough change."
        }
        Stage::Environment => {
            "An image in which the target’s tests run, mended where something was missing."
        }
        Stage::Filter => "Both ends tested, a gap worth closing, and the best of all.",
    }
}

fn came(stage: Stage) -> &'static str {
    match stage {
        Stage::Collect => "repositories",
        Stage::Spans => "stretches",
        Stage::Environment | Stage::Filter => "candidates",
    }
}
