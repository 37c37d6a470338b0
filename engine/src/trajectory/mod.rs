//! What was said in a step: the exchanges the gateway recorded, read into
//! words of no protocol, sorted into conversations, shown as messages and given
//! away as ATIF.
//!
//! ```text
//! exchanges ─ read ─▶ messages and answers ─ conversations ─▶ turns ─ atif ─▶ JSON
//!                                                               └── messages ─▶ pages
//! ```

mod atif;
mod conversations;
mod messages;
mod read;
mod said;
#[cfg(test)]
mod tests;

pub use atif::{About, atif};
pub use messages::messages;
