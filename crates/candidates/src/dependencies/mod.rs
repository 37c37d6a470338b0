//! The dependencies of a commit, read from its files without running any of
//! them. Two commits with the same declarations can be tested in the same
//! environment; a span consists of such commits (paper, section 3.1).

mod declarations;
mod ini;
mod lock;
mod pyproject;
mod requirement;
mod setup_py;
mod source;

pub use declarations::{DeclaredDependencies, Unparsed};
pub(crate) use ini::with_joined_lines;
pub use requirement::{normalized, project_name, required_project};
pub use setup_py::{Argument, argument};
pub use source::{Source, is_declaration};

/// Requirements with their part of the file, or the text to compare instead and
/// the reason.
type Reading = Result<Vec<(String, String)>, (Unparsed, String)>;
