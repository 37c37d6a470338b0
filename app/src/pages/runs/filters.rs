//! Filters of the list of runs. A GET form, so that it works without JavaScript
//! and addresses can be shared.

use leptos::prelude::*;
use leptos_router::params::ParamsMap;
use swe_ci_core::run::{Kind, Progress};
use swe_ci_views::account::AccountRole;
use swe_ci_views::run_list::RunFilter;
use swe_ci_views::view::SplitSummary;

use crate::components::FilterSelect;
use crate::context::Reader;
use crate::query::{Query, named};

/// The value of `mine=` that shows only the reader's runs.
const MINE: &str = "yes";

/// The query of the list.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct RunsQuery {
    pub filter: RunFilter,
    pub after: Option<String>,
}

impl RunsQuery {
    /// Invalid values count as absent.
    pub(super) fn of(query: &ParamsMap) -> Self {
        Self {
            filter: RunFilter {
                mine: query.get_str("mine") == Some(MINE),
                progress: query.get_str("progress").and_then(Progress::from_name),
                split: named(query, "split"),
                kinds: kinds(query.get_str("kind").unwrap_or_default()),
                text: named(query, "text").unwrap_or_default(),
            },
            after: named(query, "after"),
        }
    }

    /// The list from the run after this one on; from the newest without one.
    pub(super) fn href(&self, after: Option<String>) -> String {
        let RunFilter {
            mine,
            progress,
            split,
            kinds,
            text,
        } = &self.filter;
        let text = text.trim();
        let kinds: Vec<&str> = kinds.iter().map(|kind| kind.name()).collect();
        Query::default()
            .with("mine", mine.then_some(MINE))
            .with("progress", progress.map(Progress::name))
            .with("split", split.as_deref())
            .with("kind", (!kinds.is_empty()).then(|| kinds.join(",")))
            .with("text", (!text.is_empty()).then_some(text))
            .with("after", after)
            .at("/runs")
    }

    pub(super) fn filters(&self) -> bool {
        self.folded() > 0 || !self.filter.text.trim().is_empty()
    }

    /// How many of the folded filters are in force.
    fn folded(&self) -> usize {
        let filter = &self.filter;
        let on = [
            filter.mine,
            filter.progress.is_some(),
            filter.split.is_some(),
            !filter.kinds.is_empty(),
        ];
        on.into_iter().filter(|on| *on).count()
    }
}

/// Names of kinds, separated by commas.
fn kinds(names: &str) -> Vec<Kind> {
    names.split(',').filter_map(Kind::from_name).collect()
}

#[component]
pub(super) fn Filters<'a>(
    query: &'a RunsQuery,
    splits: Vec<SplitSummary>,
) -> impl IntoView + use<> {
    let filter = &query.filter;
    let all = query
        .filters()
        .then(|| view! { <a href="/runs">"Everything"</a> });
    let folded = query.folded();
    let summary = match folded {
        0 => String::new(),
        n => format!(" · {n} in force"),
    };
    let any = |chosen| (String::new(), "any".to_owned(), chosen);
    let states = Progress::ALL.map(|progress| {
        let name = progress.name().to_owned();
        (name.clone(), name, filter.progress == Some(progress))
    });
    let states = [vec![any(filter.progress.is_none())], states.to_vec()].concat();
    let splits = splits.into_iter().map(|SplitSummary { name, .. }| {
        let chosen = filter.split.as_ref() == Some(&name);
        (name.clone(), name, chosen)
    });
    let splits = [vec![any(filter.split.is_none())], splits.collect()].concat();
    let kinds = Kind::ALL.map(|kind| {
        let name = kind.name().to_owned();
        (name.clone(), name, filter.kinds == [kind])
    });
    let kinds = [vec![any(filter.kinds.is_empty())], kinds.to_vec()].concat();
    let mine = filter.mine;
    let mine = Reader::at_hand().is(AccountRole::Reader).then(|| {
        view! {
            <label class="box">
                <input type="checkbox" name="mine" value=MINE checked=mine/>
                "Only mine"
            </label>
        }
    });
    view! {
        <form class="find" method="get" action="/runs" aria-label="Which runs" data-in-place="">
            <label class="field">
                <span>"Find"</span>
                <input type="search" name="text" value=filter.text.clone() autocomplete="off" placeholder="model, provider, harness"/>
            </label>
            <button class="button">"Show"</button>
            {all}
            <details class="narrowing" open={folded > 0}>
                <summary>
                    "Filter"
                    <span class="filters-on">{summary}</span>
                </summary>
                <div class="narrowing-form">
                    <FilterSelect name="progress" label="State" options=states/>
                    <FilterSelect name="split" label="Split" options=splits/>
                    <FilterSelect name="kind" label="Kind" options=kinds/>
                    {mine}
                </div>
            </details>
        </form>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_and_back() {
        let check = |pairs: &[(&'static str, &str)], expect: &str| {
            let query = pairs.iter().map(|(k, v)| (*k, (*v).to_owned())).collect();
            let query = RunsQuery::of(&query);
            assert_eq!(query.href(query.after.clone()), expect);
        };
        check(&[], "/runs");
        check(
            &[
                ("after", "r-1"),
                ("text", "a b"),
                ("split", "demo"),
                ("kind", "measured"),
                ("progress", "running"),
                ("mine", "yes"),
            ],
            "/runs?mine=yes&progress=running&split=demo&kind=measured&text=a%20b&after=r-1",
        );
        // As a form without any choice sends it, and invalid values.
        check(&[("text", ""), ("progress", ""), ("split", "")], "/runs");
        check(&[("text", " "), ("progress", "x"), ("mine", "x")], "/runs");
        check(
            &[("kind", "human,x,imported")],
            "/runs?kind=human%2Cimported",
        );
    }
}
