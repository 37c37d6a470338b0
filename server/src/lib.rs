//! The `swe-ci` program: configuration, command line, REST API and web server.
//!
//! `main` hands the command line to [`cli`]; `cli::serve` opens the engine and
//! hands it to [`serve`], whose one [`serve::router`] answers every request:
//! the [`pages`] (rendered by `swe_ci_app`), the [`api`], the forms of `auth`,
//! and the files of the built [`site`].
//!
//! The imports are layered: `cli` over `serve`, `serve` over `api`, `auth` and
//! `pages`, and those over the leaves ([`app`], `actor`, `path`, `problem`,
//! [`providers`] and others).

pub mod config;

pub mod cli;

pub mod serve;

pub mod api;

mod auth;

pub mod pages;

pub mod app;

pub mod providers;

pub mod site;

mod actor;

mod headers;

mod invitation;

mod path;

mod pictures;

mod problem;

mod logging;
