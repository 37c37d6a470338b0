//! The `swe-ci` program: configuration, command line, REST API and web server.
//!
//! `main` hands the command line to [`cli`]; `cli::serve` opens the engine and
//! hands it to [`serve`], whose one [`serve::router`] answers every request:
//! the pages (rendered by `swe_ci_app`), the [`api`], and the files of the
//! built site.

pub mod config;

pub mod cli;

pub mod serve;

pub mod api;

mod auth;

mod pictures;

mod logging;
