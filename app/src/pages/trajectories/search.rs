//! The search for a text in all transcripts of a run.

use leptos::either::Either;
use leptos::prelude::*;
use swe_ci_core::text::visible;
use swe_ci_views::trajectories::{LONGEST_SEARCH, TranscriptHit, TranscriptSearch};

use super::data::{SearchAddress, search};
use super::places::{place_href, place_name};
use crate::components::CollectAny;
use crate::components::{PageTop, crumb, fetched, loaded};
use crate::format;
use crate::pages::routes::{run_href, search_href, trajectories_href};
use crate::query::of_address;

#[component]
pub fn TranscriptSearchPage() -> impl IntoView {
    let address = of_address(SearchAddress::of);
    let resource = fetched(move || address.get(), search);
    loaded(resource, |(address, found)| {
        let run = address.run.clone();
        view! {
            <PageTop
                title="Search in transcripts"
                description="Finds a text in all conversations of a run's agents with their models."
                crumbs=vec![
                    crumb("/runs", "Runs"),
                    crumb(run_href(&run), "Run"),
                    crumb(trajectories_href(&run, None, None, 0), "Trajectories"),
                ]
                lede="A text in all conversations of this run: prompts, answers, tool calls and their results. Case does not matter."
            />
            <SearchForm run=run.clone() q=address.q.clone()/>
            {found.map(|found| view! { <Found run found/> })}
        }
    })
}

/// A form that works without a script.
#[component]
pub(super) fn SearchForm(run: String, q: String) -> impl IntoView {
    view! {
        <div class="controls controls-plain transcript-find">
            <form method="get" role="search" action=search_href(&run, "", 0) class="field">
                <label for="transcripts-q">"Find in all transcripts"</label>
                <input
                    id="transcripts-q"
                    type="search"
                    name="q"
                    required=true
                    maxlength=LONGEST_SEARCH.to_string()
                    autocomplete="off"
                    spellcheck="false"
                    value=q
                />
                <button class="button">"Find"</button>
            </form>
        </div>
    }
}

#[component]
fn Found(run: String, found: TranscriptSearch) -> impl IntoView {
    let steps = format::count(found.hits.len(), "step");
    let searched = format!(
        "{} of {}",
        format::thousands(found.searched),
        format::count(found.recorded, "recorded step")
    );
    let next = found.next.map(|next| search_href(&run, &found.q, next));
    let status = match next {
        Some(_) => format!(
            "{steps} with “{}” in this part; searched so far: {searched}.",
            found.q
        ),
        None => format!("{steps} with “{}”; searched: {searched}.", found.q),
    };
    let skipped = (found.skipped > 0).then(|| {
        let skipped = format::count(found.skipped, "step");
        view! {
            <p class="note">{format!("{skipped} of this part could not be searched yet: the server is still reading the recordings. Search again in a moment.")}</p>
        }
    });
    let link = |rel: &'static str| {
        let next = next.clone();
        next.map(|href| view! { <a class="button" href=href rel=rel>"Search on"</a> })
    };
    let list = match found.hits.is_empty() {
        true => Either::Left(()),
        false => {
            let hits = found.hits.into_iter();
            let hits = hits.map(|hit| view! { <Hit run=run.clone() hit/> });
            Either::Right(view! { <ol class="transcript-hits">{hits.collect_any()}</ol> })
        }
    };
    view! {
        <p role="status">{status}</p>
        {skipped}
        {list}
        <nav class="paging" aria-label="Parts of the search">{link("next")}</nav>
    }
}

#[component]
fn Hit(run: String, hit: TranscriptHit) -> impl IntoView {
    let place = hit.place;
    let href = place_href(&run, &place);
    let hits = format::count(place.amount.times, "hit");
    let sample = (place.sample > 1).then(|| format!(", sample {}", place.sample));
    let (before, found, after) = hit.excerpt;
    let [before, found, after] = [before, found, after].map(|text| visible(&text).into_owned());
    view! {
        <li>
            <p>
                <a href=href>{place_name(&place)}</a>
                {format!(" of {}", place.task_id)}
                {sample}
                {format!(" · {hits}")}
            </p>
            <p class="excerpt"><code>"…"{before}<mark>{found}</mark>{after}"…"</code></p>
        </li>
    }
}
