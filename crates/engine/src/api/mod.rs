//! The façade: every file is one area of [`crate::Engine`], and every method
//! checks the actor's permissions, makes one or two calls, and returns the
//! result.

pub mod access;
pub mod accounts;
pub mod conversations;
pub mod curations;
pub mod deletions;
pub mod disk;
pub mod downloads;
pub mod eviction;
mod evolution_audits;
pub mod findings;
pub mod handovers;
pub mod harness_check;
pub mod harnesses;
pub mod hub_results;
pub mod import;
pub mod inspection;
pub mod judge;
pub mod keys;
pub mod look_inside;
mod losses;
pub mod models;
pub mod notifications;
pub mod planning;
pub mod preflight;
pub mod prices;
pub mod publication;
pub mod regrades;
pub mod rescore;
pub mod run_list;
pub mod runs;
pub mod scores;
pub mod snapshots;
pub mod steering;
pub mod styles;
pub mod submission;
pub mod submitted_runs;
mod task_audits;
mod task_results;
pub mod tasks;
pub mod training;
pub mod trajectories;
pub mod verification;
pub mod worker;
pub mod workers;
