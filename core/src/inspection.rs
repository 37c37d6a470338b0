//! One iteration looked into: beside what is recorded of it, what it changed
//! in the code and what its steps printed.

use serde::{Deserialize, Serialize};

use crate::diff::Diff;
use crate::step::Role;
use crate::view::IterationDetail;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Inspection {
    pub evolution_id: String,
    pub iteration: IterationDetail,
    pub code: CodeChange,
    /// Of the steps that printed something, in their order.
    pub logs: Vec<StepLog>,
}

/// What an iteration changed, as far as that is known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CodeChange {
    /// Since the last scored code before it.
    Known(Diff),
    /// No code came with it: its results were imported.
    NotRecorded,
    /// It was recorded and cannot be read; why, for readers.
    Unreadable(String),
}

/// The end of what a step printed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepLog {
    pub role: Role,
    pub attempt: u32,
    /// Its last lines.
    pub tail: String,
    /// Lines before them.
    pub earlier: u32,
}

impl StepLog {
    /// Of a whole log, at most so many lines and bytes from its end.
    #[must_use]
    pub fn of(role: Role, attempt: u32, log: &str, lines: usize, bytes: usize) -> Self {
        let mut start = log.len();
        for line in log.split_inclusive('\n').rev().take(lines) {
            if log.len() - start + line.len() > bytes {
                break;
            }
            start -= line.len();
        }
        let earlier = log[..start].lines().count();
        Self {
            role,
            attempt,
            tail: log[start..].to_owned(),
            earlier: u32::try_from(earlier).unwrap_or(u32::MAX),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_log() {
        let check = |log: &str, lines, bytes, tail: &str, earlier| {
            let step = StepLog::of(Role::Test, 1, log, lines, bytes);
            assert_eq!((step.tail.as_str(), step.earlier), (tail, earlier));
        };
        check("", 2, 100, "", 0);
        check("a\nb\nc\n", 9, 100, "a\nb\nc\n", 0);
        check("a\nb\nc\n", 2, 100, "b\nc\n", 1);
        check("a\nb\nc", 2, 100, "b\nc", 1);
        // Whole lines, and none that is longer than all the room.
        check("aaaa\nbb\n", 9, 4, "bb\n", 1);
        check("ä\nbbbbbbbbb\n", 9, 4, "", 2);
    }
}
