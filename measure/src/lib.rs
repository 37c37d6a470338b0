//! Code style by Pylint and radon themselves: how they are asked in a task's
//! container, and what they say (the paper, section 4.4).
//!
//! Nothing is run here. Whoever has a container puts [`DRIVER`] and a
//! [`request()`] into it, with the [`Source`] and nothing else of the code,
//! runs [`command`], and reads what was found by [`read_radon`] and
//! [`read_pylint`]; [`join`] makes of both what is told of a version.
//!
//! What radon says of a file depends on its content alone, so each content is
//! measured once, whichever versions have it: [`Radon`] is by digest. What
//! Pylint says of a file depends on all others (what they define, duplicates,
//! cycles of imports): a version is measured as a whole, and only equal
//! versions have equal results.

mod call;
mod changed;
mod found;
mod join;
mod source;

pub use call::{DRIVER, LAYER, Mode, PACKAGES, PYLINT, RADON, command, command_in, request};
pub use changed::{Changed, changed};
pub use found::{MAX_FOUND, Pylint, Radon, read_pylint, read_radon};
pub use join::join;
pub use source::{Source, digest, file_digest, is_source};
