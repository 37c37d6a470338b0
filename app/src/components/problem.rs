use leptos::prelude::*;

use crate::error::{AppError, ErrorKind};

/// What stands in the place of what could not be had.
#[component]
pub fn Problem(error: AppError) -> impl IntoView {
    // Hydration repeats no request, so the response's status is set where the
    // page is made; see `AppError`.
    let advice = match error.kind {
        ErrorKind::NotFound => "It may have been removed, or the address has a slip in it.",
        ErrorKind::Invalid => "Check the address.",
        ErrorKind::Unavailable => "Reload the page in a moment.",
        ErrorKind::Internal => "",
    };
    view! {
        <section class="problem" role="alert">
            <p class="problem-code">{error.kind.status()}</p>
            <h2>{error.kind.title()}</h2>
            <p>{error.message}</p>
            <p class="quiet">{advice}" "<a href="/">"Go to the leaderboard"</a></p>
        </section>
    }
}
