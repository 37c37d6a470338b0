//! The trajectory of a step: parses the recorded exchanges into a transcript
//! independent of the protocol, groups them into conversations, and shows these
//! as messages, exports them as ATIF, or counts them. A step that ran elsewhere has
//! its conversations in ATIF already.
//!
//! ```text
//! exchanges ─ parsers ─▶ transcript ─ conversations ─▶ turns ─ atif ─▶ JSON
//! ATIF of others ─ atif::read ─────────────────────────▶ ├── messages ─▶ pages
//!                                                        └── digest ─▶ numbers
//! ```

mod atif;
mod conversations;
mod digest;
mod messages;
mod parsers;
#[cfg(test)]
mod tests;
mod transcript;

use std::collections::HashMap;

use serde_json::Value;
use swe_ci_views::conversation::{Messages, RecordingFormat};
use swe_ci_views::trajectories::StepDigest;

pub use atif::About;
use conversations::{Conversation, conversations};

use crate::Lines;

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

    /// As Harbor's Agent Trajectory Interchange Format.
    pub fn atif(&self, about: &About) -> Value {
        atif::atif(about, &self.0)
    }

    /// When each exchange began and ended, in unix milliseconds, by its ordinal.
    pub fn times(&self) -> HashMap<u64, (i64, i64)> {
        let turns = self.0.iter().flat_map(|conversation| &conversation.turns);
        let exchanges = turns.map(|turn| &turn.exchange);
        exchanges
            .map(|one| (one.ordinal.into(), (one.started_at, one.finished_at)))
            .collect()
    }
}
