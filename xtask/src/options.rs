//! The options of a build of the site.

use std::ffi::OsString;
use std::path::PathBuf;

/// Leptos' `output_name`: the stem of every file in `pkg/`.
pub const OUTPUT_NAME: &str = "swe-ci";

/// Where a build finds its inputs and puts its output.
#[derive(Debug)]
pub struct Options {
    pub root: PathBuf,
    pub target_dir: PathBuf,
    pub out: PathBuf,
    pub release: bool,
    /// Where the sources of dependencies are.
    pub cargo_home: PathBuf,
    pub cargo: OsString,
}
