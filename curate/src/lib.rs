//! Candidates for tasks out of git repositories, and environments for them: the
//! first three steps of the paper's data curation (section 3.1, figure 2).
//!
//! A repository is opened by [`Repository::open`], judged as a whole by
//! [`facts()`] and [`CollectRules`] (step 1), and cut into spans within which
//! nothing changes that it depends on by [`spans()`] (step 2). Everything is
//! read out of git's objects; nothing is checked out, run or fetched, and
//! [`bounds`] says the most that is read.
//!
//! [`environment`] makes a Dockerfile for a span's target, and repairs it
//! (step 3). It runs nothing either; it asks a package index what provides a
//! module.

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
mod watch;

pub use bounds::Exceeded;
pub use facts::{CollectRules, Facts, Few, Licence, Licences, Refusal, facts};
pub use files::{Class, class, is_test};
pub use repository::{Commit, Repository};
pub use spans::{
    Change, Changes, Dropped, Found, Reason, Span, SpanReport, SpanRules, changes, spans,
};
pub use watch::{Progress, Stopped, Watch, unwatched};
