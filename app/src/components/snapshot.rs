//! Pages of a snapshot.

use leptos::prelude::*;
use swe_ci_views::leaderboard::Snapshot;

/// Says that a page shows a snapshot, if it does.
#[component]
pub fn SnapshotNote(
    snapshot: Option<Snapshot>,
    /// The address of the same page now.
    now: String,
) -> impl IntoView {
    snapshot.map(|snapshot| {
        let path = snapshot.path();
        view! {
            <p class="note">
                "As in the "
                <a href=path>"snapshot of "{snapshot.day}", split "{snapshot.split}</a>
                ". "
                <a href=now>"The same now"</a>
            </p>
        }
    })
}
