//! How other sites show a link to a page: canonical address and picture.

/// The parameters that select the content of a page. Others, such as click
/// counters that linking sites add, do not make a page of their own.
const KNOWN: [&str; 30] = [
    "split",
    "mode",
    "gamma",
    "convention",
    "runs",
    "baseline",
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
    "order",
    "relative",
    "columns",
    "show",
    "q",
    "attempt",
    "from",
    "tests",
    "view",
    "by",
    "snapshot",
    "range",
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

/// The picture beside links to a page: one for each kind.
pub(crate) fn picture(path: &str) -> &'static str {
    match path.trim_matches('/').split('/').next() {
        Some("runs") => "/social/runs.png",
        Some("tasks") => "/social/tasks.png",
        Some("matrix") => "/social/matrix.png",
        Some("compare") => "/social/compare.png",
        Some("about") => "/social/about.png",
        _ => "/social/site.png",
    }
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
        check("mode=rdd&order=rank", "/x?mode=rdd&order=rank");
        check(
            "relative=leader&baseline=a",
            "/x?relative=leader&baseline=a",
        );
        // Not the present.
        let frozen = "snapshot=2026-11-27&range=paper";
        check(frozen, &format!("/x?{frozen}"));
        // An open row is a state of the reader's page.
        check("mode=rdd&open=a", "/x?mode=rdd");
        check("a=\"><script>", "/x");
    }
}
