//! The result of running a run's tests again, if somebody did.

use leptos::prelude::*;
use swe_ci_views::verification::{Mark, Verification};
use swe_ci_views::view::RunDetail;

use crate::components::Tag;
use crate::format;
use crate::pages::mark::MarkTerm;
use crate::pages::routes::iteration_href;

/// How many differences are listed; the others are counted.
const LISTED: usize = 20;

/// Beside the run's name: its mark or, without one, that all repeated tests
/// came out as recorded.
#[component]
pub(super) fn Trust(detail: RunDetail) -> impl IntoView {
    let mark = detail.summary.mark;
    let checked = detail.verification.filter(Verification::holds);
    let checked = checked
        .filter(|_| mark != Some(Mark::Verified))
        .map(|found| view! { <Tag text="checked" hint=hint(&found)/> });
    view! { <MarkTerm mark/>{checked} }
}

/// The administrator who marked it, and the basis.
#[component]
pub(super) fn MarkedBy(detail: RunDetail) -> impl IntoView {
    let found = detail.verification.filter(Verification::holds);
    detail.verified.zip(found).map(|(mark, found)| {
        let day = format::day(&mark.at);
        let says = format!(
            "Marked as verified by {} on {day}. {}.",
            mark.by,
            hint(&found)
        );
        view! { <p class="quiet">{says}</p> }
    })
}

/// The differences from the record.
#[component]
pub(super) fn Differences(verification: Option<Verification>, run_id: String) -> impl IntoView {
    let found = verification.filter(|found| !found.differences.is_empty());
    found.map(|found| {
        let more = found.differences.len().saturating_sub(LISTED);
        let more = (more > 0).then(|| view! { <li>{format!("and {more} more")}</li> });
        let listed = found.differences.iter().take(LISTED).map(|difference| {
            let href = iteration_href(&run_id, &difference.evolution_id, difference.iteration);
            let place = format!("{}, iteration {}", difference.task_id, difference.iteration);
            view! { <li><a href=href>{place}</a>": "{difference.what.to_string()}</li> }
        });
        let all = format::count(found.checked, "iteration");
        view! {
            <div class="note" data-tone="bad">
                <p>
                    {format!(
                        "The tests of {all} were run again on {}; not all outcomes match the record:",
                        format::day(&found.at),
                    )}
                </p>
                <ul>{listed.collect_view()}{more}</ul>
            </div>
        }
    })
}

fn hint(found: &Verification) -> String {
    format!(
        "The tests of {} of {} iterations were run again on {}, and their outcomes match the record",
        found.checked,
        found.iterations,
        format::day(&found.at)
    )
}
