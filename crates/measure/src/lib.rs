//! Code style, measured by Pylint and radon themselves: how to call them in a
//! task's container, and how to read their results (the paper, section 4.4).
//!
//! This crate runs nothing. A caller with a container puts the [`DRIVER`], a
//! [`request()`] and the [`Source`] into it (and nothing else of the code),
//! runs [`command`], reads the results with [`read_radon`] and [`read_pylint`],
//! and joins them with [`join`] into the style of a version.
//!
//! radon's result for a file depends only on its content, so each content is
//! measured once, whichever versions contain it: [`Radon`] is keyed by digest.
//! Pylint's result for a file depends on all others (their definitions,
//! duplicates, import cycles): a version is measured as a whole, and only equal
//! versions have equal results.

mod call;
mod code_style;
mod diff;
mod results;
mod source;

pub use call::{DRIVER, LAYER, Mode, PACKAGES, PYLINT, RADON, command, command_in, request};
pub use code_style::join;
pub use diff::{Changed, changed};
pub use results::{MAX_FOUND, Pylint, Radon, read_pylint, read_radon};
pub use source::{Source, digest, file_digest, is_source};
