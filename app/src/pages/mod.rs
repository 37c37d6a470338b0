//! One folder or file per page.

mod about;
mod account;
mod accounts;
mod audit;
pub mod cards;
mod compare;
mod conversation;
mod curate;
mod curation;
mod dataset;
mod datasets;
mod disk;
mod evolution;
mod figures;
mod invitation;
mod iteration;
mod keys;
pub mod lazy_pages;
mod leaderboard;
mod matrix;
mod model;
mod not_found;
mod notifications;
mod open_findings;
mod result_table;
mod routes;
mod run;
mod runs;
mod sign_in;
mod splits;
mod style;
mod submit;
mod task;
mod tasks;

pub use not_found::NotFoundPage;
