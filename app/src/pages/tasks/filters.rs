//! What narrows the list. A form that asks for an address, so that it works
//! without JavaScript and what was found can be sent to others.

use leptos::prelude::*;
use swe_ci_core::browse::{Size, TaskFilter};
use swe_ci_core::dataset::Counted;

use super::data::{Asked, Found};
use crate::components::spread_title;

/// A list of names offers no more than this; others can be searched for.
const MOST_NAMES: usize = 200;

#[component]
pub(super) fn Filters<'a>(asked: &'a Asked, found: &'a Found) -> impl IntoView + use<> {
    let filter = &asked.filter;
    let sort = asked.order.name();
    let in_force = filter.pairs().len();
    let summary = match in_force {
        0 => String::new(),
        n => format!(" · {n} in force"),
    };
    let everything = asked
        .with(|asked| asked.filter = TaskFilter::default())
        .href();
    let findings = [
        ("", "any", filter.findings.is_none()),
        ("none", "without findings", filter.findings == Some(false)),
        ("some", "with findings", filter.findings == Some(true)),
    ];
    let states = [
        ("", "any", filter.ready.is_none()),
        ("ready", "can be run", filter.ready == Some(true)),
        ("unusable", "unusable", filter.ready == Some(false)),
    ];
    let sizes = Size::ALL.map(|size| view! { <Range filter=filter size/> });
    view! {
        <details class="narrowing" open=in_force != 0>
            <summary>
                "Search and filter"
                <span class="filters-on">{summary}</span>
            </summary>
            <form class="narrowing-form" method="get" action="/tasks" aria-label="Which tasks">
                {asked.split.clone().map(|split| view! { <input type="hidden" name="split" value=split/> })}
                {(!sort.is_empty()).then(|| view! { <input type="hidden" name="sort" value=sort/> })}
                <label class="field">
                    <span>"Find"</span>
                    <input type="search" name="q" value=filter.search.clone() autocomplete="off" placeholder="task or repository"/>
                </label>
                <Names name="repo" label="Repository" known=found.repositories.clone() chosen=filter.repo.clone()/>
                <Names name="licence" label="Licence" known=found.licences.clone() chosen=filter.licence.clone()/>
                <OneOf name="findings" label="Findings" options=findings.to_vec()/>
                <OneOf name="state" label="State" options=states.to_vec()/>
                {sizes.collect_view()}
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
    let there = |chosen: &String| known.iter().any(|known| known.name == *chosen);
    let stranger = chosen.clone().filter(|chosen| !there(chosen));
    let option = |Counted { name, tasks }: Counted| {
        let selected = chosen.as_ref() == Some(&name);
        view! { <option value=name.clone() selected=selected>{format!("{name} · {tasks}")}</option> }
    };
    let options = known.iter().take(MOST_NAMES).cloned().map(option);
    view! {
        <label class="field">
            <span>{label}</span>
            <select name=name>
                <option value="">"any"</option>
                {options.collect_view()}
                {stranger.map(|name| view! { <option value=name.clone() selected=true>{name.clone()}</option> })}
            </select>
        </label>
    }
}

#[component]
fn OneOf(
    name: &'static str,
    label: &'static str,
    /// Value, words, and whether it is chosen.
    options: Vec<(&'static str, &'static str, bool)>,
) -> impl IntoView {
    let options = options.into_iter().map(|(value, words, chosen)| {
        view! { <option value=value selected=chosen>{words}</option> }
    });
    view! {
        <label class="field">
            <span>{label}</span>
            <select name=name>{options.collect_view()}</select>
        </label>
    }
}

#[component]
fn Range<'a>(filter: &'a TaskFilter, size: Size) -> impl IntoView + use<> {
    let between = filter.sizes.get(&size);
    let shown = |value: Option<f64>| {
        let value = value.filter(|value| value.is_finite());
        value.map(|value| value.to_string())
    };
    let (from, to) = (shown(between.map(|b| b.from)), shown(between.map(|b| b.to)));
    let label = spread_title(size);
    view! {
        <fieldset class="field range">
            <legend>{label}</legend>
            <input
                type="number"
                name=format!("min_{}", size.name())
                aria-label=format!("{label}, at least")
                placeholder="from"
                min="0"
                step="any"
                value=from
            />
            <input
                type="number"
                name=format!("max_{}", size.name())
                aria-label=format!("{label}, at most")
                placeholder="to"
                min="0"
                step="any"
                value=to
            />
        </fieldset>
    }
}
