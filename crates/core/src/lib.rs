//! The pure part of the SWE-CI benchmark: the types of tasks, runs and
//! evolutions, the evolution state machine, test reports, and every metric.
//! No IO, no clock, no global random state; the same code runs on the server
//! and, as WebAssembly, in the browser.
//!
//! `docs/glossary.md` defines the terms.

pub mod agent;
pub mod agent_files;
pub mod audit;
pub mod ceilings;
pub mod csv;
pub mod day;
pub mod diff;
pub mod finding;
pub mod handover;
pub mod hosted_tools;
pub mod labels;
pub mod outcomes;
pub mod permissions;
pub mod problems;
pub mod provider_key;
pub mod recovery;
pub mod report;
pub mod requirement;
pub mod results;
pub mod run;
pub mod step;
pub mod task;
pub mod test_gap;
pub mod test_history;
pub mod test_plan;
pub mod text;
pub mod usage;
pub mod wall;

mod budget;
mod named;

pub use swe_ci_metrics as metrics;
pub use swe_ci_metrics::{curve, format, uncertainty};
