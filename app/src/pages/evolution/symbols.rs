//! The symbols of cells, and their meanings.

use leptos::prelude::*;
use swe_ci_core::report::Outcome;
use swe_ci_core::test_history::{Cell, TestHistory};

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
    view! { <ul class="heat-legend" aria-label="Signs">{entries.map(entry).collect_view()}{flaky.collect_view()}</ul> }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
