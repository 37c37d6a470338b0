//! The server from outside: through its router, and as a process.

mod fixture;

mod people;

mod provider;

mod accounts;

mod elsewhere;

mod access;

mod agents;

mod conversation;
mod diffs;

mod card;

mod files;

mod api;

mod bad_input;

mod steering;

mod notifications;

mod submit;

mod events;

mod evolution;

mod matrix;

mod kept;

mod leaderboard;
mod marks;

mod compare;
mod curations;

mod pages;

mod figures;

mod feeds;

mod tasks;
mod terms;

mod unseen;

mod pictures;

mod openapi;

mod cli;

mod cli_accounts;

mod results;

mod processes;
