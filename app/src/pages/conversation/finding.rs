//! Searching a transcript, and moving from hit to hit.

use leptos::either::Either;
use leptos::prelude::*;
use swe_ci_views::conversation::{Found, RecordedStep};

use super::data::{LONGEST_TEXT, link_to, path};
use crate::format;

/// A form that works without a script: the server renders the hits.
#[component]
pub(super) fn Finding(step: RecordedStep, found: Option<Found>) -> impl IntoView {
    let q = found.as_ref().map(|found| found.q.clone());
    let q = q.unwrap_or_default();
    let hits = found.map(|found| view! { <Hits step=step.clone() found/> });
    view! {
        <div class="controls controls-plain said-finding">
            <form method="get" role="search" action=path(&step) class="field">
                <input type="hidden" name="attempt" value=step.attempt.to_string()/>
                <label for="said-q">"Find"</label>
                <input
                    id="said-q"
                    type="search"
                    name="q"
                    maxlength=LONGEST_TEXT.to_string()
                    autocomplete="off"
                    spellcheck="false"
                    value=q
                />
                <button class="button">"Find"</button>
            </form>
            {hits}
        </div>
    }
}

#[component]
fn Hits(step: RecordedStep, found: Found) -> impl IntoView {
    let hits = hits_in_words(&found);
    if found.hits == 0 {
        return Either::Left(view! { <p role="status">{hits}</p> });
    }
    Either::Right(view! {
        <p role="status">{hits}</p>
        {link_to(&step, found.previous, &found.q, "Previous hit", "prev")}
        {link_to(&step, found.next, &found.q, "Next hit", "next")}
    })
}

/// "12 hits in 5 messages; the first here is number 2 of 5".
fn hits_in_words(found: &Found) -> String {
    let Found {
        hits,
        messages,
        here,
        ..
    } = *found;
    if hits == 0 {
        return "It does not occur.".to_owned();
    }
    let all = format!(
        "{} in {}",
        format::count(hits, "hit"),
        format::count(messages, "message")
    );
    match here {
        Some(here) => format!("{all}; the first here is number {here} of {messages}"),
        None => format!("{all}; all of them are earlier"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_words() {
        let check = |hits, messages, here, expect: &str| {
            let found = Found {
                q: "x".into(),
                hits,
                messages,
                here,
                previous: None,
                next: None,
            };
            assert_eq!(hits_in_words(&found), expect);
        };
        check(0, 0, None, "It does not occur.");
        check(
            1,
            1,
            Some(1),
            "1 hit in 1 message; the first here is number 1 of 1",
        );
        check(
            12,
            5,
            None,
            "12 hits in 5 messages; all of them are earlier",
        );
    }
}
