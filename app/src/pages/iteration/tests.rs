//! Which tests an iteration gained and lost.

use leptos::either::Either;
use leptos::prelude::*;

use crate::format;

/// No more of them are listed; the JSON has all.
const MOST: usize = 500;
/// So many stand there unfolded.
const FEW: usize = 30;

#[component]
pub(in crate::pages) fn ChangedTests(
    gained: Vec<String>,
    lost: Vec<String>,
    counts_only: bool,
    /// Where one can see what became of a test.
    href: Callback<String, String>,
) -> impl IntoView {
    if counts_only {
        return Either::Left(view! {
            <p class="quiet">"Only how many tests passed was reported, not which."</p>
        });
    }
    Either::Right(view! {
        <Tests title="Gained" tests=gained href/>
        <Tests title="Lost" tests=lost href/>
    })
}

#[component]
fn Tests(title: &'static str, tests: Vec<String>, href: Callback<String, String>) -> impl IntoView {
    let count = tests.len();
    let told = format::count(u32::try_from(count).unwrap_or(u32::MAX), "test");
    let item = move |test: String| {
        let href = href.run(test.clone());
        view! { <li><a href=href><code>{test}</code></a></li> }
    };
    let items = tests.into_iter().take(MOST).map(item).collect_view();
    let cut = (count > MOST).then(|| {
        view! { <p class="quiet">{format!("The first {MOST}; the JSON has all.")}</p> }
    });
    if count == 0 {
        return Either::Left(view! { <p class="tests">{format!("{title}: none")}</p> });
    }
    Either::Right(view! {
        <details class="tests" open=count <= FEW>
            <summary>{format!("{title}: {told}")}</summary>
            <ul class="test-list">{items}</ul>
            {cut}
        </details>
    })
}
