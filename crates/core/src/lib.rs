//! The pure part of the SWE-CI benchmark: the types of tasks, runs and
//! evolutions, the evolution state machine, test reports, and every metric.
//! No IO, no clock, no global random state; the same code runs on the server
//! and, as WebAssembly, in the browser.
//!
//! `docs/glossary.md` defines the terms.

pub mod task;

pub mod day;

pub mod report;

pub mod outcomes;

pub mod test_history;

pub mod gap;

pub mod requirement;

pub mod step;

pub mod run;

pub mod agent;

mod budget;

pub mod permissions;

pub mod problems;

pub mod usage;

pub mod key;

pub mod metrics;

pub mod uncertainty;

pub mod results;

pub mod diff;

pub mod text;

pub mod csv;
