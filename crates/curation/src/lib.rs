//! Curation: tasks from git histories (the paper, section 3.1).
//!
//! [`Plan`] is the request; [`Curations`] carries out those that are queued, one
//! at a time: `origin` fetches repositories, `environment` builds images
//! (`next_recipe` says which one to try),
//! `curator` takes a curation through its stages, `batches` says which candidates are tried, `ranking` selects, `quality` tries
//! what a person should know, `similarity` compares with other splits, and `split`
//! writes the result.

mod batches;
mod curator;
mod environment;
mod examination;
mod fetch_failure;
mod next_recipe;
mod origin;
mod plan;
mod quality;
mod queue;
mod ranking;
mod similarity;
mod split;

pub use origin::tip;
pub use plan::{EXAMPLE_PLAN, Origin, Plan, Source, repository_name};

use std::path::PathBuf;

use secrecy::SecretString;
use swe_ci_base::error::Error;
use swe_ci_dataset::TaskFolders;
use swe_ci_sandbox::image_cache::ImageCache;
use swe_ci_sandbox::images::Images;
use swe_ci_sandbox::{Docker, Sandbox};
use swe_ci_store::Store;
use swe_ci_store::artifacts::Artifacts;

/// The stores, containers and folders that curations use.
#[derive(Debug, Clone, Copy)]
pub struct Curations<'a> {
    pub settings: &'a Settings,
    pub store: &'a Store,
    pub artifacts: &'a Artifacts,
    pub sandbox: &'a dyn Sandbox,
    /// The engine behind the sandbox: it knows the containers of dead processes.
    pub docker: &'a Docker,
    pub images: &'a Images,
    pub image_cache: &'a ImageCache,
    pub folders: &'a TaskFolders,
}

/// The settings of curations.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The data folder.
    pub data: PathBuf,
    /// Image with the Python of candidates, unless the plan names others.
    pub base_image: String,
    /// Package index; pip's own in the base image when absent.
    pub package_index: Option<String>,
    /// Address of GitHub's API; its default when absent.
    pub github_endpoint: Option<String>,
    /// Sent only to that API.
    pub github_token: Option<SecretString>,
    /// Passed into image builds and to git.
    pub build_env: Vec<(String, String)>,
    /// The host's CA bundle, passed likewise.
    pub ca_bundle: Option<PathBuf>,
    /// The engine's network for image builds; chosen when absent.
    pub build_network_name: Option<String>,
}

/// A failure that is not the curation's fault: the curation resumes after it.
fn unavailable(error: impl Into<anyhow::Error>) -> Error {
    Error::Unavailable(format!("{:#}", error.into()))
}
