//! The SWE-CI web application: its pages, rendered on the server.
//!
//! A page is a file: the functions that fetch its data, the page, and the
//! components that take plain data. A larger page is a folder. What is live in
//! the browser is an island (`swe-ci-islands`); everything else is a document
//! that works by links and forms. Computations live in `swe-ci-core` and
//! `swe-ci-views`, figures in `swe-ci-plots`.

// Views are deeply nested types.
#![recursion_limit = "256"]
#![allow(
    clippy::needless_pass_by_value,
    reason = "a component owns its props, also those it only reads"
)]

mod app;
pub mod components;
mod context;
mod error;
mod format;
mod glossary;
mod labels;
mod looks;
pub mod pages;
mod preview;
mod query;

pub use app::{App, Scripts, shell};
pub use components::FormAnswer;
pub use context::{NotSignedIn, PublicUrl, Reader, SignInProvider, SignInProviders};
pub use error::{AppError, ErrorKind};
pub use pages::api::{ApiArea, ApiOperation, ApiParameter};
pub use pages::submit::estimate_in_html;
pub use query::encode;
