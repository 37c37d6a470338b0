//! Makes environments in which a commit's tests run (paper, section 3.1,
//! step 3).
//!
//! 1. [`configuration`] reads the commit's files, without running any;
//! 2. [`python`] chooses an interpreter among the base images;
//! 3. [`recipe`] turns both into lines of a Dockerfile: packages as of the day
//!    of the commit, and none of the project's code;
//! 4. if the image cannot be built or the tests do not start, [`diagnosis`]
//!    reads why, [`distribution`] finds the distributions of missing modules,
//!    and [`repair`] makes the next recipe, until none is left to try.
//!
//! The caller builds images and runs tests; `tests/it/environment.rs` shows the
//! whole way.

pub mod compilation;
pub mod configuration;
pub mod diagnosis;
pub mod distribution;
mod poetry;
mod project_files;
pub mod python;
pub mod recipe;
pub mod repair;
pub mod system;
pub mod version;
