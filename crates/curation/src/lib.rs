//! Curation: tasks from git histories (the paper, section 3.1).
//!
//! [`Plan`] is the request; [`Curations`] carries out those that are queued, one
//! at a time: `origin` fetches repositories, `environment` builds images,
//! `curator` takes a curation through its stages, `ranking` selects, and `split`
//! writes the result.

mod curator;
mod environment;
mod origin;
mod plan;
mod queue;
mod ranking;
mod split;

pub use plan::{EXAMPLE_PLAN, Origin, Plan};
pub use queue::{Curations, Settings};

use swe_ci_base::error::Error;

/// A failure that is not the curation's fault: the curation resumes after it.
fn unavailable(error: impl Into<anyhow::Error>) -> Error {
    Error::Unavailable(format!("{:#}", error.into()))
}
