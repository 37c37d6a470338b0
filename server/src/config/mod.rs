//! The configuration: command-line options and environment variables, read here
//! and nowhere else, and converted to validated values.
//!
//! An option on the command line wins over its variable. Secrets (the master
//! key, the database URL, the mail server's, proxy URLs) are never printed; the
//! master key has no option, since others on the machine can see a command
//! line.

mod environment;
mod serve;
mod work;

use std::ops::RangeInclusive;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use secrecy::{ExposeSecret, SecretString};
use swe_ci_core::agent::Budget;
use swe_ci_core::ceilings::Ceilings;
use swe_ci_engine::EngineChoice;
use tokio::runtime::Handle;
use tracing_subscriber::EnvFilter;
use url::Url;

use self::environment::Environment;
pub use self::serve::{ServeOptions, default_site};
pub use self::work::WorkOptions;
use crate::traces::Traces;

/// The options of every command.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Global options")]
#[command(mut_args(|arg| arg.global(true).hide_env_values(true)))]
pub struct GlobalOptions {
    /// Folder of the database, the datasets and the artifacts; created when
    /// absent
    #[arg(
        long,
        env = "SWE_CI_DATA",
        value_name = "FOLDER",
        default_value = "./data"
    )]
    data: PathBuf,

    /// `postgres://…` or `sqlite://…`; a SQLite file in the data folder when absent
    #[arg(long, env = "SWE_CI_DATABASE_URL", value_name = "URL")]
    database_url: Option<SecretString>,

    /// Where artifacts are, if several machines share them: a folder that all
    /// of them have, or `s3://BUCKET/PREFIX` with the usual AWS_… variables; in
    /// the data folder when absent
    #[arg(long, env = "SWE_CI_ARTIFACTS", value_name = "PLACE")]
    artifacts: Option<String>,

    /// Registry where several machines share images, HOST:PORT/PATH; with
    /// SWE_CI_REGISTRY_USER and SWE_CI_REGISTRY_PASSWORD if it asks for them
    #[arg(long, env = "SWE_CI_REGISTRY", value_name = "ADDRESS")]
    registry: Option<String>,

    /// Base image for the environments of imported sources
    #[arg(
        long,
        env = "SWE_CI_BASE_IMAGE",
        value_name = "IMAGE",
        default_value = "swe-ci/base:py311"
    )]
    base_image: String,

    /// Python package index for the demo split; PIP_INDEX_URL or pip's own when absent
    #[arg(long, env = "SWE_CI_PACKAGE_INDEX", value_name = "URL")]
    package_index: Option<String>,

    /// Disk quota for task images and harness layers, such as `100GiB`: the
    /// longest unused are evicted and restored when needed; no limit when absent
    #[arg(long, env = "SWE_CI_IMAGE_QUOTA", value_name = "SIZE", value_parser = swe_ci_views::disk::size_read)]
    image_quota: Option<u64>,

    /// Container engine: `docker`, `podman`, `bubblewrap`, or `auto`, the first of
    /// them that works here; where DOCKER_HOST is set, the engine there
    #[arg(
        long,
        env = "SWE_CI_ENGINE",
        value_name = "ENGINE",
        default_value = "auto"
    )]
    engine: EngineChoice,

    /// Runtime of the container engine that executes agents and tests, such as
    /// `runsc` (gVisor) or `kata`; the engine's default when absent
    #[arg(long, env = "SWE_CI_CONTAINER_RUNTIME", value_name = "NAME")]
    container_runtime: Option<String>,

    /// Network of the container engine for image builds; when absent `bridge`,
    /// or `host` if a proxy or registry is on this machine
    #[arg(long, env = "SWE_CI_BUILD_NETWORK", value_name = "NETWORK")]
    build_network: Option<String>,

    /// The most that runs of accounts may ask for, such as
    /// `memory_mb=16384,samples=5`; docs/operations.md lists the names
    #[arg(
        long,
        env = "SWE_CI_CEILINGS",
        value_name = "NAME=N,…",
        default_value = ""
    )]
    ceilings: Ceilings,

    /// Budget of a run that asks a model and names no budget itself; its limit
    /// in US dollars holds where the model's price is known; no limit when empty
    #[arg(
        long,
        env = "SWE_CI_DEFAULT_BUDGET",
        value_name = "NAME=N,…",
        default_value = "usd=100,tokens=1000000000"
    )]
    default_budget: Budget,

    /// Log filter for stderr, such as `debug` or `swe_ci_engine=debug,warn`;
    /// `info` for serve and `warn` for the rest when absent
    #[arg(long, env = "SWE_CI_LOG", value_name = "FILTER", value_parser = log_filter)]
    pub(crate) log: Option<String>,

    /// Format of the log: text for people, or one JSON object per line
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = LogFormat::Text)]
    pub(crate) log_format: LogFormat,

    /// OpenTelemetry collector that traces go to (OTLP over HTTP), such as
    /// `http://localhost:4318`; the other standard OTEL_… variables hold too;
    /// none are sent when absent
    #[arg(long, env = "OTEL_EXPORTER_OTLP_ENDPOINT", value_name = "URL")]
    otlp_endpoint: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    Text,
    Json,
}

impl GlobalOptions {
    /// Where the spans of this process go, if they are wanted.
    ///
    /// # Errors
    /// A text that names the invalid variable.
    pub(crate) fn traces(&self, runtime: &Handle) -> Result<Option<Traces>, String> {
        let Some(endpoint) = given(self.otlp_endpoint.as_ref()) else {
            return Ok(None);
        };
        let valid = Url::parse(&endpoint).ok();
        let valid = valid.filter(|url| ["http", "https"].contains(&url.scheme()));
        let url = valid.ok_or(
            "--otlp-endpoint or OTEL_EXPORTER_OTLP_ENDPOINT is no http:// or https:// address",
        )?;
        Traces::to(&url, runtime).map(Some)
    }

    /// The token of the account that submits runs to another site.
    pub(crate) fn site_token(&self) -> Option<SecretString> {
        let token = Environment::from_process().get("SWE_CI_TOKEN");
        token.map(SecretString::from)
    }

    /// The engine's configuration. `workers` is 0 for a command that executes
    /// no runs.
    ///
    /// # Errors
    /// A text that names the invalid variable.
    pub fn engine(&self, workers: usize) -> Result<swe_ci_engine::Config, String> {
        self.engine_with(workers, &Environment::from_process())
    }

    /// The engine's configuration of a command that executes runs itself, and
    /// measures nothing besides.
    ///
    /// # Errors
    /// As [`Self::engine`].
    pub fn engine_at_work(&self) -> Result<swe_ci_engine::Config, String> {
        Ok(swe_ci_engine::Config {
            audit: false,
            measure_style: false,
            ..self.engine(serve::default_workers())?
        })
    }

    fn engine_with(
        &self,
        workers: usize,
        environment: &Environment,
    ) -> Result<swe_ci_engine::Config, String> {
        let database_url = self.database_url.as_ref().map(database_url).transpose()?;
        let package_index = self.package_index.clone().filter(|url| !url.is_empty());
        Ok(swe_ci_engine::Config {
            workers,
            artifacts: given(self.artifacts.as_ref()),
            s3: environment.s3(),
            registry: given(self.registry.as_ref())
                .map(|address| environment.registry(address))
                .transpose()?,
            base_image: self.base_image.clone(),
            package_index: package_index.or_else(|| environment.get("PIP_INDEX_URL")),
            image_quota: self.image_quota,
            container_runtime: given(self.container_runtime.as_ref()),
            container_engine: match (self.engine, environment.get("DOCKER_HOST")) {
                (EngineChoice::Auto | EngineChoice::Podman, Some(_)) => EngineChoice::Docker,
                (engine, _) => engine,
            },
            runtime_folder: environment.get("XDG_RUNTIME_DIR").map(PathBuf::from),
            build_network_name: given(self.build_network.as_ref()),
            ceilings: self.ceilings,
            default_budget: self.default_budget,
            hub_endpoint: environment.get("HF_ENDPOINT"),
            hub_token: environment.get("HF_TOKEN").map(SecretString::from),
            github_endpoint: environment.get("GITHUB_API_URL"),
            github_token: environment.get("GITHUB_TOKEN").map(SecretString::from),
            build_env: environment.build_env(),
            ca_bundle: environment.ca_bundle()?,
            database_url: database_url.flatten(),
            secret: environment.get("SWE_CI_SECRET").map(SecretString::from),
            ..swe_ci_engine::Config::new(self.data.clone())
        })
    }
}

/// Reads a whole number of an option. A mistake in its variable is told as one of
/// the option, so the text names both.
fn number(
    range: RangeInclusive<u16>,
    variable: &'static str,
) -> impl Fn(&str) -> Result<u16, String> + Clone + Send + Sync + 'static {
    move |text: &str| {
        let (least, most) = (range.start(), range.end());
        let wrong = |what: &str| {
            format!("{what} in {least}..={most}; {variable} sets it where the option is absent")
        };
        let number: i64 = text.parse().map_err(|_| wrong("it is no whole number"))?;
        match u16::try_from(number) {
            Ok(number) if range.contains(&number) => Ok(number),
            _ => Err(wrong(&format!("{number} is not"))),
        }
    }
}

/// The value of an option; an empty one counts as absent.
fn given(value: Option<&String>) -> Option<String> {
    value.filter(|value| !value.is_empty()).cloned()
}

/// Checks only the scheme, and never repeats the text.
fn database_url(url: &SecretString) -> Result<Option<String>, String> {
    let url = url.expose_secret();
    let known = ["sqlite:", "postgres://", "postgresql://"];
    match known.iter().any(|scheme| url.starts_with(scheme)) {
        true => Ok(Some(url.to_owned())),
        false if url.is_empty() => Ok(None),
        false => Err("the database URL (--database-url or SWE_CI_DATABASE_URL) must start with postgres:// or sqlite://".into()),
    }
}

fn log_filter(text: &str) -> Result<String, String> {
    match EnvFilter::builder().parse(text) {
        Ok(_) => Ok(text.to_owned()),
        Err(e) => Err(format!(
            "{e}; write a level (error, warn, info, debug, trace) or module=level pairs, separated by commas"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Debug, Parser)]
    pub(super) struct Line {
        #[command(flatten)]
        pub(super) global: GlobalOptions,
        #[command(flatten)]
        pub(super) serve: ServeOptions,
    }

    pub(super) fn line(args: &[&str]) -> Line {
        Line::try_parse_from([&["swe-ci"], args].concat()).unwrap()
    }

    pub(super) fn environment(variables: &'static [(&str, &str)]) -> Environment {
        Environment::new(|name| {
            let found = variables.iter().find(|(n, _)| *n == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn a_password_is_never_shown() {
        let engine = |url: &str| {
            let line = line(&["--database-url", url]);
            assert!(!format!("{line:?}").contains("hunter2"));
            line.global.engine_with(0, &environment(&[]))
        };
        let good = "postgres://u:hunter2@h/db";
        assert_eq!(engine(good).unwrap().database_url.as_deref(), Some(good));
        assert_eq!(engine("").unwrap().database_url, None);
        let message = engine("mysql://u:hunter2@h/db").unwrap_err();
        assert!(message.contains("SWE_CI_DATABASE_URL") && !message.contains("hunter2"));
    }

    #[test]
    fn the_master_key_comes_from_the_environment_alone() {
        let check = |variables, expect: Option<&str>| {
            let config = line(&[]).global.engine_with(0, &environment(variables));
            let config = config.unwrap();
            assert!(!format!("{config:?}").contains("hunter2"));
            let found = config.secret.as_ref().map(ExposeSecret::expose_secret);
            assert_eq!(found, expect);
        };
        check(&[("SWE_CI_SECRET", "hunter2")], Some("hunter2"));
        check(&[("SWE_CI_SECRET", "")], None);
        check(&[], None);
    }

    #[test]
    fn containers_and_ceilings_are_the_operators() {
        let config = |args: &[&str]| line(args).global.engine_with(0, &environment(&[])).unwrap();
        let plain = config(&["--container-runtime", "", "--build-network", ""]);
        assert_eq!(
            (plain.container_runtime, plain.build_network_name),
            (None, None)
        );
        assert_eq!(plain.ceilings, Ceilings::default());
        let set = config(&[
            "--container-runtime",
            "runsc",
            "--build-network",
            "host",
            "--ceilings",
            "memory_mb=8192,samples=3",
        ]);
        assert_eq!(set.container_runtime.as_deref(), Some("runsc"));
        assert_eq!(set.build_network_name.as_deref(), Some("host"));
        assert_eq!(set.container_engine, EngineChoice::Auto);
        let podman = line(&["--engine", "podman"]).global;
        let with = |variables| podman.engine_with(0, &environment(variables)).unwrap();
        let of_user = with(&[("XDG_RUNTIME_DIR", "/run/me")]);
        assert_eq!(of_user.container_engine, EngineChoice::Podman);
        assert_eq!(of_user.runtime_folder, Some("/run/me".into()));
        let named = with(&[("DOCKER_HOST", "unix:///a.sock")]);
        assert_eq!(named.container_engine, EngineChoice::Docker);
        let ceilings: Ceilings = "memory_mb=8192,samples=3".parse().unwrap();
        assert_eq!(set.ceilings, ceilings);
        let wrong = Line::try_parse_from(["swe-ci", "--ceilings", "memory=1"]);
        let message = wrong.unwrap_err().to_string();
        assert!(
            message.contains("there is no ceiling `memory`"),
            "{message}"
        );
    }

    #[test]
    fn the_package_index_has_two_names() {
        let pip = environment(&[("PIP_INDEX_URL", "https://pip/simple")]);
        let index = |args: &[&str]| {
            let config = line(args).global.engine_with(0, &pip).unwrap();
            config.package_index.unwrap()
        };
        assert_eq!(index(&[]), "https://pip/simple");
        assert_eq!(index(&["--package-index", ""]), "https://pip/simple");
        assert_eq!(index(&["--package-index", "https://ours"]), "https://ours");
    }
}
