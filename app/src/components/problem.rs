use leptos::either::Either;
use leptos::prelude::*;

use super::{PageHead, SignIn};
use crate::error::{AppError, ErrorKind};

/// An error in place of the content that failed to load.
#[component]
pub fn Problem(
    error: AppError,
    /// Whether it replaces the whole page, and so sets the title.
    #[prop(optional)]
    page: bool,
) -> impl IntoView {
    // Hydration repeats no request, so the status is set where the error is
    // created; see `AppError`.
    let advice = match error.kind {
        ErrorKind::NotFound => "It may have been removed, or the address has a typo.",
        ErrorKind::Invalid => "Check the address.",
        ErrorKind::Unavailable => "Reload the page in a moment.",
        ErrorKind::TooMany => "Wait before you try again.",
        ErrorKind::SignIn | ErrorKind::Forbidden | ErrorKind::Internal => "",
    };
    let way_on = match error.kind {
        ErrorKind::SignIn => Either::Left(view! { <SignIn/> }),
        _ => Either::Right(view! { <a href="/">"Go to the leaderboard"</a> }),
    };
    let title = error.kind.title();
    let head = if page {
        Either::Left(view! {
            <PageHead title description=error.message.clone() missing=true/>
            <h1>{title}</h1>
        })
    } else {
        Either::Right(view! { <h2>{title}</h2> })
    };
    view! {
        <section class="problem" role="alert">
            <p class="problem-code">{error.kind.status()}</p>
            {head}
            <p>{error.message}</p>
            <p class="quiet">{advice}" "{way_on}</p>
        </section>
    }
}
