//! The tiny task, and an isolated evolution of it.

use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::Arc;

use anyhow::{Context, anyhow};
use futures::StreamExt;
use swe_ci_base::blocking::blocking;
use swe_ci_base::error::{Error, Result};
use swe_ci_base::files::{self, FileIdentity};
use swe_ci_core::metrics::Verdict;
use swe_ci_core::permissions::RunPermissions;
use swe_ci_core::run::RunConfig;
use swe_ci_core::step::{Role, StepOutcome};
use swe_ci_dataset::tiny::{TinyTask, write_dataset};
use swe_ci_dataset::{ImportOptions, Importer, TaskFolders, demo};
use swe_ci_gateway::{Exchange, Gateway, Ledgers};
use swe_ci_runner::events::Events;
use swe_ci_runner::evolve::{Evolver, Interrupts};
use swe_ci_sandbox::image_cache::ImageCache;
use swe_ci_sandbox::{Docker, Instance, SweepScope};
use swe_ci_store::artifacts::Artifacts;
use swe_ci_store::{Claim, NewRun, StepRow, Store};
use swe_ci_views::account::{Actor, Standing};
use swe_ci_views::event::What;
use swe_ci_views::view::{Provenance, ProviderWait, StepView, TaskState};
use tempfile::TempDir;
use tokio_util::task::TaskTracker;

use super::{CheckNews, Tell};
use crate::Engine;

pub const SPLIT: &str = "check";
const WORKER: &str = "check";
/// No other worker could claim it.
const LEASE_MS: i64 = 24 * 3_600 * 1_000;
const LAST_LINES: usize = 15;

const TESTS: (&str, &str) = (
    "tests/test_tally.py",
    "\
import tally


def test_total():
    assert tally.total([1, 2, 6]) == 9
    assert tally.total([]) == 0


def test_mean():
    assert tally.mean([1, 2, 6]) == 3
    assert tally.mean([]) == 0


def test_spread():
    assert tally.spread([4, 1, 6]) == 5
    assert tally.spread([]) == 0
",
);

/// A package of three functions; two of them are missing.
const TASK: TinyTask<'_> = TinyTask {
    name: "tally",
    versions: &[
        &[
            (
                "tally/__init__.py",
                "\
\"\"\"Sums up lists of numbers.\"\"\"


def total(numbers):
    return sum(numbers)


def mean(numbers):
    raise NotImplementedError


def spread(numbers):
    raise NotImplementedError
",
            ),
            TESTS,
        ],
        &[
            (
                "tally/__init__.py",
                "\
\"\"\"Sums up lists of numbers.\"\"\"


def total(numbers):
    return sum(numbers)


def mean(numbers):
    return total(numbers) / len(numbers) if numbers else 0


def spread(numbers):
    return max(numbers) - min(numbers) if numbers else 0
",
            ),
            TESTS,
        ],
    ],
};

/// An isolated store, artifacts, task folders, a gateway and containers.
#[derive(Debug)]
pub struct Trial {
    evolver: Evolver,
    pub docker: Docker,
    folder: TempDir,
}

#[derive(Debug)]
pub struct TrialResult {
    pub steps: Vec<PlayedStep>,
    /// Tests that pass after the last iteration that was tested, and how many
    /// there are.
    pub passed: u32,
    pub tests: u32,
    /// The last output of the last step.
    pub last_lines: Vec<String>,
}

/// A step with the provider's answers in it.
#[derive(Debug)]
pub struct PlayedStep {
    pub step: StepView,
    pub answers: Vec<ProviderAnswer>,
}

#[derive(Debug)]
pub struct ProviderAnswer {
    /// Whether the provider reported its usage.
    pub counted: bool,
    /// Why the answer was no success.
    pub error: Option<String>,
}

impl TrialResult {
    pub fn agent_steps(&self) -> impl Iterator<Item = &StepView> {
        let steps = self.steps.iter().map(|played| &played.step);
        steps.filter(|step| step.role != Role::Test)
    }

    pub fn is_done(&self, role: Role) -> bool {
        self.steps.iter().any(|played| has_done(&played.step, role))
    }
}

impl Trial {
    /// Removes the remains of an earlier trial; the caller must hold the
    /// check's lock.
    pub async fn new(engine: &Engine) -> Result<Self> {
        let data = std::path::absolute(&engine.config.data)
            .context("cannot resolve the path of the data folder")?;
        files::remove_folder(&data.join("check"))?;
        let folder = tempfile::Builder::new()
            .prefix("check")
            .rand_bytes(0)
            .tempdir_in(&data)
            .with_context(|| format!("cannot write in {}", data.display()))?;
        let at = folder.path();
        // An instance name of its own: a server of this installation removes
        // containers of unknown steps.
        let instance = Instance(format!("{}-check", engine.instance));
        let docker = engine.docker.clone().of_instance(instance);
        if let Err(error) = docker.sweep(SweepScope::ByOthers).await {
            tracing::debug!("containers of earlier checks not removed: {error:#}");
        }
        let database = at.join("check.sqlite");
        let evolver = Evolver {
            store: Store::open(&format!("sqlite:{}?mode=rwc", database.display())).await?,
            artifacts: Artifacts::in_folder(&at.join("artifacts"))?,
            sandbox: Arc::new(docker.clone()),
            folders: TaskFolders::new(at.join("tasks")),
            events: Events::default(),
            harnesses: engine.harnesses.clone(),
            gateway: Gateway::new(at.join("gateway"))?,
            keys: engine.keys.clone(),
            ledgers: Ledgers::default(),
            pending_containers: TaskTracker::new(),
        };
        Ok(Self {
            evolver,
            docker,
            folder,
        })
    }

    /// Creates the task and imports it; returns how many of its tests pass, and
    /// of how many.
    pub async fn prepare(&self, engine: &Engine) -> Result<(u32, u32)> {
        let network = engine.config.build_network()?;
        let base = &engine.config().base_image;
        let images = &engine.images;
        let digest = demo::build_image(images, base, &network, &|_| {}).await?;
        let dataset = self.folder.path().join("dataset");
        let to = dataset.clone();
        let (archive, identity) = blocking(move || write(&to)).await?;
        // The image exists already: there is nothing to pack and unpack.
        let image_cache = ImageCache::new(images.clone(), self.folder.path());
        image_cache.remember(&archive, identity, &digest).await?;
        let options = ImportOptions {
            repeats: 1,
            ..ImportOptions::default()
        };
        let importer = Importer {
            store: &self.evolver.store,
            artifacts: &self.evolver.artifacts,
            sandbox: self.evolver.sandbox.clone(),
            image_cache: &image_cache,
            folders: &self.evolver.folders,
            options: &options,
        };
        let rows = importer.import(&dataset, SPLIT, &|_| {}).await?;
        let row = rows.first().context("the tiny task was not imported")?;
        match &row.state {
            TaskState::Ready => Ok((row.suite.counts.base_in_target, row.suite.counts.target)),
            TaskState::Unusable { reason } => {
                Err(anyhow!("the tiny task cannot be used: {reason}").into())
            }
        }
    }

    /// Runs the evolution as far as needed to see whether the agents work.
    pub async fn evolve(
        &self,
        config: &RunConfig,
        grant: RunPermissions,
        tests: (u32, u32),
        tell: Tell<'_>,
    ) -> Result<TrialResult> {
        let claim = self.submit(config, grant).await?;
        let interrupts = Interrupts::default();
        let mut events = pin!(self.evolver.events.subscribe(&claim.run_id, Some(0)));
        let mut evolving = pin!(self.evolver.evolve(&claim, WORKER, &interrupts));
        let mut reported = 0;
        loop {
            let over = tokio::select! {
                outcome = &mut evolving => outcome.map(|_| true)?,
                Some(event) = events.next() => match event.what {
                    What::Log { .. } => continue,
                    What::Waiting { waiting: Some(wait), .. } => {
                        tell(CheckNews::Said(still_asking(&wait)));
                        continue;
                    }
                    _ => false,
                },
            };
            let steps = self.evolver.store.steps(&claim.evolution_id).await?;
            for step in &steps[reported..] {
                tell(CheckNews::Step(Box::new(step.view())));
                if let StepOutcome::Scored { .. } = step.outcome
                    && let Some(passed) = self.passed(&claim).await?
                {
                    let of = tests.1;
                    tell(CheckNews::Tests { passed, of });
                }
            }
            reported = steps.len();
            let views: Vec<StepView> = steps.iter().map(StepRow::view).collect();
            let done = |role| views.iter().any(|step| has_done(step, role));
            let tested = views.last().is_some_and(|step| step.role == Role::Test);
            if tested && done(Role::Architect) && done(Role::Programmer) {
                interrupts.stop.cancel();
            }
            if over {
                return self.result(&claim, &steps, tests).await;
            }
        }
    }

    async fn submit(&self, config: &RunConfig, grant: RunPermissions) -> Result<Claim> {
        let store = &self.evolver.store;
        let tasks = store.tasks_of_split(SPLIT).await?;
        let run = NewRun {
            standing: Standing::default(),
            grant,
            config: config.clone(),
            provenance: Provenance::default(),
            tasks: tasks.into_iter().map(|task| (task.id, 1.0)).collect(),
            preflight: false,
            forget_keys: false,
        };
        store.insert_run(&run, &Actor::Operator).await?;
        let claim = store.claim(WORKER, LEASE_MS).await?;
        claim.ok_or_else(|| Error::Internal(anyhow!("the evolution could not be claimed")))
    }

    /// Tests that pass after the last iteration, unless its code collapsed.
    async fn passed(&self, claim: &Claim) -> Result<Option<u32>> {
        let iterations = self.evolver.store.iterations(&claim.evolution_id).await?;
        Ok(iterations.last().and_then(|row| match row.verdict {
            Verdict::Scored { in_target, .. } => Some(in_target),
            Verdict::Collapsed { .. } => None,
        }))
    }

    async fn result(
        &self,
        claim: &Claim,
        steps: &[StepRow],
        tests: (u32, u32),
    ) -> Result<TrialResult> {
        let mut played = Vec::new();
        for step in steps {
            let answers = match &step.trajectory {
                Some(key) => Exchange::parse_lines(&self.evolver.artifacts.get(key).await?)?,
                None => Vec::new(),
            };
            let answers = answers.into_iter().map(|exchange| ProviderAnswer {
                counted: exchange.usage.is_some(),
                error: exchange.error,
            });
            played.push(PlayedStep {
                step: step.view(),
                answers: answers.collect(),
            });
        }
        let iterations = self.evolver.store.iterations(&claim.evolution_id).await?;
        let passed = match self.passed(claim).await? {
            _ if iterations.is_empty() => tests.0,
            passed => passed.unwrap_or(0),
        };
        Ok(TrialResult {
            steps: played,
            passed,
            tests: tests.1,
            last_lines: self.last_lines(steps.last()).await,
        })
    }

    async fn last_lines(&self, step: Option<&StepRow>) -> Vec<String> {
        let Some(key) = step.and_then(|step| step.log.as_ref()) else {
            return Vec::new();
        };
        let log = self.evolver.artifacts.get(key).await.unwrap_or_default();
        let text = String::from_utf8_lossy(&log);
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.drain(..lines.len().saturating_sub(LAST_LINES));
        lines
    }
}

/// Shown where nothing else is for minutes.
fn still_asking(wait: &ProviderWait) -> String {
    match (wait.answering, wait.why.as_str()) {
        (Some(request), _) => format!("the model is still answering request {request}"),
        (None, "") => "a request to the model has no answer yet".into(),
        (None, why) => format!("waiting for the provider: {why}"),
    }
}

fn has_done(step: &StepView, role: Role) -> bool {
    step.role == role && step.outcome == StepOutcome::Done
}

/// Writes the dataset; the image archive is empty, and known by its identity.
fn write(dataset: &Path) -> anyhow::Result<(PathBuf, FileIdentity)> {
    std::fs::create_dir_all(dataset)?;
    let archive = dataset.join("image.tar.gz");
    std::fs::write(&archive, [])?;
    write_dataset(dataset, SPLIT, &archive, &[TASK])?;
    let archive = dataset.join("data").join(TASK.name).join("image.tar.gz");
    let identity = files::identity(&archive)?;
    Ok((archive, identity))
}
