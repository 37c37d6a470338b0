//! Filters of the list. A GET form, so that it works without JavaScript and
//! addresses can be shared.

use leptos::prelude::*;
use swe_ci_views::browse::{Size, TaskFilter};
use swe_ci_views::dataset::Counted;

use super::data::{Found, TasksQuery};
use crate::components::CollectAny;
use crate::components::{FilterSelect, spread_title};

/// The most names a list suggests; others can be typed.
const MOST_NAMES: usize = 200;

#[component]
pub(super) fn Filters<'a>(query: &'a TasksQuery, found: &'a Found) -> impl IntoView + use<> {
    let filter = &query.filter;
    let sort = query.order.name();
    let in_force = filter.pairs().len();
    let summary = match in_force {
        0 => String::new(),
        n => format!(" · {n} in force"),
    };
    let everything = query
        .with(|query| query.filter = TaskFilter::default())
        .href();
    let option = |value: &str, words: &str, chosen| (value.to_owned(), words.to_owned(), chosen);
    let findings = vec![
        option("", "any", filter.findings.is_none()),
        option("none", "without findings", filter.findings == Some(false)),
        option("some", "with findings", filter.findings == Some(true)),
    ];
    let states = vec![
        option("", "any", filter.ready.is_none()),
        option("ready", "can be run", filter.ready == Some(true)),
        option("unusable", "unusable", filter.ready == Some(false)),
    ];
    let sizes = Size::ALL.map(|size| view! { <Range filter=filter size/> });
    view! {
        <details class="narrowing" open=in_force != 0>
            <summary>
                "Search and filter"
                <span class="filters-on">{summary}</span>
            </summary>
            <form class="narrowing-form" method="get" action="/tasks" aria-label="Which tasks">
                {query.split.clone().map(|split| view! { <input type="hidden" name="split" value=split/> })}
                {(!sort.is_empty()).then(|| view! { <input type="hidden" name="sort" value=sort/> })}
                <label class="field">
                    <span>"Find"</span>
                    <input type="search" name="q" value=filter.search.clone() autocomplete="off" placeholder="task or repository"/>
                </label>
                <Names name="repo" label="Repository" known=found.repositories.clone() chosen=filter.repo.clone()/>
                <Names name="licence" label="Licence" known=found.licences.clone() chosen=filter.licence.clone()/>
                <FilterSelect name="findings" label="Findings" options=findings/>
                <FilterSelect name="state" label="State" options=states/>
                {sizes.collect_any()}
                <div class="narrowing-deeds">
                    <button class="button">"Show"</button>
                    <a href=everything>"Everything"</a>
                </div>
            </form>
        </details>
    }
}

#[component]
fn Names(
    name: &'static str,
    label: &'static str,
    known: Vec<Counted>,
    chosen: Option<String>,
) -> impl IntoView {
    let is_known = |chosen: &String| known.iter().any(|known| known.name == *chosen);
    let stranger = chosen.clone().filter(|chosen| !is_known(chosen));
    let option = |Counted { name, tasks }: &Counted| {
        let (text, is_chosen) = (format!("{name} · {tasks}"), chosen.as_ref() == Some(name));
        (name.clone(), text, is_chosen)
    };
    let any = (String::new(), "any".to_owned(), false);
    let mut options = vec![any];
    options.extend(known.iter().take(MOST_NAMES).map(option));
    options.extend(stranger.map(|name| (name.clone(), name, true)));
    view! { <FilterSelect name label options/> }
}

#[component]
fn Range<'a>(filter: &'a TaskFilter, size: Size) -> impl IntoView + use<> {
    let between = filter.sizes.get(&size);
    let label = spread_title(size);
    let input = |end: &str, least: &str, placeholder: &'static str, value: Option<f64>| {
        let value = value.filter(|value| value.is_finite());
        view! {
            <input
                type="number"
                name=format!("{end}_{}", size.name())
                aria-label=format!("{label}, {least}")
                placeholder=placeholder
                min=size.least().to_string()
                step="any"
                value=value.map(|value| value.to_string())
            />
        }
    };
    view! {
        <fieldset class="field range">
            <legend>{label}</legend>
            {input("min", "at least", "from", between.map(|b| b.from))}
            {input("max", "at most", "to", between.map(|b| b.to))}
        </fieldset>
    }
}
