//! The engine's configuration.

use std::path::PathBuf;
use std::time::Duration;

use swe_ci_core::agent::Budget;
use swe_ci_core::ceilings::Ceilings;
use swe_ci_core::labels::Labels;
use swe_ci_sandbox::EngineChoice;
use swe_ci_sandbox::images::{BuildNetwork, Registry};

use crate::notifications::Mailer;
use crate::style_tools;

/// The engine's configuration; created once from the server's configuration.
#[derive(Clone, Default)]
pub struct Config {
    /// Folder of the database, artifacts and datasets.
    pub data: PathBuf,
    /// Evolutions this process works on at the same time; 0 for none.
    pub workers: usize,
    /// The labels it offers to runs that need some.
    pub labels: Labels,
    /// How this process works, if it is a worker beside a server.
    pub worker: Option<WorkerConfig>,
    /// Where artifacts are, for several machines: a folder, or
    /// `s3://bucket/prefix`. A folder in the data folder when absent.
    pub artifacts: Option<String>,
    /// The variables of S3's programs: `AWS_…`.
    pub s3: Vec<(String, String)>,
    /// Where several machines share images.
    pub registry: Option<Registry>,
    /// Base image of the demo split's environment.
    pub base_image: String,
    /// Package index for the demo split's source distributions; pip's own in
    /// the base image when absent.
    pub package_index: Option<String>,
    /// The most bytes that task images and harness layers may take in the
    /// container engine; beyond that, the longest unused are evicted. No limit
    /// when absent.
    pub image_quota: Option<u64>,
    /// Address of the hub that datasets are downloaded from; its default when
    /// absent.
    pub hub_endpoint: Option<String>,
    /// Sent only to that hub.
    pub hub_token: Option<secrecy::SecretString>,
    /// Address of GitHub's API, for repository searches; its default when
    /// absent.
    pub github_endpoint: Option<String>,
    /// Sent only to that API.
    pub github_token: Option<secrecy::SecretString>,
    /// Passed into image builds when set.
    pub build_env: Vec<(String, String)>,
    /// The host's CA bundle, passed into image builds when set.
    pub ca_bundle: Option<PathBuf>,
    /// The engine's network for image builds; chosen by `build_env` when absent.
    pub build_network_name: Option<String>,
    /// The engine's runtime for containers, such as `runsc`; its default when
    /// absent.
    pub container_runtime: Option<String>,
    /// The container engine.
    pub container_engine: EngineChoice,
    /// The folder of the user's sockets, of which Podman's is one; the usual one when
    /// absent.
    pub runtime_folder: Option<PathBuf>,
    /// What the runs of accounts may ask for at most.
    pub ceilings: Ceilings,
    /// The budget of runs that ask a model and name none.
    pub default_budget: Budget,
    /// Whether workers audit evolutions that are over; their runs are finished and
    /// take a rank after that.
    pub audit: bool,
    /// Whether this process measures the code style of finished evolutions.
    pub measure_style: bool,
    pub style_limits: swe_ci_core::run::Limits,
    /// `sqlite:…` or `postgres://…`; a SQLite file in the data folder when absent.
    pub database_url: Option<String>,
    /// The master key that seals the providers' keys, base64; a file in the
    /// data folder when absent.
    pub secret: Option<secrecy::SecretString>,
    /// Lets the runs of accounts use endpoints on this machine and in private
    /// networks; those of administrators and the operator always may.
    pub private_endpoints: bool,
    /// Public address of the site, without a trailing slash; messages link to
    /// it.
    pub public_url: Option<String>,
    /// Sends mails; none are sent when absent.
    pub mailer: Option<Mailer>,
}

/// A process that only executes evolutions.
#[derive(Debug, Clone, Default)]
pub struct WorkerConfig {
    /// Shown to people.
    pub name: String,
    /// How long steps under way may go on after a request to stop; then they are
    /// put back.
    pub grace: Duration,
    /// Ends when nothing is queued.
    pub until_idle: bool,
}

impl Config {
    /// A configuration for reading a data folder: no workers, no builds.
    #[must_use]
    pub fn new(data: PathBuf) -> Self {
        Self {
            data,
            style_limits: style_tools::limits(),
            ..Self::default()
        }
    }

    pub(crate) fn build_network(&self) -> anyhow::Result<BuildNetwork> {
        let network = BuildNetwork::read(self.build_env.clone(), self.ca_bundle.as_deref())?;
        Ok(BuildNetwork {
            name: self.build_network_name.clone(),
            ..network
        })
    }
}

impl std::fmt::Debug for Config {
    /// Omits the addresses of the database and the proxies: they hold
    /// passwords.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Config")
            .field("data", &self.data)
            .field("workers", &self.workers)
            .field("base_image", &self.base_image)
            .finish_non_exhaustive()
    }
}
