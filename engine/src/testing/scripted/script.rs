//! What a scripted LLM does, turn by turn.

use std::fmt;
use std::time::Duration;

use swe_ci_core::step::Role;
use swe_ci_core::usage::Usage;

/// What tells the roles apart: a line of the prompt the agent was given.
pub const MARKERS: [(Role, &str); 2] = [
    (Role::Architect, "You are the architect"),
    (Role::Programmer, "You are the programmer"),
];

/// What the LLM has its harness do with one answer.
///
/// Absolute paths are understood by every harness. aider knows no tools: all
/// turns go into one text, in which `Bash` is left out, `Write` makes new
/// files only and `Edit` replaces whole lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Turn {
    /// Makes a file, or writes over it.
    Write { path: String, content: String },
    /// Replaces what stands in a file exactly once.
    Edit {
        path: String,
        old: String,
        new: String,
    },
    /// Runs a command in a shell.
    Bash(String),
    /// Says something and calls no tool, which ends the agent's work.
    Say(String),
    /// Goes wrong. In a list it stands before the turn it concerns and happens
    /// once to a conversation; asked again, the LLM goes on behind it.
    Fault(Fault),
}

/// What goes wrong with an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// An error in the words of the protocol; `retry_after` in seconds.
    Status { code: u16, retry_after: Option<u64> },
    /// The answer is good; its first byte comes late.
    Slow(Duration),
    /// The head comes, and then nothing for ever.
    Stall,
    /// The second half is missing, though the transfer ends in good order.
    Truncated,
    /// JSON that is none.
    Malformed,
    /// The connection is closed without an answer.
    Drop,
}

/// What a script may depend on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conversation {
    pub role: Role,
    /// Answers the role was given so far.
    pub turn: usize,
    /// How often the same was asked before. Two evolutions that say the same
    /// to the letter are one here.
    pub repeats: usize,
    /// All that was said: prompts, answers, arguments and results of tools.
    pub text: String,
}

/// Says what is done in a conversation.
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
    #[must_use]
    pub fn status(code: u16) -> Self {
        Self::Status {
            code,
            retry_after: None,
        }
    }
}

impl Script {
    /// One list for each role; who is through says so and stops.
    #[must_use]
    pub fn new(architect: Vec<Turn>, programmer: Vec<Turn>) -> Self {
        Self::with(move |conversation| match conversation.role {
            Role::Architect => nth(&architect, conversation),
            _ => nth(&programmer, conversation),
        })
    }

    /// A script that looks at what was said. Nothing is remembered between
    /// calls, so that parallel evolutions do not disturb each other.
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

/// The tokens an answer is said to have taken; `None` is whatever a harness
/// asks beside its work, such as a title. Anthropic's protocol has no field
/// for reasoning.
#[must_use]
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
