use std::future::Future;
use std::pin::Pin;

use leptos::either::Either;
use leptos::prelude::*;
use leptos::tachys::reactive_graph::OwnedView;

use super::{PageHead, SignIn};
use crate::error::{AppError, ErrorKind};

/// The data of a page to come.
pub type Fetched<T> = Pin<Box<dyn Future<Output = Result<T, AppError>> + Send>>;

/// Fetches the data for a part of the address.
pub fn fetched<A, T, F>(asked: impl Fn() -> A, fetch: impl FnOnce(A) -> F) -> Fetched<T>
where
    F: Future<Output = Result<T, AppError>> + Send + 'static,
{
    Box::pin(fetch(asked()))
}

/// The data once it is there, or its error.
pub fn loaded<T, V>(data: Fetched<T>, show: impl FnOnce(T) -> V + Send + 'static) -> impl IntoView
where
    T: 'static,
    V: IntoView + 'static,
{
    // The view's signals live as long as the view.
    let owner = Owner::current().unwrap_or_default();
    Suspend::new(async move {
        let data = data.await;
        let view = owner.with(|| match data {
            Ok(data) => Either::Left(show(data)),
            Err(error) => Either::Right(view! { <Problem error page=true/> }),
        });
        OwnedView::new_with_owner(view, owner)
    })
}

/// An error in place of the content that failed to load.
#[component]
pub fn Problem(
    error: AppError,
    /// Whether it replaces the whole page, and so sets the title.
    #[prop(optional)]
    page: bool,
) -> impl IntoView {
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

/// The content to come, and the command that produces it.
#[component]
pub fn Empty(
    #[prop(into)] title: String,
    /// The commands, one per line.
    #[prop(optional, into)]
    command: String,
    children: Children,
) -> impl IntoView {
    view! {
        <section class="empty">
            <svg class="empty-picture" viewBox="0 0 120 48" aria-hidden="true">
                <path class="empty-goal" d="M8 8H112"/>
                <path class="empty-line" d="M8 40L30 33L52 35L74 22L96 17L112 9"/>
                <circle cx="8" cy="40" r="3"/>
                <circle cx="112" cy="9" r="3"/>
            </svg>
            <h2>{title}</h2>
            <div class="empty-text">{children()}</div>
            {(!command.is_empty()).then(|| view! { <pre class="command" tabindex="0"><code>{command}</code></pre> })}
        </section>
    }
}

/// Without any dataset: how to get tasks, and how to run them.
#[component]
pub fn NoTasks(
    /// The content to come.
    will: &'static str,
) -> impl IntoView {
    view! {
        <Empty title="No tasks yet" command="swe-ci dataset demo\nswe-ci run submit --human --split demo">
            <p>
                {will}
                " The first command creates four small tasks from the release histories of real packages. The second replays the maintainers' changes: the human baseline."
            </p>
            <p>
                "A server that was started with " <code>"--demo"</code>
                ", as by " <code>"make run"</code> ", does both by itself: load this page again in a minute."
            </p>
        </Empty>
    }
}

/// For a split without scored runs.
#[component]
pub fn NoRuns(
    split: String,
    /// The content to come, and when.
    will: &'static str,
) -> impl IntoView {
    view! {
        <Empty
            title=format!("No results on {split} yet")
            command=format!("swe-ci run submit --human --split {split}")
        >
            <p>
                {will}
                " This command replays the real history of every task through the same loop and grading: the human baseline. "
                <a href="/runs">"See what is running"</a>
            </p>
        </Empty>
    }
}
