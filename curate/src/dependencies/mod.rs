//! What a commit says it depends on, read from the files it says it in and
//! never by running any of them. Two commits with the same declarations can be
//! tested in the same environment: that is what a span is made of (paper,
//! section 3.1).

mod declared;
mod ini;
mod lock;
mod pyproject;
mod requirement;
mod setup_py;
mod source;

pub use declared::{AsText, Declared};
pub use requirement::{normalized, project_name, required_project};
pub use setup_py::{Argument, argument};
pub use source::{Source, is_declaration};

/// Requirements with the part of the file they are in, or why they cannot be
/// told: then the text of the file stands for them.
type Reading = Result<Vec<(String, String)>, (AsText, String)>;
