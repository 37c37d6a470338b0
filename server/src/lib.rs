//! The `swe-ci` program: configuration, command line, REST API and web server.
//!
//! `main` hands the command line to [`cli`]; `cli::serve` opens the engine and
//! hands it to [`serve`], whose one [`serve::router`] answers every request:
//! the [`pages`] (rendered by `swe_ci_app`), the [`api`], the forms of `auth`,
//! and the files of the built [`site`].
//!
//! The imports are layered: `cli` over `serve`, `serve` over `api`, `auth` and
//! `pages`, and those over the leaves ([`app`], `extract`, `problem`,
//! [`providers`] and others).

pub mod api;
pub mod app;
mod auth;
pub mod cli;
pub mod client_address;
pub mod config;
mod extract;
mod gate_report;
mod headers;
pub mod identity_providers;
mod invitation;
mod json_body;
mod logging;
mod metrics;
pub mod pages;
mod pictures;
mod problem;
pub mod serve;
mod shown_once;
pub mod site;
mod traces;
mod worker;
