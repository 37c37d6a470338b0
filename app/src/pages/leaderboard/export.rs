//! Row counts, downloads of the rows, and citing.

use leptos::prelude::*;
use swe_ci_core::metrics::METRIC_VERSION;
use swe_ci_views::leaderboard::Snapshot;
use swe_ci_views::leaderboard::citation::{Citation, Cited};
use swe_ci_views::leaderboard::export::Basis;

use super::row::{RowTag, tag};
use crate::components::CollectAny;
use crate::components::{Cite, Part};
use crate::format;
use crate::query::{Query, Reading};

/// "12 of 40 rows", a link to all of them, and the same as files.
#[component]
pub(super) fn Shown(
    /// The part of the view that is on the page.
    part: Part,
    /// Rows of the ranking.
    all: usize,
    /// Caveats about all shown rows.
    common: Vec<RowTag>,
    reading: Reading,
    split: String,
) -> impl IntoView {
    let unfiltered = Reading {
        view: reading.view.of_all(),
        ..reading.clone()
    };
    let filters = reading.view.filters();
    let common = (!common.is_empty()).then(|| {
        let tags = common.into_iter().map(tag).collect_any();
        view! { " all "<span class="tags">{tags}</span> }
    });
    let link = filters.then(|| view! { " "<a href=unfiltered.href()>"Show all"</a> });
    view! {
        <div class="shown">
            <p>
                <span role="status">{how_many(part.all(), all)}{part.here().map(|here| format!(".{here}"))}</span>
                {link}
                {common}
            </p>
            <p class="shown-files">
                <a href=view_href("leaderboard.csv", &split, &reading) download="" title="Exactly these rows and columns">"CSV"</a>
                <a href=view_href("leaderboard", &split, &reading) title="These rows, with all figures">"JSON"</a>
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
pub(super) fn CiteView(
    runs: usize,
    reading: Reading,
    split: String,
    tasks: u32,
    today: String,
    snapshot: Option<Snapshot>,
) -> impl IntoView {
    let reading = Reading {
        split: Some(split.clone()),
        ..reading
    };
    let citation = Citation {
        cited: Cited::Leaderboard,
        address: reading.href(),
        basis: Basis {
            split,
            gamma: reading.gamma,
            convention: reading.convention,
            unseen: reading.view.unseen,
            made_on: today,
            snapshot,
        },
        runs,
        tasks: tasks as usize,
        metric_version: METRIC_VERSION,
        platform_version: env!("CARGO_PKG_VERSION"),
    };
    view! { <Cite what="Cite this view" citation/> }
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
    let snapshot = reading.snapshot.as_deref();
    Query::of_ranking(
        snapshot,
        Some(split),
        reading.mode,
        reading.gamma,
        reading.convention,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use swe_ci_core::metrics::{Convention, Gamma};
    use swe_ci_core::requirement::Mode;
    use swe_ci_views::leaderboard::{Columns, View};

    #[test]
    fn addresses_of_the_api() {
        let usual = Reading {
            snapshot: None,
            split: None,
            mode: Mode::Tdd,
            gamma: Gamma::ONE,
            convention: Convention::Paper,
            published: true,
            from: 0,
            open: None,
            from_leader: false,
            by_rank: false,
            papers_range: false,
            view: View::default(),
        };
        assert_eq!(
            api_href("plots/x.svg", "a b", &usual),
            "/api/v1/plots/x.svg?split=a%20b&gamma=1.00&convention=paper"
        );
        let view = Reading {
            view: View {
                text: "m n".into(),
                sort: "-solved".parse().unwrap(),
                columns: Columns::of_names(["turns"]).unwrap(),
                ..View::default()
            },
            ..usual
        };
        let check = |path, expect: &str| {
            let href = view_href(path, "s", &view);
            let (_, tail) = href.split_once("paper").unwrap();
            assert_eq!(tail, expect);
        };
        check("leaderboard", "&text=m%20n&sort=-solved");
        check("leaderboard.csv", "&text=m%20n&sort=-solved&columns=turns");
        let frozen = Reading {
            snapshot: Some("2026-11-27".into()),
            ..view
        };
        let href = view_href("leaderboard", "s", &frozen);
        assert!(
            href.starts_with("/api/v1/leaderboard?snapshot=2026-11-27&split=s&"),
            "{href}"
        );
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
