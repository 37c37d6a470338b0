//! The symbols of cells and their meanings, and the rows of the map as HTML
//! text: rows come and go while scrolling, and one text is inserted at once.

use std::fmt::Write as _;

use leptos::prelude::*;
use swe_ci_core::report::Outcome;
use swe_ci_core::test_history::{Cell, TestHistory, cells};

use super::tests::Tests;
use crate::components::CollectAny;
use crate::format::escape;

/// A symbol, its text for screen readers, its code for the style sheet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Symbol {
    pub sign: &'static str,
    pub words: &'static str,
    pub code: &'static str,
}

pub(super) fn symbol(cell: Cell) -> Symbol {
    let symbol = |sign, words, code| Symbol { sign, words, code };
    match cell {
        Cell::Collapsed => symbol("✕", "collapsed", "c"),
        Cell::Tested {
            outcome,
            lost: true,
        } => match outcome {
            Outcome::Error => symbol("▾E", "error, regression", "lost"),
            Outcome::Skipped => symbol("▾s", "skipped, regression", "lost"),
            Outcome::Xfailed => symbol("▾x", "expectedly failed, regression", "lost"),
            Outcome::Xpassed => symbol("▾X", "unexpectedly passed, regression", "lost"),
            Outcome::Missing => symbol("▾–", "missing, regression", "lost"),
            Outcome::Failed | Outcome::Passed => symbol("▾F", "failed, regression", "lost"),
        },
        Cell::Tested { outcome, .. } => match outcome {
            Outcome::Passed => symbol("·", "passed", "p"),
            Outcome::Failed => symbol("F", "failed", "f"),
            Outcome::Error => symbol("E", "error", "e"),
            Outcome::Skipped => symbol("s", "skipped", "s"),
            Outcome::Xfailed => symbol("x", "expectedly failed", "s"),
            Outcome::Xpassed => symbol("X", "unexpectedly passed", "s"),
            Outcome::Missing => symbol("–", "missing", "m"),
        },
    }
}

/// The symbol of a test that may depend on more than the code.
pub(super) fn flaky(fate: TestHistory) -> Option<Symbol> {
    let symbol = |sign, words| Symbol {
        sign,
        words,
        code: "flaky",
    };
    if fate.wavered {
        Some(symbol("≠", "different outcomes on the same code"))
    } else {
        let suspected = fate.looks_flaky();
        suspected.then(|| symbol("⇄", "changed more than twice"))
    }
}

/// The legend of symbols.
#[component]
pub(super) fn Legend() -> impl IntoView {
    let tested = |outcome, lost| Cell::Tested { outcome, lost };
    let entry = |(cell, words): (Cell, &'static str)| {
        let Symbol { sign, code, .. } = symbol(cell);
        view! {
            <li>
                <span class="heat-key" data-cell=code aria-hidden="true">{sign}</span>
                {words}
            </li>
        }
    };
    let entries = [
        (tested(Outcome::Passed, false), "passed"),
        (tested(Outcome::Failed, false), "failed"),
        (tested(Outcome::Failed, true), "regression: passed before"),
        (tested(Outcome::Error, false), "error"),
        (tested(Outcome::Skipped, false), "skipped"),
        (tested(Outcome::Missing, false), "missing"),
        (Cell::Collapsed, "collapsed: nothing ran"),
    ];
    let proven = TestHistory {
        wavered: true,
        ..TestHistory::default()
    };
    let suspected = TestHistory {
        changes: 3,
        ..TestHistory::default()
    };
    let flaky = [proven, suspected].map(|fate| {
        let symbol = flaky(fate).map(|Symbol { sign, words, .. }| {
            view! { <span class="heat-flaky" aria-hidden="true">{sign}</span>{words} }
        });
        view! { <li>{symbol}</li> }
    });
    view! { <ul class="heat-legend" aria-label="Signs">{entries.map(entry).collect_any()}{flaky.collect_any()}</ul> }
}

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
    fn colour_is_never_the_only_sign() {
        let all = [
            Outcome::Passed,
            Outcome::Failed,
            Outcome::Error,
            Outcome::Skipped,
            Outcome::Xfailed,
            Outcome::Xpassed,
            Outcome::Missing,
        ];
        let looks = |lost: bool| all.map(|outcome| symbol(Cell::Tested { outcome, lost }));
        let mut signs: Vec<&str> = looks(false).iter().map(|l| l.sign).collect();
        signs.push(symbol(Cell::Collapsed).sign);
        signs.sort_unstable();
        signs.dedup();
        assert_eq!(signs.len(), all.len() + 1);
        // A passing test was not lost, so it is left out here.
        for symbol in &looks(true)[1..] {
            assert!(symbol.sign.starts_with('▾') && symbol.words.ends_with(", regression"));
        }
    }

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
