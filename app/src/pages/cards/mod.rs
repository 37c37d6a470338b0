//! The content of each page's card, the picture beside links to it. Pure
//! functions of the pages' data.

mod standings;

pub use standings::{best_run, comparison, figure, leaderboard, model, run};
use swe_ci_core::metrics::Verdict;
use swe_ci_plots::card::{Card, Shown};
use swe_ci_plots::{self as plots, Size, Theme};
use swe_ci_views::view::{
    EvolutionDetail, EvolutionView, IterationView, RunDetail, TaskDetail, TaskState,
};

use crate::{format, labels};

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

/// Nearly square, beside text, so that its lettering is large.
const CURVE: Size = Size {
    width: 420,
    height: 380,
};

/// The evolution of a task.
pub fn evolution(detail: &EvolutionDetail) -> Card {
    let view = &detail.view;
    let broke = view.iterations.iter().filter(|i| i.verdict.lost() > 0);
    let sample = match detail.samples {
        0 | 1 => String::new(),
        _ => format!(" · sample {}", view.sample),
    };
    Card {
        kind: format!("How {} evolved{sample}", format::clip(&detail.model, 30)),
        title: view.task_id.to_string(),
        sentence: match view.ending {
            Some(ending) => sentence(labels::ending(ending).0),
            None => "Not over yet.".to_owned(),
        },
        numbers: vec![
            (view.passing().to_string(), "tests pass"),
            (view.suite.target.to_string(), "tests to pass"),
            (view.iterations.len().to_string(), "iterations"),
            (broke.count().to_string(), "broke something"),
        ],
        shown: curve(view),
    }
}

/// "Solved."
fn sentence(words: &str) -> String {
    format!("{}.", format::capital(words))
}

fn curve(view: &EvolutionView) -> Shown {
    Shown::Figure(plots::passing(view, CURVE, Theme::Paper))
}

/// One iteration of an evolution, if it exists.
pub fn iteration(run: &RunDetail, evolution_id: &str, number: u32) -> Option<Card> {
    let mut evolutions = run.evolution_list.iter();
    let view = evolutions.find(|view| view.evolution_id == evolution_id)?;
    let mut iterations = view.iterations.iter();
    let iteration: &IterationView = iterations.find(|i| i.iteration == number)?;
    let (_, word, _) = labels::verdict(iteration, view.suite.target);
    let numbers = match iteration.verdict {
        Verdict::Scored {
            in_target, lost, ..
        } => vec![
            (in_target.to_string(), "tests pass"),
            (view.suite.target.to_string(), "tests to pass"),
            (iteration.gained.to_string(), "gained"),
            (lost.to_string(), "lost"),
        ],
        Verdict::Collapsed { lost } => {
            vec![("0".to_owned(), "tests pass"), (lost.to_string(), "lost")]
        }
    };
    Some(Card {
        kind: run.summary.config.model.clone(),
        title: format!("Iteration {number} of {}", view.task_id),
        sentence: sentence(word),
        numbers,
        shown: curve(view),
    })
}

/// A task: the distance between base and target.
pub fn task(detail: &TaskDetail) -> Card {
    let summary = &detail.summary;
    let card = Card {
        kind: format!("Task · {}", summary.repo),
        title: summary.task_id.to_string(),
        ..Card::default()
    };
    match &summary.state {
        TaskState::Unusable { reason } => Card {
            sentence: format!("It cannot be run: {reason}."),
            ..card
        },
        TaskState::Ready => Card {
            sentence: format!(
                "{} of real history between base and target: an agent has to close the gap without breaking what works.",
                format::span(summary.span_days)
            ),
            numbers: vec![
                (format::thousands(summary.gap), "tests in the gap"),
                (format::thousands(summary.target_passed), "tests to pass"),
                (format::thousands(summary.commits), "commits"),
            ],
            ..card
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_become_a_sentence() {
        assert_eq!(sentence("solved"), "Solved.");
        assert_eq!(sentence("écrit"), "Écrit.");
        assert_eq!(sentence(""), ".");
    }
}
