//! The SWE-CI benchmark without the world: what tasks, runs and evolutions
//! are, how an evolution moves from step to step, what a test report says,
//! and every metric. No IO, no clock, no global random state; the same code
//! runs on the server and, as WebAssembly, in the browser.
//!
//! The words used here are those of `docs/glossary.md`.

pub mod task;

pub mod report;

pub mod outcomes;

pub mod fates;

pub mod gap;

pub mod requirement;

pub mod preparation;

pub mod browse;

pub mod dataset;

pub mod curation;

pub mod disk;

pub mod likely;

pub mod diff;

pub mod usage;

pub mod step;

pub mod agent;

mod problems;

pub mod account;

pub mod credentials;

pub mod key;

pub mod notification;

pub mod run;

pub mod style;
pub mod submission;

pub mod steering;

pub mod pace;

pub mod host;

pub mod preflight;

pub mod metrics;

pub mod uncertainty;

pub mod leaderboard;

pub mod figures;

pub mod results;

pub mod csv;

pub mod verification;

pub mod view;

pub mod inspection;

pub mod container;
pub mod conversation;

pub mod card;

pub mod event;

#[doc(hidden)]
pub mod testing;
