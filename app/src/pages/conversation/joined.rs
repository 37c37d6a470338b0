//! Results of tool calls stand below their calls, though they are messages of
//! their own.

use std::collections::HashMap;

use swe_ci_views::conversation::{Message, Part};

/// The results of a message's calls, by the calls' ids.
pub(super) type Results = HashMap<String, CallResult>;

#[derive(Debug, Clone, PartialEq)]
pub(super) struct CallResult {
    /// The number of the message whose first part it was.
    pub number: Option<u32>,
    /// A [`Part::Result`].
    pub part: Part,
}

/// Moves messages that hold nothing but results of earlier calls to these calls.
pub(super) fn joined(messages: Vec<Message>) -> Vec<(Message, Results)> {
    let mut shown: Vec<(Message, Results)> = Vec::new();
    for message in messages {
        let Some(calls) = calls_answered(&shown, &message) else {
            shown.push((message, Results::new()));
            continue;
        };
        let numbers = std::iter::once(Some(message.number)).chain(std::iter::repeat(None));
        let results = numbers.zip(message.parts);
        for ((at, call), (number, part)) in calls.into_iter().zip(results) {
            shown[at].1.insert(call, CallResult { number, part });
        }
    }
    shown
}

/// For each part of the message the place and id of the call that it answers;
/// none if some part answers no call, or one that has its result already.
fn calls_answered(shown: &[(Message, Results)], message: &Message) -> Option<Vec<(usize, String)>> {
    let answered = |part: &Part| {
        let Part::Result { call: Some(id), .. } = part else {
            return None;
        };
        let calls = |(message, results): &(Message, Results)| {
            let is_it =
                |part: &Part| matches!(part, Part::Call { id: Some(call), .. } if call == id);
            message.parts.iter().any(is_it) && !results.contains_key(id)
        };
        Some((shown.iter().rposition(calls)?, id.clone()))
    };
    let calls: Option<Vec<_>> = message.parts.iter().map(answered).collect();
    calls.filter(|calls| !calls.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use swe_ci_views::conversation::{Speaker, Text};

    fn message(number: u32, parts: Vec<Part>) -> Message {
        Message {
            number,
            conversation: 1,
            speaker: Speaker::Tool,
            at: String::new(),
            answered: None,
            parts,
        }
    }

    fn call(id: &str) -> Part {
        Part::Call {
            id: Some(id.to_owned()),
            tool: "bash".into(),
            arguments: Vec::new(),
        }
    }

    fn result(id: &str) -> Part {
        Part::Result {
            call: Some(id.to_owned()),
            tool: None,
            failed: false,
            said: Text::default(),
        }
    }

    #[test]
    fn results_stand_below_their_calls() {
        let shown = joined(vec![
            message(1, vec![call("a"), call("b")]),
            message(2, vec![result("a"), result("b")]),
            message(3, vec![result("nobody")]),
            // Some providers use the same id again.
            message(4, vec![call("a")]),
            message(5, vec![result("a")]),
            message(6, vec![result("a")]),
            message(7, Vec::new()),
        ]);
        let numbers: Vec<u32> = shown.iter().map(|(message, _)| message.number).collect();
        assert_eq!(numbers, [1, 3, 4, 6, 7]);
        let of = |at: usize, id: &str| shown[at].1.get(id).map(|result| result.number);
        assert_eq!((of(0, "a"), of(0, "b")), (Some(Some(2)), Some(None)));
        assert_eq!(of(2, "a"), Some(Some(5)));
    }
}
