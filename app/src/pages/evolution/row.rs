//! A row of the map as HTML text. Rows come and go while scrolling; one text is
//! inserted at once.

use std::fmt::Write as _;

use swe_ci_core::test_history::cells;

use super::symbols::{Symbol, flaky, symbol};
use super::tests::Tests;
use crate::markup::escape;

/// The cells of a test, its name first.
pub(super) fn row_html(tests: &Tests, test: usize) -> String {
    let detail = &tests.detail;
    let id = detail.node_ids.get(test).map_or("", String::as_str);
    let (place, name) = parts(id);
    let (id, place, name) = (escape(id), escape(place), escape(name));
    let mut html = String::with_capacity(64 * (detail.outcomes.len() + 8));
    // Writing to a string cannot fail.
    let _ = write!(
        html,
        "<th scope=\"row\" title=\"{id}\"><span class=\"heat-id\">\
         <span class=\"heat-place\">{place}</span><span class=\"heat-name\">{name}</span>"
    );
    let flaky = tests.test_histories.get(test).and_then(|fate| flaky(*fate));
    if let Some(Symbol { sign, words, .. }) = flaky {
        let _ = write!(
            html,
            "<span class=\"heat-flaky\" role=\"img\" aria-label=\"{words}\" title=\"{words}\">{sign}</span>"
        );
    }
    html.push_str("</span></th>");
    for cell in cells(&detail.base_outcomes, &detail.outcomes, test) {
        let Symbol { sign, words, code } = symbol(cell);
        let _ = write!(
            html,
            "<td data-cell=\"{code}\" aria-label=\"{words}\">{sign}</td>"
        );
    }
    html
}

/// The location of a test (file and class), and its name there.
fn parts(node_id: &str) -> (&str, &str) {
    // Parameters come last and may contain anything.
    let named = node_id.find('[').unwrap_or(node_id.len());
    let name = node_id[..named].rfind("::").map_or(0, |at| at + 2);
    node_id.split_at(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use swe_ci_core::outcomes::Outcomes;
    use swe_ci_core::run::Kind;
    use swe_ci_plots::fixture::evolution;
    use swe_ci_views::view::EvolutionDetail;

    #[test]
    fn parts_of_node_ids() {
        let check = |id, expect| assert_eq!(parts(id), expect);
        check("a.py::b", ("a.py::", "b"));
        check("a.py::C::b[x::y]", ("a.py::C::", "b[x::y]"));
        check("odd", ("", "odd"));
        check("[::]", ("", "[::]"));
        check("", ("", ""));
    }

    #[test]
    fn what_others_wrote_stays_text() {
        let mut detail = detail_of(&["a.py::x[<b>\"]"], "f", &["p"]);
        detail.same_code = vec![None];
        let html = row_html(&Tests::of(detail), 0);
        assert_eq!(
            html,
            "<th scope=\"row\" title=\"a.py::x[&lt;b&gt;&quot;]\"><span class=\"heat-id\">\
             <span class=\"heat-place\">a.py::</span><span class=\"heat-name\">x[&lt;b&gt;&quot;]</span></span></th>\
             <td data-cell=\"f\" aria-label=\"failed\">F</td><td data-cell=\"p\" aria-label=\"passed\">·</td>"
        );
    }

    fn detail_of(ids: &[&str], base: &str, later: &[&str]) -> EvolutionDetail {
        let outcomes = |letters: &&str| Outcomes::from_letters((*letters).to_owned());
        EvolutionDetail {
            run_id: "r".into(),
            model: "m".into(),
            kind: Kind::Measured,
            samples: 1,
            view: evolution(&[]),
            node_ids: ids.iter().map(|id| (*id).to_owned()).collect(),
            base_outcomes: outcomes(&base),
            outcomes: later
                .iter()
                .map(|letters| Some(outcomes(letters)))
                .collect(),
            same_code: Vec::new(),
        }
    }
}
