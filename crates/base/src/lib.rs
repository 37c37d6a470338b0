//! Shared basics of the crates that do I/O: one error type, the clock, blocking
//! work, digests, files, retries, and code trees.

pub mod blocking;
pub mod clock;
pub mod code;
pub mod digest;
pub mod error;
pub mod files;
pub mod retry;

pub use error::{Error, Result};
