//! The server from outside: through its router, and as a process.

mod fixture;

mod people;

mod provider;

mod accounts;

mod provider_sign_in;

mod access;

mod agents;

mod conversation;
mod diffs;

mod card;

mod files;
mod findings;
mod first_steps;
mod gate;

mod api;

mod bad_input;

mod steering;

mod modes;
mod notifications;

mod submission;

mod events;
mod experiments;

mod evolution;

mod matrix;

mod page_cache;

mod handovers;
mod leaderboard;
mod marks;
mod snapshots;

mod comparison;
mod curations;
mod operator;

mod pages;

mod figures;

mod feeds;

mod tasks;
mod terms;
mod trajectories;

mod unseen_tasks;

mod pictures;

mod openapi;

mod cli;

mod cli_accounts;

mod results;
mod run_list;

mod processes;
