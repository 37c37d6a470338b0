//! Shared basics of the crates that do I/O: one error type, the clock, blocking
//! work, digests, files, locks, retries, panics, failures of the machine, TLS, and
//! code trees, and problems of TOML.

pub mod blocking;
pub mod clock;
pub mod code;
pub mod digest;
pub mod error;
pub mod files;
pub mod machine_failure;
pub mod named_locks;
pub mod panics;
pub mod retry;
pub mod tls;
pub mod toml_problems;

pub use error::{Error, Result};

/// Takes the lines that tell how long work goes on.
pub type Say<'a> = &'a (dyn Fn(String) + Send + Sync);

/// A number of things in a row or a view.
pub fn as_u32(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}
