//! The contents of a recording and of a code change in numbers, without their
//! texts: small enough to be stored, and to be read for a whole run at once.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::failures::Loss;

/// The digests of an evolution's steps and iterations.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct EvolutionDigest {
    /// By the artifact of the recording; `None` where it cannot be read.
    pub steps: BTreeMap<String, Option<StepDigest>>,
    /// By iteration, where the code is known.
    pub changes: BTreeMap<u32, IterationChanges>,
    /// By iteration that lost tests.
    pub losses: BTreeMap<u32, Vec<Loss>>,
}

/// One recorded step.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct StepDigest {
    pub tools: BTreeMap<String, Use>,
    /// By program; a call counts for each program that it starts.
    pub commands: BTreeMap<String, Use>,
    /// The calls that were repeated most.
    pub repeated: Vec<Repeated>,
    /// Numbers of the messages that are such answers.
    pub truncated: Vec<u32>,
    pub empty: Vec<u32>,
    pub unanswered: Vec<u32>,
    /// And of requests that were refused, or answers that were cut, because the
    /// conversation was longer than the model takes.
    pub overflows: Vec<u32>,
    /// Number of the message with the last answer; 0 without any.
    pub last_answer: u32,
}

/// Calls of one kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Use {
    pub calls: u32,
    pub failed: u32,
    /// Milliseconds until the next request, shared evenly by an answer's calls.
    pub ms: u64,
    /// An answer's output tokens, shared evenly by its calls.
    pub output_tokens: u64,
    pub result_bytes: u64,
    /// Number of the message with the first call.
    pub first: u32,
    /// And with the first that failed; 0 if none did.
    pub first_failed: u32,
}

/// A call whose tool, arguments and result were those of an earlier call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repeated {
    /// Repetitions, the first call not counted.
    pub times: u32,
    /// The tool and the start of the arguments.
    pub call: String,
    /// Number of the message with the first repetition.
    pub message: u32,
}

/// The change of the code in an iteration.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct IterationChanges {
    /// The artifact of the code.
    pub code: String,
    pub files: Vec<ChangedFile>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangedFile {
    pub path: String,
    pub added: u32,
    pub removed: u32,
    /// Whether it has a content again that it had before.
    pub back: bool,
}
