//! The engine: the benchmark's rules applied to the database, the containers
//! and the network. [`Engine`] is the façade that the server, the pages and the
//! command line call.
//!
//! The crates below it do the work: `store` holds the rows, `sandbox` the
//! containers, `dataset` the tasks; `runner` runs evolutions and hands them to
//! workers.

mod api;
mod background;
mod byte_cache;
mod config;
mod diffs;
mod digests;
mod doctor;
pub mod experiments;
mod harness_check;
mod heavy_reads;
mod leaderboard_cache;
mod local_work;
mod notifications;
mod published;
mod results;
pub mod run_configuration;
mod style_tools;
mod submitted;
pub mod testing;

use std::ops::Deref;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, anyhow};
use futures::{Stream, stream};
use swe_ci_views::account::Actor;
use swe_ci_views::event::{RunEvent, What};
use tokio::sync::Mutex;

pub use api::accounts::{Admission, FollowedInvitation};
pub use api::downloads::Pieces;
pub use api::harnesses::{BuiltLayer, HarnessView, Installed};
pub use api::import::Imported;
pub use api::judge::{EXAMPLE_JUDGE, Judged, judge_plan};
pub use api::look_inside::OpenedStep;
pub use api::models::{Directory, NewResult};
pub use api::planning::PlannedRun;
pub use api::rescore::Rescored;
pub use api::runs::PageRequest;
pub use api::snapshots::SnapshotEvery;
pub use api::styles::{FolderStyle, StylesMeasured};
pub use api::tasks::{TasksFound, TasksWanted};
pub use api::training::{TrainingExport, TrainingRequest};
pub use api::verification::Checked;
pub use api::worker::WorkLock;
pub use api::workers::Monitoring;
pub use config::{Config, WorkerConfig};
pub use doctor::Check;
pub use harness_check::{CheckNews, HarnessCheck};
pub use notifications::Mailer;
pub use results::{ImportRequest, ImportedResults, ScoreRequest, Scored, Skipped, score};
pub use submitted::{MOST_ARCHIVE_BYTES, PackedRun};
pub use swe_ci_base::tls::http_client;
pub use swe_ci_base::{Error, Result, Say, error};
pub use swe_ci_core::metrics::METRIC_VERSION;
pub use swe_ci_core::provider_key::KeyView;
pub use swe_ci_core::results::Change;
pub use swe_ci_curation::{
    EXAMPLE_PLAN, Plan as CurationPlan, Source as CurationSource, repository_name,
};
pub use swe_ci_dataset::{ImportOptions, ImportSource};
pub use swe_ci_sandbox::EngineChoice;
pub use swe_ci_sandbox::images::{Registry, usual_ca_bundle};
pub use swe_ci_store::{
    ProvenIdentity, QueueState, RunListing, SchemaCheck, SchemaStep, SessionData, StepsDone,
};

use api::accounts::{Passwords, UnknownNameLockouts};
use api::conversations::{Recordings, recordings};
use diffs::Diffs;
use digests::DigestReaders;
use heavy_reads::HeavyReads;
use leaderboard_cache::LeaderboardCache;
use local_work::LocalWork;
use notifications::dispatcher::{NotificationDispatcher, Pace};
use swe_ci_base::{as_u32, clock, files};
use swe_ci_dataset::TaskFolders;
use swe_ci_gateway::{Gateway, Ledgers};
use swe_ci_runner::event_relay::Outbox;
use swe_ci_runner::events::{Events, until_over};
use swe_ci_runner::harness::{Harnesses, Layers};
use swe_ci_runner::provider_keys::Keys;
use swe_ci_sandbox::image_cache::{CachingSandbox, ImageCache};
use swe_ci_sandbox::images::Images;
use swe_ci_sandbox::{Docker, Instance, Sandbox};
use swe_ci_store::Store;
use swe_ci_store::artifacts::Artifacts;

pub type RunEvents = Pin<Box<dyn Stream<Item = RunEvent> + Send>>;

/// The façade, bound to the actor it serves: it returns only what that actor
/// may see, and does only what that actor may do. Cheap to clone.
///
/// A method returns [`Error::NotFound`] for things that do not exist or that the
/// actor must not see. If it takes another role, it returns
/// [`Error::Unauthenticated`] to visitors and [`Error::Forbidden`] to accounts. The `# Errors` of a method tell the
/// others.
#[derive(Debug, Clone)]
pub struct Engine {
    parts: Arc<Parts>,
    by: Arc<Actor>,
}

/// The parts that all actors share.
#[doc(hidden)]
#[derive(Debug)]
pub struct Parts {
    config: Config,
    instance: String,
    store: Store,
    artifacts: Artifacts,
    docker: Docker,
    images: Images,
    image_cache: ImageCache,
    folders: TaskFolders,
    events: Events,
    /// Events of this worker, for the readers of runs; a server has none.
    outbox: Option<Mutex<Outbox>>,
    harnesses: Harnesses,
    gateway: Gateway,
    ledgers: Ledgers,
    keys: Keys,
    dispatcher: NotificationDispatcher,
    leaderboards: LeaderboardCache,
    heavy_reads: HeavyReads,
    diffs: Diffs,
    digest_readers: DigestReaders,
    recordings: Recordings,
    passwords: Passwords,
    lockouts: UnknownNameLockouts,
    /// What a page started last.
    eviction: LocalWork,
}

impl Deref for Engine {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        &self.parts
    }
}

#[swe_ci_boxed::boxed]
impl Engine {
    /// Opens the data folder (created when absent) and migrates the database;
    /// acts for the operator. Several processes may hold it open; only one may
    /// [`Engine::work`] on it.
    pub async fn open(config: Config) -> Result<Self> {
        let data = &std::path::absolute(&config.data)
            .context("cannot resolve the path of the data folder")?;
        files::private_folder(data).with_context(|| {
            format!(
                "cannot use the data folder {}; set SWE_CI_DATA to a writable one",
                data.display()
            )
        })?;
        let instance = instance(data)?;
        let url = database_url(&config, data);
        let store = match &config.worker {
            // The server migrates: a worker never changes the schema under it.
            Some(_) => Store::open_migrated(&url).await?,
            None => Store::open(&url).await?,
        };
        let store = store.with_audits(config.audit);
        let artifacts = match config.artifacts.as_deref() {
            None => Artifacts::in_folder(&data.join("artifacts"))?,
            Some(url) if url.contains("://") => {
                Artifacts::in_bucket(url, &config.s3, artifacts_patience(&config))?
            }
            Some(folder) => Artifacts::in_folder(folder.as_ref())?,
        };
        let folders = TaskFolders::new(data.join("tasks"));
        let folders = match config.artifacts {
            Some(_) => folders.shared_in(artifacts.clone()),
            None => folders,
        };
        let (events, outbox) = match config.worker {
            Some(_) => {
                let (events, outbox) = Events::with_outbox();
                (events, Some(outbox))
            }
            None => (Events::default(), None),
        };
        let owner = Instance(instance.clone());
        let docker = Docker::new(owner.clone(), data)
            .with_runtime(config.container_runtime.clone())
            .with_engine(config.container_engine, config.runtime_folder.clone());
        let images = Images::new(docker.clone());
        let layers = Layers::new(docker.clone(), owner, &config.base_image, data)
            .shared_in(config.registry.clone(), &store);
        let image_cache = ImageCache::new(images.clone(), data).shared_in(config.registry.clone());
        let network = config.build_network()?;
        let heavy_reads = HeavyReads::default();
        let keys = Keys::new(store.clone(), config.secret.clone(), data);
        Ok(Self {
            by: Arc::new(Actor::Operator),
            parts: Arc::new(Parts {
                artifacts,
                image_cache,
                folders,
                events,
                outbox: outbox.map(|events| Mutex::new(Outbox::new(events))),
                harnesses: Harnesses::new(data.join("harnesses"), layers, network),
                gateway: Gateway::new(data.join("gateway"))?,
                ledgers: Ledgers::default(),
                dispatcher: NotificationDispatcher::new(&store, &keys, &config, Pace::USUAL)?,
                config,
                instance,
                store,
                docker,
                images,
                keys,
                leaderboards: LeaderboardCache::default(),
                diffs: Diffs::new(heavy_reads.clone()),
                digest_readers: DigestReaders::default(),
                recordings: recordings(heavy_reads.clone()),
                heavy_reads,
                passwords: Passwords::default(),
                lockouts: UnknownNameLockouts::default(),
                eviction: LocalWork::default(),
            }),
        })
    }

    /// What [`Engine::open`] would change in the schema of the database. Creates
    /// and changes nothing.
    pub async fn check_schema(config: &Config) -> Result<SchemaCheck> {
        let data = std::path::absolute(&config.data)
            .context("cannot resolve the path of the data folder")?;
        SchemaCheck::of(&database_url(config, &data)).await
    }

    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Today's date in UTC: `YYYY-MM-DD`.
    pub fn today(&self) -> String {
        clock::today()
    }

    /// Checks that the database answers, and the container engine if this process
    /// executes runs.
    ///
    /// # Errors
    /// [`Error::Unavailable`] naming the one that does not.
    pub async fn ready(&self) -> Result<()> {
        let unavailable = |why: &str| Error::Unavailable(why.into());
        let store = self.store.ping().await;
        store.map_err(|_| unavailable("the database does not answer"))?;
        if self.config.workers == 0 {
            return Ok(());
        }
        let docker = self.docker.ping().await;
        docker.map_err(|_| {
            unavailable("the container engine does not answer; `swe-ci doctor` shows more")
        })
    }

    pub async fn doctor(&self) -> Vec<Check> {
        doctor::examine(self).await
    }

    /// The events of a run until it is over: the stored ones after `after`, then new
    /// ones.
    pub async fn events(&self, run_id: &str, after: Option<u64>) -> Result<RunEvents> {
        // Subscribed before the run is read, which may end between the two.
        let events = self.events.subscribe(run_id, after);
        let run = self.visible_run(run_id).await?;
        let events: RunEvents = match run.progress.is_over() {
            true => Box::pin(stream::iter(self.events.stored(run_id, after))),
            false => {
                let end = stream::once(self.clone().end_of_run(run_id.to_owned()));
                Box::pin(until_over(stream::select(events, end)))
            }
        };
        Ok(events)
    }

    /// Waits until the rows say that a run is over: events of other processes may
    /// be lost.
    async fn end_of_run(self, run_id: String) -> RunEvent {
        loop {
            tokio::time::sleep(LOOK_FOR_END).await;
            // In a task of its own: whoever stops reading events stops this future, which
            // must hold no connection of the database then.
            let (store, id) = (self.store.clone(), run_id.clone());
            let looked = tokio::spawn(async move { store.steering(&id).await });
            match looked.await {
                Ok(Ok((progress, _))) if progress.is_over() => {
                    return self.events.unstored(&run_id, What::Run { progress });
                }
                Ok(Ok(_)) => {}
                Ok(Err(error)) => {
                    tracing::debug!("the end of a run may be missed: {}", error.chain());
                }
                Err(error) => tracing::error!(%error, "looking for the end of a run failed"),
            }
        }
    }

    fn sandbox(&self) -> Arc<dyn Sandbox> {
        Arc::new(CachingSandbox {
            docker: self.docker.clone(),
            image_cache: self.image_cache.clone(),
        })
    }
}

/// A store that is away costs a step time and no attempt; a reader of a page is
/// told so instead.
fn artifacts_patience(config: &Config) -> Duration {
    match config.worker.is_some() || config.workers > 0 {
        true => Duration::from_mins(4),
        false => Duration::from_secs(20),
    }
}

/// The configured database, or a file in the data folder.
fn database_url(config: &Config, data: &std::path::Path) -> String {
    let file = || format!("sqlite:{}?mode=rwc", data.join("swe-ci.sqlite").display());
    config.database_url.clone().unwrap_or_else(file)
}

/// How often a stream of events looks whether its run is over.
const LOOK_FOR_END: Duration = Duration::from_secs(5);

/// Where a data folder has the id of its installation.
const INSTANCE_FILE: &str = "instance";

/// The id of this installation, created at its first start.
fn instance(data: &std::path::Path) -> anyhow::Result<String> {
    let path = data.join(INSTANCE_FILE);
    let known = std::fs::read_to_string(&path).unwrap_or_default();
    if !known.trim().is_empty() {
        return Ok(known.trim().to_owned());
    }
    let name = uuid::Uuid::now_v7().to_string();
    std::fs::write(&path, &name).with_context(|| {
        format!(
            "cannot write in the data folder {}; set SWE_CI_DATA to a writable one",
            data.display()
        )
    })?;
    Ok(name)
}

fn millis(time: Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
}

/// The moment after this time, in unix milliseconds.
fn after(time: Duration) -> i64 {
    clock::now_ms().saturating_add(millis(time))
}

/// A failure of the container engine or the network: what needs it can be
/// repeated later.
fn unavailable(error: impl Into<anyhow::Error>) -> Error {
    Error::Unavailable(format!("{:#}", error.into()))
}

/// Bytes that nobody can guess.
fn random<const N: usize>() -> anyhow::Result<[u8; N]> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes)
        .map_err(|e| anyhow!("the system provides no random numbers: {e}"))?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use std::fs::{Permissions, set_permissions};
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[tokio::test]
    async fn only_the_owner_may_read_the_data() {
        let home = tempfile::tempdir().unwrap();
        let data = home.path().join("data");
        let engine = Engine::open(Config::new(data.clone())).await.unwrap();
        let files = ["", "-wal", "-shm"].map(|end| data.join(format!("swe-ci.sqlite{end}")));
        let check = || {
            let mode = |path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
            assert_eq!(mode(&data), 0o700);
            for file in &files {
                assert_eq!(mode(file), 0o600, "{}", file.display());
            }
        };
        check();
        // As versions before this one made them.
        set_permissions(&data, Permissions::from_mode(0o755)).unwrap();
        for file in &files {
            set_permissions(file, Permissions::from_mode(0o644)).unwrap();
        }
        let again = Engine::open(Config::new(data.clone())).await.unwrap();
        check();
        drop((engine, again));
    }
}
