//! The tests an iteration gained and lost, and pytest's messages about them.

use std::collections::HashMap;

use leptos::either::Either;
use leptos::prelude::*;
use swe_ci_core::text::visible;
use swe_ci_views::failures::Failures;
use swe_ci_views::inspection::{ChangedTest, Ended};

use crate::components::CollectAny;
use crate::format;

/// The longest list; the JSON has all.
const MOST: usize = 500;
/// The tests of an error start unfolded up to this length.
const FEW: usize = 5;
/// Errors that are shown; the others are folded.
const LARGEST: usize = 3;

type Known = StoredValue<HashMap<String, ChangedTest>>;

#[component]
pub(in crate::pages) fn ChangedTests(
    gained: Vec<String>,
    lost: Vec<Failures>,
    changed: Vec<ChangedTest>,
    counts_only: bool,
    href: Callback<String, String>,
) -> impl IntoView {
    if counts_only {
        return Either::Left(view! {
            <p class="quiet">"The results say how many tests passed, but not which."</p>
        });
    }
    let known = changed.into_iter().map(|test| (test.node_id.clone(), test));
    let known = StoredValue::new(known.collect());
    Either::Right(view! {
        <LostTests failures=lost known href/>
        <Tests title="Gained" tests=gained known href/>
    })
}

/// The lost tests by their errors, each with the first message.
#[component]
fn LostTests(
    failures: Vec<Failures>,
    known: Known,
    href: Callback<String, String>,
) -> impl IntoView {
    let count: usize = failures.iter().map(|group| group.tests.len()).sum();
    if failures.is_empty() {
        return Either::Left(view! { <p class="tests">"Lost: none"</p> });
    }
    let item = move |test: String, is_shown: bool| {
        let details = known.with_value(|known| known.get(&test).cloned());
        let details = details.map(|test| match is_shown {
            true => view! { " "<span class="quiet">{outcomes(&test)}</span> }.into_any(),
            false => view! { <TestDetails test/> }.into_any(),
        });
        let href = href.run(test.clone());
        view! { <li><a href=href><code>{test}</code></a>{details}</li> }
    };
    let group = move |Failures {
                          error,
                          frame,
                          tests,
                          example,
                      }: Failures| {
        let number = format::count(tests.len(), "test");
        let cut = (tests.len() > MOST).then(|| {
            view! { <p class="quiet">{format!("The first {MOST}; the JSON has all.")}</p> }
        });
        let few = tests.len() <= FEW;
        let place = frame.map(|frame| {
            let place = visible(&frame.named()).into_owned();
            view! { <p class="failure-place"><code>{place}</code></p> }
        });
        // The first one's message stands above the list already.
        let items = tests.into_iter().take(MOST).enumerate();
        let items = items
            .map(|(place, test)| item(test, place == 0))
            .collect_any();
        let message = example.map(|ended| view! { <Message title="The first of them" ended/> });
        view! {
            <li class="failures">
                <p><strong>{number}</strong>": "<code>{visible(&error).into_owned()}</code></p>
                {place}
                {message}
                <details open=few>
                    <summary>"Which"</summary>
                    <ul class="test-list">{items}</ul>
                    {cut}
                </details>
            </li>
        }
    };
    let mut largest = failures;
    let others = largest.split_off(largest.len().min(LARGEST));
    let others = (!others.is_empty()).then(|| {
        let tests = others.iter().map(|group| group.tests.len()).sum::<usize>();
        let errors = format::count(others.len(), "more error");
        let summary = format!("{errors}, {}", format::count(tests, "test"));
        view! {
            <details class="fold">
                <summary>{summary}</summary>
                <ul class="failure-groups">{others.into_iter().map(group).collect_any()}</ul>
            </details>
        }
    });
    let largest = largest.into_iter().map(group).collect_any();
    Either::Right(view! {
        <details class="tests" open=true>
            <summary>{format!("Lost: {}", format::count(count, "test"))}</summary>
            <ul class="failure-groups">{largest}</ul>
            {others}
        </details>
    })
}

#[component]
fn Tests(
    title: &'static str,
    tests: Vec<String>,
    known: Known,
    href: Callback<String, String>,
) -> impl IntoView {
    let count = tests.len();
    let total = format::count(count, "test");
    let item = move |test: String| {
        let details = known.with_value(|known| known.get(&test).cloned());
        let details = details.map(|test| view! { <TestDetails test/> });
        let href = href.run(test.clone());
        view! { <li><a href=href><code>{test}</code></a>{details}</li> }
    };
    let items = tests.into_iter().take(MOST).map(item).collect_any();
    let cut = (count > MOST).then(|| {
        view! { <p class="quiet">{format!("The first {MOST}; the JSON has all.")}</p> }
    });
    if count == 0 {
        return Either::Left(view! { <p class="tests">{format!("{title}: none")}</p> });
    }
    Either::Right(view! {
        <details class="tests">
            <summary>{format!("{title}: {total}")}</summary>
            <ul class="test-list">{items}</ul>
            {cut}
        </details>
    })
}

fn outcomes(ChangedTest { before, after, .. }: &ChangedTest) -> String {
    format!("{} → {}", before.outcome.name(), after.outcome.name())
}

/// How a test ended before and after, and pytest's message, folded.
#[component]
fn TestDetails(test: ChangedTest) -> impl IntoView {
    let outcomes = outcomes(&test);
    let ChangedTest { before, after, .. } = test;
    if before.message.is_empty() && after.message.is_empty() {
        return Either::Left(view! { " "<span class="quiet">{outcomes}</span> });
    }
    Either::Right(view! {
        <details class="test-told">
            <summary>{outcomes}</summary>
            <Message title="Before" ended=before/>
            <Message title="After" ended=after/>
        </details>
    })
}

#[component]
fn Message(title: &'static str, ended: Ended) -> impl IntoView {
    let Ended {
        message, earlier, ..
    } = ended;
    (!message.is_empty()).then(|| {
        let cut = (earlier > 0).then(|| format!(", after {}", format::count(earlier, "line")));
        let message = visible(&message).into_owned();
        view! {
            <p class="test-when">{title}{cut}</p>
            <pre class="step-log" tabindex="0" role="region" aria-label=title>{message}</pre>
        }
    })
}
