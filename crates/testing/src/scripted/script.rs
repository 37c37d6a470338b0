//! The script of a scripted LLM: its turns and faults.

use std::fmt;
use std::time::Duration;

use swe_ci_core::step::Role;
use swe_ci_core::usage::Usage;

/// The line of the agent's prompt that identifies its role.
pub const MARKERS: [(Role, &str); 2] = [
    (Role::Architect, "You are the architect"),
    (Role::Programmer, "You are the programmer"),
];

/// One answer of the LLM: the action its harness takes.
///
/// Every harness accepts absolute paths. aider has no tools: it gets all turns in
/// one text, without `Bash`; its `Write` only creates files, and its `Edit`
/// replaces whole lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Turn {
    /// Creates or overwrites a file.
    Write { path: String, content: String },
    /// Replaces text that occurs exactly once in a file.
    Edit {
        path: String,
        old: String,
        new: String,
    },
    /// Runs a command in a shell.
    Bash(String),
    /// Answers with text and no tool call, which ends the agent's work.
    Say(String),
    /// Fails. In a list it precedes the turn it concerns, and happens once per
    /// conversation; on a retry, the LLM continues with the turn after it.
    Fault(Fault),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// An error in the protocol's format; `retry_after` in seconds.
    Status {
        code: u16,
        retry_after: Option<u64>,
    },
    /// A good answer that starts late.
    Slow(Duration),
    /// The head, and then nothing.
    Stall,
    /// The head, and then comments and nothing else.
    Comments,
    /// The first half of the answer, and then nothing.
    Hang,
    /// The second half is missing, but the transfer ends normally.
    Truncated,
    Malformed,
    /// The first half of the answer; then the server closes the connection.
    Cut,
    /// The whole answer; then the connection breaks instead of ending.
    CutAtEnd,
    /// The head, a moment later this JSON, and then the connection breaks: fewer bytes
    /// than announced.
    Short(&'static str),
    /// Another answer with status 200: its content type and its bytes.
    Body(&'static str, &'static str),
    /// The server closes the connection without an answer.
    Drop,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conversation {
    pub role: Role,
    /// The number of answers the role has got.
    pub turn: usize,
    /// How often the same request came before. Two evolutions with identical
    /// conversations count as one.
    pub repeats: usize,
    /// All text: prompts, answers, arguments and results of tools.
    pub text: String,
}

/// Decides the next turn of a conversation.
pub struct Script(Box<dyn Fn(&Conversation) -> Turn + Send + Sync>);

impl Turn {
    pub fn write(path: impl Into<String>, content: impl Into<String>) -> Self {
        Self::Write {
            path: path.into(),
            content: content.into(),
        }
    }

    pub fn edit(path: impl Into<String>, old: impl Into<String>, new: impl Into<String>) -> Self {
        Self::Edit {
            path: path.into(),
            old: old.into(),
            new: new.into(),
        }
    }

    pub fn bash(command: impl Into<String>) -> Self {
        Self::Bash(command.into())
    }

    pub fn say(text: impl Into<String>) -> Self {
        Self::Say(text.into())
    }
}

impl Fault {
    pub const fn status(code: u16) -> Self {
        Self::Status {
            code,
            retry_after: None,
        }
    }
}

impl Script {
    /// One list of turns per role; after its end the LLM answers "Done.".
    pub fn new(architect: Vec<Turn>, programmer: Vec<Turn>) -> Self {
        Self::with(move |conversation| match conversation.role {
            Role::Architect => nth(&architect, conversation),
            _ => nth(&programmer, conversation),
        })
    }

    /// A script that depends on the conversation. It should keep no state between
    /// calls, so that parallel evolutions do not interfere.
    pub fn with(turn: impl Fn(&Conversation) -> Turn + Send + Sync + 'static) -> Self {
        Self(Box::new(turn))
    }

    pub(super) fn turn(&self, conversation: &Conversation) -> Turn {
        (self.0)(conversation)
    }
}

impl fmt::Debug for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Script")
    }
}

/// The reported usage of an answer; `None` stands for side requests, such as one
/// for a title. Anthropic's protocol has no field for reasoning.
pub fn usage(turn: Option<usize>) -> Usage {
    match turn {
        Some(turn) => Usage {
            input_tokens: 1000 * (turn as u64 + 1),
            output_tokens: 100,
            cached_tokens: if turn == 0 { 0 } else { 500 },
            reasoning_tokens: 10,
        },
        None => Usage {
            input_tokens: 50,
            output_tokens: 5,
            ..Usage::default()
        },
    }
}

fn nth(turns: &[Turn], conversation: &Conversation) -> Turn {
    let mut position = 0;
    let mut faults = Vec::new();
    let mut found = Turn::say("Done.");
    for turn in turns {
        match turn {
            Turn::Fault(_) if position == conversation.turn => faults.push(turn.clone()),
            Turn::Fault(_) => {}
            _ if position == conversation.turn => {
                found = turn.clone();
                break;
            }
            _ => position += 1,
        }
    }
    faults.get(conversation.repeats).cloned().unwrap_or(found)
}
