use leptos::prelude::*;
use swe_ci_views::background::{BackgroundWork, WorkState};

use super::{Poll, Time};

/// How often a page with work in the background is rendered anew.
const SECONDS: u32 = 3;

/// Work that a page started: how far it is, or how it ended. The page follows it.
#[component]
pub fn WorkNote(
    work: BackgroundWork,
    /// Its name, such as "Verification".
    what: &'static str,
) -> impl IntoView {
    let poll = work.is_active().then(|| view! { <Poll seconds=SECONDS/> });
    let progress = match work.progress.is_empty() {
        true => String::new(),
        false => format!(": {}", work.progress),
    };
    let (tone, says) = match work.state {
        WorkState::Queued => (None, format!("{what} waits for a worker")),
        WorkState::Working => (None, format!("{what} at work{progress}")),
        WorkState::Done { result } => (Some("good"), format!("{what} done: {result}")),
        WorkState::Failed { reason } => (Some("bad"), format!("{what} failed: {reason}")),
    };
    view! {
        <p class="note" data-tone=tone role="status">
            {says}" "
            <small>"Started by "{work.by}", "<Time at=Some(work.began_at)/></small>
            {poll}
        </p>
    }
}
