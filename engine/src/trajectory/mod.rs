//! What was said in a step: the exchanges the gateway recorded, read into
//! words of no protocol, sorted into conversations, given away as ATIF.
//!
//! ```text
//! exchanges ─ read ─▶ messages and answers ─ conversations ─▶ turns ─ atif ─▶ JSON
//! ```

mod atif;
mod conversations;
mod read;
mod said;
#[cfg(test)]
mod tests;

pub use atif::{About, atif};
