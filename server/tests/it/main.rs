//! The server from outside: through its router, and as a process.

mod fixture;

mod agents;

mod api;

mod bad_input;

mod events;

mod evolution;

mod matrix;

mod kept;

mod leaderboard;

mod compare;

mod pages;

mod figures;

mod feeds;

mod terms;

mod unseen;

mod pictures;

mod openapi;

mod cli;

mod results;

mod processes;
