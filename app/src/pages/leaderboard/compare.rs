//! Ticked rows, side by side on the page that compares runs.

use leptos::prelude::*;

use super::controls::Hidden;
use crate::components::HiddenFields;
use crate::query::Reading;

/// The id of the form that the boxes of the rows belong to.
pub(super) const COMPARE: &str = "compare";

/// Compares the ticked rows. With scripts it stays at the lower edge of the
/// screen once a row is ticked.
#[component]
pub(super) fn CompareBar(reading: Reading) -> impl IntoView {
    let snapshot = reading.snapshot.clone().map(|day| ("snapshot", day));
    view! {
        <form id=COMPARE class="compare-bar" method="get" action="/compare">
            <HiddenFields fields=snapshot.into_iter().collect()/>
            <Hidden reading gamma=true view=false/>
            <strong class="compare-count" role="status"></strong>
            <span>"Tick two to six rows to compare them."</span>
            <button class="button button-main">"Compare"</button>
        </form>
    }
}
