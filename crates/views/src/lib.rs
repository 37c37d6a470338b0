//! The types of the API and the pages, and their rules: leaderboards, figures,
//! comparisons, forms, transcripts, code style. Like `swe-ci-core`, it does no
//! IO and compiles to native code and WebAssembly.

pub mod view;

pub mod event;

pub mod leaderboard;

pub mod figures;

pub mod browse;

pub mod dataset;

pub mod curation;

pub mod preparation;

pub mod inspection;

pub mod likely_tests;

pub mod conversation;

pub mod style;

pub mod card;

pub mod verification;

pub mod submission;

pub mod steering;

pub mod preflight;

pub mod account;

pub mod credentials;

pub mod notification;

pub mod pace;

pub mod host;

pub mod disk;

pub mod container;

#[doc(hidden)]
pub mod testing;
