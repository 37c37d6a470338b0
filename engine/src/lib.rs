//! Everything of SWE-CI that touches the world. `Engine` is the façade the
//! server, the pages and the command line call.

pub mod error;

use std::path::PathBuf;
use std::pin::Pin;

use futures::Stream;
use swe_ci_core::event::RunEvent;
use swe_ci_core::leaderboard::Sheet;
use swe_ci_core::run::RunConfig;
use swe_ci_core::task::TaskId;
use swe_ci_core::view::{IterationDetail, Page, RunDetail, RunSummary, SplitSummary, TaskDetail, TaskSummary};
use tokio_util::sync::CancellationToken;

pub use error::{Error, Result};

/// What the engine is told; made once, by the server's configuration.
#[derive(Debug, Clone)]
pub struct Config {
    /// Database, artifacts and datasets live under it.
    pub data: PathBuf,
    /// Evolutions worked on at the same time in this process; 0 for none.
    pub workers: usize,
    /// Image the demo split's environment is built from.
    pub base_image: String,
    /// Package index for the demo split's source distributions; asked of pip
    /// in the base image when absent.
    pub package_index: Option<String>,
    /// Passed into image builds when set.
    pub build_env: Vec<(String, String)>,
    /// Host's CA bundle, passed into image builds when set.
    pub ca_bundle: Option<PathBuf>,
    /// `sqlite://…` or `postgres://…`; a SQLite file in the data folder when absent.
    pub database_url: Option<String>,
}

/// Which part of a list is wanted.
#[derive(Debug, Clone, Default)]
pub struct PageRequest {
    /// 1 to 500; 100 when absent.
    pub limit: Option<u32>,
    /// The `next` of the page before.
    pub after: Option<String>,
}

/// One thing `doctor` looked at.
#[derive(Debug, Clone)]
pub struct Check {
    pub name: &'static str,
    pub ok: bool,
    /// What was found.
    pub found: String,
    /// What to do about it; empty when fine.
    pub advice: String,
}

pub type RunEvents = Pin<Box<dyn Stream<Item = RunEvent> + Send>>;

/// The façade. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Engine {}

/// How a dataset import went, task by task.
#[derive(Debug, Clone)]
pub struct Imported {
    pub split: String,
    pub tasks: Vec<TaskSummary>,
}

impl Engine {
    /// Opens the data folder (created when absent), brings the database up to
    /// date. Several processes may hold it open; only one may [`Engine::work`].
    pub async fn open(_config: Config) -> Result<Self> { todo!() }
    pub async fn splits(&self) -> Result<Vec<SplitSummary>> { todo!() }
    pub async fn tasks(&self, _split: Option<&str>, _page: &PageRequest) -> Result<Page<TaskSummary>> { todo!() }
    pub async fn task(&self, _id: &TaskId) -> Result<TaskDetail> { todo!() }
    pub async fn runs(&self, _page: &PageRequest) -> Result<Page<RunSummary>> { todo!() }
    pub async fn run(&self, _id: &str) -> Result<RunDetail> { todo!() }
    pub async fn iteration(&self, _evolution_id: &str, _iteration: u32) -> Result<IterationDetail> { todo!() }
    pub async fn sheet(&self, _split: &str) -> Result<Sheet> { todo!() }
    /// Queues a run and its evolutions; returns its id.
    pub async fn submit(&self, _config: RunConfig) -> Result<String> { todo!() }
    /// Idempotent; `Conflict` when the run is finished.
    pub async fn cancel(&self, _run_id: &str) -> Result<()> { todo!() }
    /// Events of a run from now on, preceded by those after `after` that are
    /// still remembered.
    pub fn events(&self, _run_id: &str, _after: Option<u64>) -> RunEvents { todo!() }
    /// Imports a dataset folder in the official layout, reporting as it goes.
    pub async fn import(&self, _folder: &std::path::Path, _split: &str, _say: &(dyn Fn(String) + Send + Sync)) -> Result<Imported> { todo!() }
    /// Makes the demo split from release histories and imports it.
    pub async fn import_demo(&self, _say: &(dyn Fn(String) + Send + Sync)) -> Result<Imported> { todo!() }
    /// Database and Docker answer.
    pub async fn ready(&self) -> Result<()> { todo!() }
    /// Looks at everything a run needs.
    pub async fn doctor(&self) -> Vec<Check> { todo!() }
    /// Removes what a killed process left behind, then executes queued
    /// evolutions until `shutdown`. `Conflict` when another process works on
    /// this data folder.
    pub async fn work(&self, _shutdown: CancellationToken) -> Result<()> { todo!() }
}
