//! The trajectory of a step: parses the recorded exchanges into a transcript
//! independent of the protocol, groups them into conversations, and shows these
//! as messages, exports them as ATIF, or counts them.
//!
//! ```text
//! exchanges ─ parsers ─▶ transcript ─ conversations ─▶ turns ─ atif ─▶ JSON
//!                                                        ├── messages ─▶ pages
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

pub use atif::{About, atif};
pub use messages::{messages, messages_with_digest};
