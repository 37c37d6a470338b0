//! Finds candidates for tasks in git repositories and makes environments for
//! them: the first three steps of the paper's data curation (section 3.1,
//! figure 2).
//!
//! [`open_repository`] opens a repository, [`facts()`] and [`CollectRules`]
//! judge it as a whole (step 1), and [`spans()`] cuts it into spans of
//! unchanged dependencies (step 2). All of them read git objects only: they
//! check out, run and fetch nothing, within the limits of [`bounds`].
//!
//! [`environment`] makes a Dockerfile for a span's target and repairs it (step
//! 3). It runs nothing either; it asks a package index which distribution
//! provides a module.

pub mod bounds;
pub mod dependencies;
pub mod environment;
mod facts;
mod files;
pub mod github;
mod ini;
mod repository;
mod setup_py;
mod spans;
pub mod testing;
mod text;
mod toml_values;
mod watch;

pub use facts::{CollectRules, Facts, Licence, Licences, PathSample, Refusal, facts};
pub use files::{Class, class, is_test};
pub use repository::{Commit, first_parents, open_repository};
pub use spans::{
    Change, Changes, Dropped, First, KeptSpan, Reason, Span, SpanReport, SpanRules, Unchanged,
    changes, declared, spans,
};
pub use swe_ci_git::{BoundExceeded, Repository};
pub use watch::{Progress, Stopped, Watch, unwatched};
