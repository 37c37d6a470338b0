//! An engine over a temporary data folder, with a tiny dataset imported.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use swe_ci_core::metrics::Verdict;
use swe_ci_core::run::RunConfig;
use swe_ci_engine::testing::{self, TinyTask};
use swe_ci_engine::{Engine, ImportOptions, Imported, Result};
use swe_ci_views::account::Visibility;
use swe_ci_views::background::{BackgroundWork, WorkState};
use swe_ci_views::view::{EvolutionView, RunDetail};
use tokio_util::sync::CancellationToken;

/// The name of every test's split.
pub const SPLIT: &str = "tiny";

/// Time limit of the longest run; the test runner gives others less.
const PATIENCE: Duration = Duration::from_mins(50);

pub struct Fixture {
    pub engine: Engine,
    pub folder: tempfile::TempDir,
}

impl Fixture {
    pub async fn new() -> Self {
        Self::in_folder(tempfile::tempdir().unwrap()).await
    }

    /// Shares these parts of the data folder between all tests and keeps them
    /// for the next time: they take minutes to create.
    pub async fn keeping(parts: &[&str]) -> Self {
        let folder = Self::keep(parts);
        Self::in_folder(folder).await
    }

    /// With workers that measure the code style of finished evolutions.
    pub async fn measuring() -> Self {
        Self::measuring_with(|config| config.measure_style = true).await
    }

    /// With differently configured style tools.
    pub async fn measuring_with(set_up: impl FnOnce(&mut swe_ci_engine::Config)) -> Self {
        let folder = Self::keep(&["layers"]);
        let mut config = testing::config(folder.path().join("data"), 2);
        set_up(&mut config);
        Self {
            engine: Engine::open(config).await.unwrap(),
            folder,
        }
    }

    fn keep(parts: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("data")).unwrap();
        for part in parts {
            let shared = shared_folder().join(part);
            std::fs::create_dir_all(&shared).unwrap();
            std::os::unix::fs::symlink(&shared, folder.path().join("data").join(part)).unwrap();
        }
        folder
    }

    async fn in_folder(folder: tempfile::TempDir) -> Self {
        Self::working_on(2, folder).await
    }

    /// With this many evolutions at a time.
    pub async fn with_workers(workers: usize) -> Self {
        Self::working_on(workers, tempfile::tempdir().unwrap()).await
    }

    async fn working_on(workers: usize, folder: tempfile::TempDir) -> Self {
        let engine = Engine::open(testing::config(folder.path().join("data"), workers))
            .await
            .unwrap();
        Self { engine, folder }
    }

    /// With these tasks imported, once for all tests that use them.
    pub async fn imported(tasks: &[TinyTask<'_>]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let cache = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let programs = [std::env::current_exe().unwrap()];
        let data = folder.path().join("data");
        let name = testing::name_of(SPLIT, tasks);
        let make = async |made: &Path| {
            let fixture = Self::new().await;
            fixture.import(tasks).await.unwrap();
            testing::copy(&fixture.folder.path().join("data"), made).unwrap();
        };
        let made = testing::made_once(cache, &name, &programs, &data, make);
        made.await.unwrap();
        Self::in_folder(folder).await
    }

    /// Writes a dataset and imports it.
    pub async fn import(&self, tasks: &[TinyTask<'_>]) -> Result<Imported> {
        self.write(tasks).await;
        self.import_written().await.0
    }

    pub async fn write(&self, tasks: &[TinyTask<'_>]) {
        let cache = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let image = testing::image_archive(&self.engine, cache).await.unwrap();
        testing::write_dataset(&self.dataset(), SPLIT, &image, tasks).unwrap();
    }

    pub fn dataset(&self) -> std::path::PathBuf {
        self.folder.path().join("dataset")
    }

    /// Imports the written dataset; also returns the progress messages.
    pub async fn import_written(&self) -> (Result<Imported>, Vec<String>) {
        self.import_with(&testing::once()).await
    }

    pub async fn import_with(&self, options: &ImportOptions) -> (Result<Imported>, Vec<String>) {
        let messages = Arc::new(Mutex::new(Vec::new()));
        let sink = messages.clone();
        let imported = self
            .engine
            .import(self.dataset().as_path(), SPLIT, options, &move |line| {
                sink.lock().unwrap().push(line);
            })
            .await;
        let messages = messages.lock().unwrap().clone();
        (imported, messages)
    }

    /// Removes an image that only one test uses.
    pub fn remove_image(&self, digest: &str) {
        let remove = ["image", "rm", "--force", digest];
        let _ = std::process::Command::new("docker").args(remove).output();
    }

    /// Runs the human baseline to its end.
    pub async fn replay(&self) -> RunDetail {
        self.run(RunConfig::human(SPLIT)).await
    }

    pub async fn run(&self, config: RunConfig) -> RunDetail {
        let id = self
            .engine
            .submit(config, Visibility::Public)
            .await
            .unwrap();
        self.until(&id, |run| run.summary.progress.is_over()).await
    }

    /// Works until the run satisfies the condition.
    pub async fn until(&self, run_id: &str, done: impl Fn(&RunDetail) -> bool) -> RunDetail {
        let run = async || {
            let run = self.engine.run(run_id).await.unwrap();
            done(&run).then_some(run)
        };
        self.work_until(run).await
    }

    /// Works until there is something.
    pub async fn work_until<T>(&self, found: impl AsyncFn() -> Option<T>) -> T {
        let stop = CancellationToken::new();
        let worker = tokio::spawn({
            let (engine, stop) = (self.engine.clone(), stop.clone());
            async move { engine.work(stop).await }
        });
        let began = Instant::now();
        let found = loop {
            if let Some(found) = found().await {
                break found;
            }
            assert!(began.elapsed() < PATIENCE, "it does not come to it");
            assert!(
                !worker.is_finished(),
                "the worker stopped: {:?}",
                worker.await
            );
            tokio::time::sleep(Duration::from_millis(50)).await;
        };
        stop.cancel();
        worker.await.unwrap().unwrap();
        found
    }
}

impl Drop for Fixture {
    /// Layers that are not shared are removed with their data folder.
    fn drop(&mut self) {
        let records = self.folder.path().join("data/layers");
        if records.is_symlink() {
            return;
        }
        for record in std::fs::read_dir(records).into_iter().flatten().flatten() {
            let text = std::fs::read(record.path()).unwrap_or_default();
            let record: serde_json::Value = serde_json::from_slice(&text).unwrap_or_default();
            if let Some(volume) = record["volume"].as_str() {
                let remove = ["volume", "rm", "--force", volume];
                let _ = std::process::Command::new("docker").args(remove).output();
            }
        }
    }
}

/// The folder of the shared parts.
pub fn shared_folder() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("kept")
}

/// An evolution as golden text: how it ended, then a line per iteration.
pub fn golden(evolution: &EvolutionView) -> String {
    let ending = evolution
        .ending
        .map_or("not over", swe_ci_core::step::Ending::name);
    let mut text = format!("{} {ending}\n", evolution.task_id);
    for i in &evolution.iterations {
        let target = evolution.suite.target;
        let verdict = match i.verdict {
            Verdict::Scored { in_target, .. } => format!("{in_target}/{target}"),
            Verdict::Collapsed { .. } => {
                format!("collapsed ({})", i.collapse.as_deref().unwrap_or_default())
            }
        };
        text += &format!(
            "{} {verdict} lost {} gained {}\n",
            i.iteration,
            i.verdict.lost(),
            i.gained
        );
    }
    text
}

/// The result of work in the background, once it is done.
pub async fn done(work: impl AsyncFn() -> Option<BackgroundWork>) -> String {
    let began = Instant::now();
    loop {
        let work = work().await.expect("work was started");
        match work.state {
            WorkState::Done { result } => return result,
            WorkState::Failed { reason } => panic!("{reason}"),
            WorkState::Queued | WorkState::Working => {
                let waits = began.elapsed() < Duration::from_mins(2);
                assert!(waits, "it does not end: {}", work.progress);
            }
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// The same where a worker has to do it: one of this engine does.
pub async fn done_by_a_worker(
    engine: &Engine,
    work: impl AsyncFn() -> Option<BackgroundWork>,
) -> String {
    let stop = CancellationToken::new();
    let worker = tokio::spawn({
        let (engine, stop) = (engine.clone(), stop.clone());
        async move { engine.work(stop).await }
    });
    let result = done(work).await;
    stop.cancel();
    worker.await.unwrap().unwrap();
    result
}
