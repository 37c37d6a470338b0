//! Row counts, downloads of the rows, and citing.

use std::sync::Arc;

use leptos::prelude::*;
use swe_ci_core::metrics::METRIC_VERSION;
use swe_ci_views::leaderboard::Row;
use swe_ci_views::leaderboard::export::{Basis, Citation};

use super::board_state::BoardState;
use super::tie_mark::Places;
use crate::context::PublicUrl;
use crate::format;
use crate::query::{Query, Reading};

/// "12 of 40 rows", and a link to all of them.
#[component]
pub(super) fn Shown(
    rows: Memo<Vec<Arc<Row>>>,
    places: Memo<Places>,
    state: BoardState,
    split: String,
) -> impl IntoView {
    let count = move || how_many(places.with(|places| places.list.len()), rows.with(Vec::len));
    let all = move || {
        let href = move || state.href(|reading| reading.view = reading.view.of_all());
        let filters = state.get().view.filters();
        filters.then(|| view! { " "<a href=href data-noscroll="">"Show all"</a> })
    };
    let split = StoredValue::new(split);
    let file = move |path: &'static str| {
        move || split.with_value(|split| view_href(path, split, &state.get()))
    };
    view! {
        <div class="shown">
            <p>
                <span role="status">{count}</span>
                {all}
            </p>
            <p class="shown-files">
                <a href=file("leaderboard.csv") rel="external" download="" title="Exactly these rows and columns">"CSV"</a>
                <a href=file("leaderboard") rel="external" title="These rows, with all figures">"JSON"</a>
            </p>
        </div>
    }
}

fn how_many(shown: usize, all: usize) -> String {
    let rows = format::count(all, "row");
    match shown == all {
        true => rows,
        false => format!("{shown} of {rows}"),
    }
}

/// A citation of the view, folded.
#[component]
pub(super) fn Cite(
    rows: Memo<Vec<Arc<Row>>>,
    state: BoardState,
    split: String,
    tasks: u32,
    today: String,
) -> impl IntoView {
    let known = use_context::<Option<PublicUrl>>().flatten();
    let origin = RwSignal::new(known.map_or_else(String::new, |url| url.at("")));
    Effect::new(move || {
        // Without a configured address, the browser uses its own.
        if origin.with_untracked(String::is_empty)
            && let Ok(here) = window().location().origin()
        {
            origin.set(here);
        }
    });
    let citation = Memo::new(move |_| {
        let reading = Reading {
            split: Some(split.clone()),
            ..state.get()
        };
        let source = Citation {
            address: format!("{}{}", origin.get(), reading.href()),
            basis: Basis {
                split: split.clone(),
                gamma: reading.gamma,
                convention: reading.convention,
                unseen: reading.view.unseen,
            },
            date: today.clone(),
            runs: rows.with(Vec::len),
            tasks,
            metric_version: METRIC_VERSION,
        };
        (source.plain(), source.bibtex())
    });
    view! {
        <details class="cite">
            <summary>"Cite this view"</summary>
            <p>{move || citation.get().0}</p>
            <pre class="command"><code>{move || citation.get().1}</code></pre>
        </details>
    }
}

/// The same ranking in the API.
pub(super) fn api_href(path: &str, split: &str, reading: &Reading) -> String {
    format!("/api/v1/{path}{}", ranking(split, reading).0)
}

/// The same with the view: which rows, in which order, and for tables which
/// columns.
fn view_href(path: &str, split: &str, reading: &Reading) -> String {
    let mut query = ranking(split, reading);
    query.add_rows(&reading.view);
    if path.ends_with(".csv") {
        query.add_columns(reading.view.columns);
    }
    format!("/api/v1/{path}{}", query.0)
}

fn ranking(split: &str, reading: &Reading) -> Query {
    Query::of_ranking(Some(split), reading.gamma, reading.convention)
}

#[cfg(test)]
mod tests {
    use super::*;
    use leptos_router::params::ParamsMap;

    #[test]
    fn addresses_of_the_api() {
        let mut map = ParamsMap::new();
        let usual = Reading::of(&map);
        assert_eq!(
            api_href("plots/x.svg", "a b", &usual),
            "/api/v1/plots/x.svg?split=a%20b&gamma=1.00&convention=paper"
        );
        map.insert("sort", "-solved".into());
        map.insert("text", "m n".into());
        map.insert("columns", "turns".into());
        let view = Reading::of(&map);
        let check = |path, expect: &str| {
            let href = view_href(path, "s", &view);
            let (_, tail) = href.split_once("paper").unwrap();
            assert_eq!(tail, expect);
        };
        check("leaderboard", "&text=m%20n&sort=-solved");
        check("leaderboard.csv", "&text=m%20n&sort=-solved&columns=turns");
    }

    #[test]
    fn how_many_rows() {
        let check = |shown, all, expect: &str| assert_eq!(how_many(shown, all), expect);
        check(0, 0, "0 rows");
        check(1, 1, "1 row");
        check(40, 40, "40 rows");
        check(12, 40, "12 of 40 rows");
    }
}
