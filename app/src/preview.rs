//! How other sites show a link to a page: canonical address and picture.

use leptos_router::params::ParamsMap;
use swe_ci_views::leaderboard::View;

use crate::query::{Reading, encode, list, reading_of};

/// The parameters that select the content of a page. Others, such as click
/// counters that linking sites add, do not make a page of their own.
const KNOWN: [&str; 24] = [
    "split",
    "gamma",
    "convention",
    "runs",
    "with",
    "task",
    "only",
    "sample",
    "iteration",
    "after",
    "published",
    "kind",
    "provider",
    "text",
    "seen",
    "sort",
    "columns",
    "show",
    "q",
    "attempt",
    "from",
    "tests",
    "view",
    "by",
];

/// The canonical address. It keeps the parameters of a view: another γ is
/// another ranking, and browsers share this address instead of their own.
pub(crate) fn canonical(path: &str, search: &str) -> String {
    let pairs = search.trim_start_matches('?').split('&');
    let known = pairs.filter(|pair| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        KNOWN.contains(&name) && !value.is_empty()
    });
    let known: Vec<&str> = known.collect();
    match known.is_empty() {
        true => path.to_owned(),
        false => format!("{path}?{}", known.join("&")),
    }
}

/// The picture of the page; the server draws it from the same data.
pub(crate) fn picture(path: &str, query: &ParamsMap) -> String {
    let parts: Vec<&str> = path.trim_matches('/').split('/').collect();
    let reading = reading_of(query);
    match parts.as_slice() {
        [""] => format!("/og/leaderboard.png{}", counting(reading, true)),
        ["figures"] => format!(
            "/og/figures/evoscore-by-release.png{}",
            counting(reading, true)
        ),
        ["embed", figure] => format!("/og/figures/{figure}.png{}", counting(reading, true)),
        ["models", name] => format!("/og/models/{name}.png"),
        ["tasks", id] => format!("/og/tasks/{id}.png"),
        ["runs", id] => format!("/og/runs/{id}.png"),
        ["runs", id, "tasks", task] => {
            format!("/og/runs/{id}/tasks/{task}.png{}", sample(query))
        }
        ["runs", id, evolution, iteration] | ["runs", id, evolution, iteration, _] => {
            format!("/og/runs/{id}/{evolution}/{iteration}.png")
        }
        ["compare"] => match runs(query) {
            Some(runs) => {
                let counting = counting(reading, false).replacen('?', "&", 1);
                format!("/og/compare.png?runs={runs}{counting}")
            }
            None => "/og/pages/compare.png".to_owned(),
        },
        [page @ ("runs" | "tasks" | "matrix" | "about")] => format!("/og/pages/{page}.png"),
        _ => "/og/pages/site.png".to_owned(),
    }
}

/// γ, convention and split, without defaults.
fn counting(reading: Reading, of_split: bool) -> String {
    let counted = Reading {
        split: reading.split.filter(|_| of_split),
        published: true,
        view: View::default(),
        from_leader: false,
        by_rank: false,
        ..reading
    };
    counted.to_query()
}

fn sample(query: &ParamsMap) -> String {
    let sample = query.get_str("sample").and_then(|n| n.parse::<u32>().ok());
    let sample = sample.filter(|n| *n > 1);
    sample.map_or_else(String::new, |n| format!("?sample={n}"))
}

/// The runs of a comparison, in one parameter or several.
fn runs(query: &ParamsMap) -> Option<String> {
    let ids = list(query, "runs");
    let ids = ids.iter().map(|id| id.trim()).filter(|id| !id.is_empty());
    let ids: Vec<String> = ids.map(encode).collect();
    (ids.len() > 1).then(|| ids.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_keeps_what_decides_on_the_page() {
        let check = |search: &str, expect: &str| assert_eq!(canonical("/x", search), expect);
        check("", "/x");
        check("?gamma=1.50&split=demo", "/x?gamma=1.50&split=demo");
        check("utm_source=a&gamma=2&fbclid=b", "/x?gamma=2");
        check("split=&gamma", "/x");
        check("a=\"><script>", "/x");
    }

    #[test]
    fn every_page_has_a_picture() {
        let check = |path: &str, pairs: &[(&'static str, &str)], expect: &str| {
            let query = pairs.iter().map(|(k, v)| (*k, (*v).to_owned())).collect();
            assert_eq!(picture(path, &query), expect);
        };
        check("/", &[], "/og/leaderboard.png");
        // Parameters with default values are left out of the picture's address.
        check(
            "/",
            &[("gamma", "x"), ("convention", "mine"), ("sort", "solved")],
            "/og/leaderboard.png",
        );
        check(
            "/",
            &[("split", "a b"), ("gamma", "99")],
            "/og/leaderboard.png?split=a%20b&gamma=10.00",
        );
        check("/embed/solved", &[], "/og/figures/solved.png");
        check("/models/%3Cb%3E", &[], "/og/models/%3Cb%3E.png");
        check(
            "/runs/r/tasks/t-1.2",
            &[("sample", "2"), ("q", "x")],
            "/og/runs/r/tasks/t-1.2.png?sample=2",
        );
        check("/runs/r/e/3", &[("sample", "0")], "/og/runs/r/e/3.png");
        check("/compare", &[("runs", "a")], "/og/pages/compare.png");
        check(
            "/compare",
            &[("runs", "a, b"), ("gamma", "1.5"), ("split", "s")],
            "/og/compare.png?runs=a,b&gamma=1.50",
        );
        check("/tasks", &[], "/og/pages/tasks.png");
        check("/new/page", &[], "/og/pages/site.png");
    }
}
