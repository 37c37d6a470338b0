//! Git repositories, read through the program git.
//!
//! Anybody may have made a repository. [`Repository`] reads its objects only:
//! git works in a folder of our own beside it, so that the repository's settings,
//! hooks and attributes have no effect, and objects are read within [`bounds`].
//! [`command()`] is git for everything else.

pub mod bounds;
mod command;
mod lines;
mod object_id;
mod object_reader;
mod objects;
mod repository;
pub mod testing;

pub use bounds::BoundExceeded;
pub use command::{cannot_run, checked, command, run_with_input};
pub use lines::{changed_lines, is_binary};
pub use object_id::{NotAnObjectId, ObjectId, ObjectKind};
pub use objects::{CommitObject, EntryKind};
pub use repository::{Difference, Repository};
