//! The trajectory of a step: parses the recorded exchanges into a transcript
//! independent of the protocol, groups them into conversations, and shows these
//! as messages or exports them as ATIF.
//!
//! ```text
//! exchanges ─ parsers ─▶ transcript ─ conversations ─▶ turns ─ atif ─▶ JSON
//!                                                        └── messages ─▶ pages
//! ```

mod atif;
mod conversations;
mod messages;
mod parsers;
#[cfg(test)]
mod tests;
mod transcript;

pub use atif::{About, atif};
pub use messages::messages;
