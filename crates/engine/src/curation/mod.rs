//! Curation: tasks from git histories (the paper, section 3.1).
//!
//! `plan` is the request; `queue` carries out curations, one at a time: `origin`
//! fetches repositories, `environment` builds images, `curator` takes a
//! curation through its stages, `ranking` selects and `publication` writes the split.

pub(crate) mod curator;
pub(crate) mod environment;
pub(crate) mod origin;
pub(crate) mod plan;
pub(crate) mod publication;
pub(crate) mod queue;
pub(crate) mod ranking;
