//! One folder or file per page.

pub(crate) mod about;
pub(crate) mod account;
pub(crate) mod accounts;
pub(crate) mod audit;
pub mod cards;
pub(crate) mod compare;
pub(crate) mod conversation;
pub(crate) mod curate;
pub(crate) mod curation;
pub(crate) mod dataset;
pub(crate) mod datasets;
pub(crate) mod disk;
pub(crate) mod evolution;
pub(crate) mod figures;
pub(crate) mod import;
pub(crate) mod invitation;
pub(crate) mod iteration;
pub(crate) mod keys;
pub(crate) mod leaderboard;
pub(crate) mod matrix;
pub(crate) mod model;
mod not_found;
pub(crate) mod notifications;
pub(crate) mod open_findings;
mod result_table;
mod routes;
pub(crate) mod run;
pub(crate) mod runs;
pub(crate) mod sign_in;
mod splits;
pub(crate) mod style;
pub(crate) mod submit;
pub(crate) mod task;
pub(crate) mod tasks;
pub(crate) mod trajectories;

pub use not_found::NotFoundPage;
