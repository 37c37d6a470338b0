//! Code style, measured by Pylint and radon themselves, and erosion, by complexipy,
//! Vulture and griffe: how to call them in a task's container, and how to read
//! their results (the paper, section 4.4).
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
//!
//! complexipy, Vulture and griffe take a second for a version: they measure all
//! versions of an evolution beside each other ([`versions_request`],
//! [`read_versions`]), since griffe compares each with the base.

mod call;
mod code_style;
mod diff;
mod results;
mod source;

pub use call::{
    COMPLEXIPY, DRIVER, GRIFFE, LAYER, Mode, PACKAGES, PYLINT, RADON, VULTURE, command, command_in,
    request, version_path, versions_request,
};
pub use code_style::join;
pub use diff::{Changed, changed};
pub use results::{
    MAX_FOUND, Pylint, Radon, VersionFigure, read_pylint, read_radon, read_versions,
};
pub use source::{Source, digest, file_digest, is_source};
