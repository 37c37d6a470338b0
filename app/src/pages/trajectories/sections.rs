//! The sections of tables: their subjects and their columns.

use swe_ci_views::disk::size_shown;
use swe_ci_views::trajectories::{Amount, Subject};

use crate::format;

/// A column of numbers.
pub(super) struct Column {
    pub head: &'static str,
    /// Nothing where the number is not known.
    pub value: fn(&Amount) -> Option<String>,
    pub leads_to: Link,
    /// Left out where two runs stand side by side.
    pub alone: bool,
}

/// The places that a number leads to.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Link {
    None,
    All,
    Marked,
}

pub(super) struct Section {
    pub subject: Subject,
    pub title: &'static str,
    pub note: &'static str,
    /// The head of the names.
    pub names: &'static str,
    pub columns: &'static [Column],
}

const fn column(
    head: &'static str,
    leads_to: Link,
    value: fn(&Amount) -> Option<String>,
) -> Column {
    Column {
        head,
        value,
        leads_to,
        alone: false,
    }
}

/// A column that only fits a table of one run.
const fn alone(head: &'static str, value: fn(&Amount) -> Option<String>) -> Column {
    Column {
        head,
        value,
        leads_to: Link::None,
        alone: true,
    }
}

const fn times(head: &'static str) -> Column {
    column(head, Link::All, |a| Some(format::thousands(a.times)))
}

const fn marked(head: &'static str) -> Column {
    column(head, Link::Marked, |a| Some(format::thousands(a.marked)))
}

const TIME: Column = column("Time", Link::None, |a| Some(format::seconds(a.seconds)));

const EFFORT: &[Column] = &[
    times("Steps"),
    column("Input", Link::None, |a| {
        Some(format::thousands(a.usage.input_tokens))
    }),
    alone("Cached", |a| Some(format::thousands(a.usage.cached_tokens))),
    column("Output", Link::None, |a| {
        Some(format::thousands(a.usage.output_tokens))
    }),
    column("Cost", Link::None, |a| a.micro_usd.map(format::dollars)),
    TIME,
    alone("Waiting", |a| Some(format::seconds(a.waiting_seconds))),
];

pub(super) const SECTIONS: &[Section] = &[
    Section {
        subject: Subject::Failure,
        title: "Steps without a result",
        note: "One cause for each attempt, by rules in a fixed order; with what it took.",
        names: "Cause",
        columns: &[
            times("Steps"),
            TIME,
            column("Cost", Link::None, |a| a.micro_usd.map(format::dollars)),
        ],
    },
    Section {
        subject: Subject::Trouble,
        title: "Signs of trouble",
        note: "Counted by rules. A repeated call has the tool, the arguments and the result of an earlier call of its step.",
        names: "Sign",
        columns: &[times("Times")],
    },
    Section {
        subject: Subject::Loss,
        title: "Lost tests",
        note: "Target tests that passed before and no longer do; a collapse loses all that passed.",
        names: "Iterations that",
        columns: &[times("Tests lost")],
    },
    Section {
        subject: Subject::Cause,
        title: "Why tests were lost",
        note: "One class for each lost test, by rules in a fixed order, from the error in its report.",
        names: "Class",
        columns: &[times("Tests lost")],
    },
    Section {
        subject: Subject::Outcome,
        title: "Steps by outcome",
        note: "Every attempt at a step.",
        names: "Outcome",
        columns: &[times("Steps"), TIME],
    },
    Section {
        subject: Subject::Role,
        title: "Effort by role",
        note: "Tokens and money as the gateway metered them. Waiting is the part of the time that the provider's limits and failures took.",
        names: "Role",
        columns: EFFORT,
    },
    Section {
        subject: Subject::Iteration,
        title: "Effort by iteration",
        note: "The same, by the number of the iteration, over all evolutions.",
        names: "Iteration",
        columns: EFFORT,
    },
    Section {
        subject: Subject::Tool,
        title: "Tools",
        note: "The time of a call runs from the answer with it to the next request. Calls of one answer share its time and its output tokens evenly.",
        names: "Tool",
        columns: &[
            times("Calls"),
            marked("Failed"),
            TIME,
            column("Output", Link::None, |a| {
                Some(format::thousands(a.usage.output_tokens))
            }),
            column("Returned", Link::None, |a| Some(size_shown(a.result_bytes))),
        ],
    },
    Section {
        subject: Subject::Command,
        title: "Commands",
        note: "The programs that shell calls start. A call with several programs counts for each of them, and it failed when its exit code was not 0.",
        names: "Program",
        columns: &[times("Calls"), marked("Failed"), TIME],
    },
    Section {
        subject: Subject::File,
        title: "Files",
        note: "Each iteration against the code it started from. A file is back when it has a content again that it had before.",
        names: "File",
        columns: &[
            times("Changed in"),
            marked("Back in"),
            column("Lines added", Link::None, |a| {
                Some(format::thousands(a.lines_added))
            }),
            column("Lines removed", Link::None, |a| {
                Some(format::thousands(a.lines_removed))
            }),
        ],
    },
];
