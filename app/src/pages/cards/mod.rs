//! The content of each page's card, the picture beside links to it. Pure
//! functions of the pages' data.

mod standings;
mod work;

pub use standings::{best_run, comparison, figure, leaderboard, model, run};
pub use work::{evolution, iteration, task};

use swe_ci_plots::card::Card;

/// A page that always exists, with its description: its card does not depend
/// on the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plain {
    /// Its address, without the leading slash.
    pub name: &'static str,
    title: &'static str,
    sentence: &'static str,
}

/// `site` serves every page without a card of its own.
pub const PLAIN: [Plain; 6] = [
    Plain {
        name: "site",
        title: "How well do coding agents maintain code?",
        sentence: "SWE-CI lets agents evolve real repositories over many iterations, and measures what they fix, what they break, and how easy to change the code remains.",
    },
    Plain {
        name: "runs",
        title: "Runs",
        sentence: "Every model configuration on the tasks of a split: watch a run live, or inspect each iteration afterwards.",
    },
    Plain {
        name: "tasks",
        title: "Tasks",
        sentence: "Real repositories between two points of their history, and the tests that tell the two apart.",
    },
    Plain {
        name: "matrix",
        title: "Tasks × runs",
        sentence: "Every run's EvoScore on every task, the hardest tasks first.",
    },
    Plain {
        name: "compare",
        title: "Compare runs",
        sentence: "Two to six runs side by side, task by task, with how likely their difference is chance.",
    },
    Plain {
        name: "about",
        title: "How to read this",
        sentence: "The protocol of SWE-CI, EvoScore and γ, regressions, how sure the figures are, and the two conventions of counting.",
    },
];

impl Plain {
    pub fn card(&self) -> Card {
        Card {
            kind: "SWE-CI".into(),
            title: self.title.into(),
            sentence: self.sentence.into(),
            ..Card::default()
        }
    }
}
