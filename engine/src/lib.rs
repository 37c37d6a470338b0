//! Everything of SWE-CI that touches the world. [`Engine`] is the façade the
//! server, the pages and the command line call.
//!
//! `store`, `artifacts`, `sandbox`, `images`, `events` are leaves; `suite`
//! runs pytest in a sandbox; `dataset` and `harness` use those; `evolve`
//! carries one evolution to its end; `queue` hands evolutions to workers.

pub mod configuration;
pub mod error;

mod access;
mod accounts;
mod artifacts;
mod blocking;
mod card;
mod check;
mod clock;
mod code;
mod curation;
mod dataset;
mod diffs;
mod disk;
mod doctor;
mod downloads;
mod events;
mod evolutions;
mod evolve;
mod files;
mod gateway;
mod grant;
mod harness;
mod host;
mod images;
mod inspect;
mod keys;
mod listing;
mod matrix;
mod models;
mod notifications;
mod preflight;
mod preview;
mod prices;
mod programs;
mod published;
mod publishing;
mod queue;
mod read;
mod readings;
mod rescore;
mod results;
mod said;
mod sandbox;
mod scores;
mod secrets;
mod sheets;
mod shelf;
mod steering;
mod store;
mod style;
mod submitting;
mod suite;
mod tasks;
pub mod testing;
mod trajectory;
mod verify;
mod work;

use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;

use anyhow::Context;
use futures::Stream;
use swe_ci_core::account::Actor;
use swe_ci_core::event::RunEvent;

pub use accounts::{Admission, FollowedInvitation};
pub use check::{CheckNews, HarnessCheck};
pub use curation::EXAMPLE_PLAN;
pub use dataset::{ImportOptions, ImportSource};
pub use disk::GivenBack;
pub use doctor::Check;
pub use downloads::Pieces;
pub use error::{Error, Result};
pub use images::usual_ca_bundle;
pub use listing::{Directory, NewResult};
pub use notifications::Mailer;
pub use programs::{BuiltLayer, HarnessView, Installed};
pub use read::PageRequest;
pub use rescore::Rescored;
pub use results::{Change, ImportRequest, ImportedResults, ScoreRequest, Scored, Skipped, score};
pub use store::{ProvenIdentity, RunListing, SessionData};
pub use style::{FolderStyle, StylesMeasured};
pub use swe_ci_core::key::KeyView;
pub use swe_ci_core::metrics::METRIC_VERSION;
pub use tasks::{TasksFound, TasksWanted};
pub use verify::{Checked, Extent};
pub use work::Imported;

use accounts::{Passwords, Strangers};
use artifacts::Artifacts;
use dataset::TaskFolders;
use diffs::Diffs;
use events::Events;
use gateway::{Gateway, Ledgers};
use harness::{Harnesses, Layers};
use images::Images;
use keys::Keys;
use notifications::Courier;
use readings::Readings;
use sandbox::{Docker, Instance, Sandbox};
use sheets::Sheets;
use shelf::{Shelf, Stocked};
use store::Store;
use work::build_network;

/// What the engine is told; made once, by the server's configuration.
#[derive(Clone)]
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
    /// What images of tasks and layers of harnesses may take in the container
    /// engine, in bytes; those that were not used for long make room. No limit
    /// when absent.
    pub image_quota: Option<u64>,
    /// Address of the hub datasets are downloaded from; its own when absent.
    pub hub_endpoint: Option<String>,
    /// Sent to that hub alone.
    pub hub_token: Option<secrecy::SecretString>,
    /// Address of GitHub's API, for searches of repositories; its own when
    /// absent.
    pub github_endpoint: Option<String>,
    /// Sent to that API alone.
    pub github_token: Option<secrecy::SecretString>,
    /// Passed into image builds when set.
    pub build_env: Vec<(String, String)>,
    /// Host's CA bundle, passed into image builds when set.
    pub ca_bundle: Option<PathBuf>,
    /// Whether this process measures the code style of evolutions that are over.
    pub measure_style: bool,
    /// What a container has in which code style is measured.
    pub style_limits: swe_ci_core::run::Limits,
    /// `sqlite:…` or `postgres://…`; a SQLite file in the data folder when absent.
    pub database_url: Option<String>,
    /// The master key that the keys of providers are sealed with, base64; a
    /// file in the data folder when absent.
    pub secret: Option<secrecy::SecretString>,
    /// Runs of accounts may have endpoints at this machine and in private
    /// networks; administrators' and the operator's may anyway.
    pub private_endpoints: bool,
    /// Where readers reach the site, without a slash at the end: what messages
    /// link to.
    pub public_url: Option<String>,
    /// Sends mails; none are sent when absent.
    pub mailer: Option<Mailer>,
}

impl Config {
    /// A data folder that is only looked at: nothing is worked on or built.
    #[must_use]
    pub fn new(data: PathBuf) -> Self {
        Self {
            data,
            workers: 0,
            base_image: String::new(),
            package_index: None,
            image_quota: None,
            hub_endpoint: None,
            hub_token: None,
            github_endpoint: None,
            github_token: None,
            build_env: Vec::new(),
            ca_bundle: None,
            measure_style: false,
            style_limits: style::limits(),
            database_url: None,
            secret: None,
            private_endpoints: false,
            public_url: None,
            mailer: None,
        }
    }
}

impl std::fmt::Debug for Config {
    /// Without the database's address and the proxies': they hold passwords.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Config")
            .field("data", &self.data)
            .field("workers", &self.workers)
            .field("base_image", &self.base_image)
            .finish_non_exhaustive()
    }
}

pub type RunEvents = Pin<Box<dyn Stream<Item = RunEvent> + Send>>;

/// The façade, in the hands of whoever it acts for: everything it answers is
/// what they may see, everything it does they may do. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Engine {
    inner: Arc<Inner>,
    by: Arc<Actor>,
}

#[derive(Debug)]
struct Inner {
    config: Config,
    instance: String,
    store: Store,
    artifacts: Artifacts,
    docker: Docker,
    images: Images,
    shelf: Shelf,
    folders: TaskFolders,
    events: Events,
    harnesses: Harnesses,
    gateway: Gateway,
    ledgers: Ledgers,
    keys: Keys,
    courier: Courier,
    sheets: Sheets,
    diffs: Diffs,
    readings: Readings,
    passwords: Passwords,
    strangers: Strangers,
}

impl Engine {
    /// Opens the data folder (created when absent) and brings the database up
    /// to date; acts for the operator. Several processes may hold it open; only one may
    /// [`Engine::work`] on it.
    pub async fn open(config: Config) -> Result<Self> {
        let data =
            &std::path::absolute(&config.data).context("cannot tell the data folder's place")?;
        std::fs::create_dir_all(data).with_context(|| {
            format!(
                "cannot use the data folder {}; set SWE_CI_DATA to one that can be written",
                data.display()
            )
        })?;
        let instance = instance(data)?;
        let url = config
            .database_url
            .clone()
            .unwrap_or_else(|| format!("sqlite:{}?mode=rwc", data.join("swe-ci.sqlite").display()));
        let store = Store::open(&url).await?;
        let artifacts = Artifacts::in_folder(&data.join("artifacts"))?;
        let docker = Docker::new(Instance(instance.clone()), data);
        let images = Images::new(docker.clone());
        let shelf = Shelf::new(images.clone(), data);
        let folders = TaskFolders::new(data.join("tasks"));
        let events = Events::default();
        let layers = Layers::new(
            docker.clone(),
            Instance(instance.clone()),
            &config.base_image,
            data,
        );
        let harnesses = Harnesses::new(data.join("harnesses"), layers, build_network(&config)?);
        let gateway = Gateway::new(data.join("gateway"))?;
        let keys = Keys::new(store.clone(), config.secret.clone(), data);
        let courier = Courier::new(&store, &keys, &config)?;
        Ok(Self {
            by: Arc::new(Actor::Operator),
            inner: Arc::new(Inner {
                config,
                instance,
                store,
                artifacts,
                docker,
                images,
                shelf,
                folders,
                events,
                harnesses,
                gateway,
                ledgers: Ledgers::default(),
                keys,
                courier,
                sheets: Sheets::default(),
                diffs: Diffs::default(),
                readings: Readings::default(),
                passwords: Passwords::default(),
                strangers: Strangers::default(),
            }),
        })
    }

    /// What the engine was told.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.inner.config
    }

    /// The day it is, in UTC: `YYYY-MM-DD`.
    #[must_use]
    pub fn today(&self) -> String {
        clock::today()
    }

    /// Database and container engine answer.
    ///
    /// # Errors
    /// [`Error::Unavailable`] naming the one that does not.
    pub async fn ready(&self) -> Result<()> {
        self.inner
            .store
            .ping()
            .await
            .map_err(|_| Error::Unavailable("the database does not answer".into()))?;
        let docker = self.inner.docker.ping().await;
        docker.map_err(|_| {
            Error::Unavailable(
                "the container engine does not answer; `swe-ci doctor` tells more".into(),
            )
        })
    }

    /// Looks at everything a run needs.
    pub async fn doctor(&self) -> Vec<Check> {
        doctor::examine(self).await
    }

    /// Events of a run from now on, preceded by those after `after` that are
    /// still remembered.
    ///
    /// # Errors
    /// [`Error::NotFound`] when there is no such run.
    pub async fn events(&self, run_id: &str, after: Option<u64>) -> Result<RunEvents> {
        self.seen_run(run_id).await?;
        Ok(Box::pin(self.inner.events.of_run(run_id, after)))
    }

    pub(crate) fn docker(&self) -> &Docker {
        &self.inner.docker
    }

    pub(crate) fn images(&self) -> &Images {
        &self.inner.images
    }

    fn sandbox(&self) -> Arc<dyn Sandbox> {
        Arc::new(Stocked {
            docker: self.inner.docker.clone(),
            shelf: self.inner.shelf.clone(),
        })
    }
}

/// The name of this installation, made at its first start.
fn instance(data: &std::path::Path) -> anyhow::Result<String> {
    let path = data.join("instance");
    match std::fs::read_to_string(&path) {
        Ok(name) if !name.trim().is_empty() => Ok(name.trim().to_owned()),
        _ => {
            let name = uuid::Uuid::now_v7().to_string();
            std::fs::write(&path, &name).with_context(|| {
                format!("cannot write in the data folder {}; set SWE_CI_DATA to one that can be written", data.display())
            })?;
            Ok(name)
        }
    }
}
