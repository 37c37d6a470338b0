//! From a commit to an image in which its tests run (paper, section 3.1,
//! step 3).
//!
//! 1. [`configuration`] reads what the commit's files say, and runs none;
//! 2. [`python`] chooses an interpreter among the base images there are;
//! 3. [`recipe`] makes lines of a Dockerfile of both: packages as they were on
//!    the day of the commit, and nothing of the project's code;
//! 4. when the image cannot be built or the tests do not start, [`diagnose`]
//!    reads why, [`distribution`] finds what provides a missing module, and
//!    [`repair`] makes the next recipe, until there is none to try.
//!
//! Images are built and tests run by the caller:
//!
//! ```
//! use std::collections::BTreeMap;
//! use swe_ci_curate::environment::configuration::{Configuration, Files};
//! use swe_ci_curate::environment::{diagnose, python, recipe::Recipe, repair::Repair};
//!
//! # fn main() -> anyhow::Result<()> {
//! let tree = [("pyproject.toml", "[project]\nname = 'a'\n"), ("src/a.py", "")];
//! let files: Files = tree.map(|(path, text)| (path.into(), text.into())).into();
//! let images = python::BaseImages::from([("3.11".into(), "base:py311".into())]);
//! let committed: jiff::Timestamp = "2024-01-05T10:00:00Z".parse()?;
//! let day = committed.to_zoned(jiff::tz::TimeZone::UTC).date();
//!
//! let configuration = Configuration::read(&files);
//! let interpreter = python::choose(&configuration, &images, day)?;
//! let recipe = Recipe::new(&configuration, &interpreter, committed, None)?;
//! // `recipe.lines()` after `FROM`, `recipe.files()` and the tree under `code/`
//! // go to `docker build`, whose output tells what was wrong.
//! let output = "ModuleNotFoundError: No module named 'yaml'";
//! let own = diagnose::own_modules(tree.map(|(path, _)| path));
//! let findings = diagnose::diagnose(output, &own);
//! assert_eq!(diagnose::modules(&findings), ["yaml"]);
//! // What provides it: `distribution::Finder::find`.
//! let found = BTreeMap::new();
//! let mut repair = Repair::new(5);
//! assert_eq!(repair.next(&recipe, &findings, &found), None);
//! assert_eq!(repair.attempts[0].reasons.len(), 1);
//! # Ok(())
//! # }
//! ```

pub mod compiled;
pub mod configuration;
pub mod diagnose;
pub mod distribution;
mod poetry;
pub mod python;
pub mod recipe;
pub mod repair;
pub mod system;
pub mod version;
