//! How cells are written and what their signs mean.

use leptos::prelude::*;
use swe_ci_core::fates::{Cell, Fate};
use swe_ci_core::report::Outcome;

/// How a cell is written: a sign, what it is read aloud as, and what the
/// style sheet knows it by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Look {
    pub sign: &'static str,
    pub words: &'static str,
    pub code: &'static str,
}

pub(super) fn look(cell: Cell) -> Look {
    let look = |sign, words, code| Look { sign, words, code };
    match cell {
        Cell::Collapsed => look("✕", "collapsed", "c"),
        Cell::Tested {
            outcome,
            lost: true,
        } => match outcome {
            Outcome::Error => look("▾E", "error, regression", "lost"),
            Outcome::Skipped => look("▾s", "skipped, regression", "lost"),
            Outcome::Xfailed => look("▾x", "expectedly failed, regression", "lost"),
            Outcome::Xpassed => look("▾X", "unexpectedly passed, regression", "lost"),
            Outcome::Missing => look("▾–", "missing, regression", "lost"),
            Outcome::Failed | Outcome::Passed => look("▾F", "failed, regression", "lost"),
        },
        Cell::Tested { outcome, .. } => match outcome {
            Outcome::Passed => look("·", "passed", "p"),
            Outcome::Failed => look("F", "failed", "f"),
            Outcome::Error => look("E", "error", "e"),
            Outcome::Skipped => look("s", "skipped", "s"),
            Outcome::Xfailed => look("x", "expectedly failed", "s"),
            Outcome::Xpassed => look("X", "unexpectedly passed", "s"),
            Outcome::Missing => look("–", "missing", "m"),
        },
    }
}

/// The sign of a test that may not depend on the code alone.
pub(super) fn flaky(fate: Fate) -> Option<Look> {
    let look = |sign, words| Look {
        sign,
        words,
        code: "flaky",
    };
    if fate.wavered {
        Some(look("≠", "did otherwise on the same code"))
    } else {
        let suspected = fate.looks_flaky();
        suspected.then(|| look("⇄", "changed more than twice"))
    }
}

/// What the signs mean.
#[component]
pub(super) fn Legend() -> impl IntoView {
    let tested = |outcome, lost| Cell::Tested { outcome, lost };
    let entry = |(cell, words): (Cell, &'static str)| {
        let Look { sign, code, .. } = look(cell);
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
    let proven = Fate {
        wavered: true,
        ..Fate::default()
    };
    let suspected = Fate {
        changes: 3,
        ..Fate::default()
    };
    let flaky = [proven, suspected].map(|fate| {
        let look = flaky(fate).map(|Look { sign, words, .. }| {
            view! { <span class="heat-flaky" aria-hidden="true">{sign}</span>{words} }
        });
        view! { <li>{look}</li> }
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
        let looks = |lost: bool| all.map(|outcome| look(Cell::Tested { outcome, lost }));
        let mut signs: Vec<&str> = looks(false).iter().map(|l| l.sign).collect();
        signs.push(look(Cell::Collapsed).sign);
        signs.sort_unstable();
        signs.dedup();
        assert_eq!(signs.len(), all.len() + 1);
        // A test that passes was not lost, so it is left out here.
        for look in &looks(true)[1..] {
            assert!(look.sign.starts_with('▾') && look.words.ends_with(", regression"));
        }
    }
}
