//! The trajectory of a step: parses the recorded exchanges into a transcript
//! independent of the protocol, groups them into conversations, and shows these
//! as messages, exports them as ATIF, or counts them. A step that ran elsewhere has
//! its conversations in ATIF already.
//!
//! ```text
//! exchanges ─ parsers ─▶ transcript ─ conversations ─▶ turns ─ atif ─▶ export, logs
//! ATIF of others ─ atif::read ─────────────────────────▶ ├── messages ─▶ pages
//!                                                        └── digest ─▶ numbers
//! ```

mod atif;
mod chat;
mod conversations;
mod digest;
mod messages;
mod parsers;
#[cfg(test)]
mod tests;
mod transcript;

use std::hash::{DefaultHasher, Hash, Hasher};

use swe_ci_views::conversation::{Messages, RecordingFormat};
use swe_ci_views::trajectories::StepDigest;

pub use atif::About;
pub use chat::Chat;
pub(crate) use digest::{is_too_long, tokens_of_refusal};

use conversations::{Conversation, conversations};

use crate::{Exchange, Lines};

/// The conversations of a step, the main one first.
#[derive(Debug)]
pub struct Conversations(Vec<Conversation>);

impl Conversations {
    /// Reads the recording with this key. It holds each message once in memory,
    /// however often the recording repeats it.
    ///
    /// # Errors
    /// A line of the recording cannot be parsed, or it is no trajectory.
    pub fn read(recording: &str, bytes: Vec<u8>) -> anyhow::Result<Self> {
        Ok(Self(match RecordingFormat::of(recording) {
            RecordingFormat::Exchanges => conversations(&Lines::new(bytes)?)?,
            RecordingFormat::Atif => atif::read(&bytes)?,
        }))
    }

    /// As pages show them.
    pub fn into_messages(self) -> Messages {
        messages::written(self.0)
    }

    /// The numbers of the step: its calls, failures and repetitions.
    pub fn digest(&self) -> StepDigest {
        digest::digest(&self.0)
    }

    /// The main one as chat messages.
    pub fn chat(&self) -> Chat {
        self.0.first().map(chat::chat).unwrap_or_default()
    }

    /// As Harbor's Agent Trajectory Interchange Format.
    pub fn atif(&self, about: &About) -> atif::Trajectory {
        atif::atif(about, &self.0)
    }
}

/// Stands for what the model says in an answer: its calls, or its text without any.
pub(crate) fn said(exchange: &Exchange) -> u64 {
    let message = parsers::answer(exchange).message;
    let mut hasher = DefaultHasher::new();
    for call in &message.calls {
        (&call.name, call.arguments.to_string()).hash(&mut hasher);
    }
    if message.calls.is_empty() {
        message.text.hash(&mut hasher);
    }
    hasher.finish()
}

/// A guess at the tokens of an answer, by the usual four characters each.
pub(crate) fn estimated_tokens(exchange: &Exchange) -> u64 {
    let message = parsers::answer(exchange).message;
    let calls = message
        .calls
        .iter()
        .map(|call| call.arguments.to_string().len());
    let bytes = message.text.len() + message.reasoning.len() + calls.sum::<usize>();
    (bytes / 4) as u64
}
