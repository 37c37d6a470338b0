//! Runs a task's tests on some code, and finds out whether the result can be
//! believed.
//!
//! The tests and the code under test share one process, so the code could do
//! anything to the result. Therefore:
//! - a bootstrap of ours starts pytest before any path of the code is in reach;
//! - the oracle's settings steer pytest, and the image's modules come first;
//! - results are sealed and numbered the moment they are known, and leave by a
//!   pipe that only the bootstrap can write frames to;
//! - an audit runs recorded code against contradictions of the tests that it
//!   passes, and with their clues moved, which shows answers that are not
//!   computed, and asks it changed inputs, which measures how far it generalises.
//!
//! All this is pytest's. Tests that a plan runs write a report: see `reported`.
//!
//! `docs/security.md` says what remains possible.

mod audit;
mod channel;
mod clues;
mod constructs;
mod contradictions;
mod emptied;
mod files;
mod generalisation;
mod portable;
mod program;
mod pytest_settings;
mod python;
mod reported;
mod session;
mod settings;
#[doc(hidden)]
pub mod testing;

use std::collections::BTreeSet;
use std::num::NonZeroU16;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::Context;
use swe_ci_base::blocking::blocking;
use swe_ci_base::clock::ExcludedTime;
use swe_ci_base::code::CodeTree;
use swe_ci_core::finding::{Finding, tampering};
use swe_ci_core::report::Report;
use swe_ci_core::run::Limits;
use swe_ci_core::task::{TESTS, TestCommand};
use swe_ci_core::wall::Wall;
use swe_ci_sandbox::{
    CODE_FOLDER, Exec, Exit, Lines, OnLine, Output, RunningCommand, SandboxContainer, SandboxError,
};
use tracing::Instrument;

use channel::Channel;
use files::Files;
use session::Session;
use settings::{ASIDE_FOLDER, END_OF_OUTPUT, Settings};

pub use audit::{MOST_SESSIONS, Recorded, audit, secret_seed};
pub use clues::owed_to_clues;
pub use contradictions::{Contradictions, ShownTests, contradictions_of};
pub use emptied::passing_on_empty_functions;
pub use generalisation::{Questions, generalisation};
pub use portable::{GradingPlan, Portable};

/// The parts of the program that runs in the container, in order.
const BOOTSTRAP: [&str; 8] = [
    include_str!("bootstrap/channel.py"),
    include_str!("bootstrap/files.py"),
    include_str!("bootstrap/imports.py"),
    include_str!("bootstrap/guards.py"),
    include_str!("bootstrap/clues.py"),
    include_str!("bootstrap/limit.py"),
    include_str!("bootstrap/trace.py"),
    include_str!("bootstrap/session.py"),
];
/// Reads the bootstrap from standard input: no file and no list of processes
/// shows it.
const READ_BOOTSTRAP: &str = "import sys; exec(compile(sys.stdin.buffer.read(\
    int(sys.stdin.buffer.readline())), '<swe-ci>', 'exec'), {'__name__': 'swe_ci'})";

/// What is graded.
#[derive(Debug, Clone)]
pub struct Grading {
    pub code: Arc<CodeTree>,
    pub base: Arc<CodeTree>,
    /// Its `tests/` and settings are used, not the code's.
    pub oracle: Arc<CodeTree>,
    pub command: TestCommand,
    /// Node ids that the base or the target has; other tests do not count, since
    /// the code can make up any number of them. All count if absent.
    pub known_tests: Option<Arc<BTreeSet<String>>>,
    pub limits: Limits,
    /// Walls that the task's own tests do not bear.
    pub left_away: BTreeSet<Wall>,
}

/// In which order, and under which names, the tests run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Staging {
    AsWritten,
    /// See [`owed_to_clues`].
    CluesMoved,
    Shuffled {
        seed: u64,
    },
    /// Contradicted, or on empty functions, where tests may never end: each has a limit
    /// of its own.
    Bounded {
        test_seconds: NonZeroU16,
        traced: BTreeSet<String>,
    },
}

#[derive(Debug)]
pub struct Graded {
    /// The report, or why the code counts as collapsed: also where its findings
    /// say that the test runner was tampered with.
    pub result: Result<Report, String>,
    /// Whether there is none because the tests took too long.
    pub timed_out: bool,
    /// The report as an artifact, if there was one.
    pub raw: Option<Vec<u8>>,
    /// Seconds from the code's arrival to the end of the tests.
    pub seconds: f64,
    pub findings: Vec<Finding>,
    /// Options of the settings that were left out.
    pub dropped_options: Vec<String>,
    /// The tests in the order in which they were collected.
    pub order: Vec<TestRun>,
}

/// A collected test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestRun {
    pub id: String,
    /// The type of the exception that its own code raised.
    pub raised: Option<String>,
    /// Whether a traced word reached the package.
    pub(crate) reached: bool,
}

impl TestRun {
    /// One of which nothing else is known.
    fn of(id: &str) -> Self {
        Self {
            id: id.to_owned(),
            raised: None,
            reached: false,
        }
    }
}

/// A bootstrap that has imported pytest and waits for the code.
#[derive(Debug)]
pub struct Bootstrap {
    command: RunningCommand,
    exec: Exec,
}

impl Bootstrap {
    /// Starts Python and pytest in a container that does not have the code yet.
    #[tracing::instrument(name = "start the bootstrap", level = "debug", skip_all)]
    pub async fn start(
        sandbox: &dyn SandboxContainer,
        limits: Limits,
    ) -> Result<Self, SandboxError> {
        let exec = Exec {
            command: ["python", "-c", READ_BOOTSTRAP].map(str::to_owned).into(),
            env: vec!["PYTHONPATH=".into()],
            reads_input: true,
            unprivileged: false,
            wanted: None,
            working_dir: "/".into(),
            time_limit: Duration::from_secs(limits.test_seconds.into()),
            off: ExcludedTime::default(),
        };
        let mut command = sandbox.start(&exec).await?;
        let program = BOOTSTRAP.concat();
        let program = format!("{}\n{program}", program.len());
        // An image without Python does not read: the exit code will tell.
        let _ = command.write(program.as_bytes()).await;
        Ok(Self { command, exec })
    }
}

/// Grades code in a fresh container.
///
/// # Errors
/// Failures of the platform. A crash, endless loop or missing report of the
/// code is a [`Graded`] without a report.
pub async fn grade(
    sandbox: &dyn SandboxContainer,
    grading: &Grading,
    on_line: OnLine<'_>,
) -> Result<Graded, SandboxError> {
    if let Some(plan) = grading.command.plan() {
        return reported::grade(sandbox, plan, grading, on_line).await;
    }
    let bootstrap = Bootstrap::start(sandbox, grading.limits).await?;
    grade_in(sandbox, bootstrap, grading, on_line).await
}

/// [`grade`], in a container where a bootstrap waits already.
///
/// # Errors
/// As of [`grade`].
pub async fn grade_in(
    sandbox: &dyn SandboxContainer,
    bootstrap: Bootstrap,
    grading: &Grading,
    on_line: OnLine<'_>,
) -> Result<Graded, SandboxError> {
    grade_as(Staging::AsWritten, sandbox, bootstrap, grading, on_line).await
}

/// [`grade`], with the tests in a random order; those of a file and of a class
/// stay together.
///
/// # Errors
/// As of [`grade`].
pub async fn grade_shuffled(
    sandbox: &dyn SandboxContainer,
    grading: &Grading,
    seed: u64,
) -> Result<Graded, SandboxError> {
    let bootstrap = Bootstrap::start(sandbox, grading.limits).await?;
    let staging = Staging::Shuffled { seed };
    grade_as(staging, sandbox, bootstrap, grading, &mut |_| {}).await
}

async fn grade_as(
    staging: Staging,
    sandbox: &dyn SandboxContainer,
    bootstrap: Bootstrap,
    grading: &Grading,
    on_line: OnLine<'_>,
) -> Result<Graded, SandboxError> {
    let key = random()?;
    let trees = grading.clone();
    let prepare = blocking(move || Ok(prepared(&trees, &staging, &key)))
        .instrument(tracing::debug_span!("place the files"));
    let (files, settings) = prepare.await?;
    let mut session = Session::default();
    let began = Instant::now();
    let Bootstrap { mut command, exec } = bootstrap;
    send(&mut command, &settings, &files, exec.time_limit).await?;
    let ended = run(sandbox, command, &exec, &mut session, key, on_line).await;
    if session.disk_full {
        let why = "no space is left on its disk for the code";
        return Err(SandboxError::Engine(why.into()));
    }
    let timed_out = matches!(ended, Ok(Exit::TimedOut));
    let exit = match ended {
        Ok(exit) => exit_code(exit, grading.limits),
        Err(error) if error.blames_the_code() => Err(error.to_string()),
        Err(error) => return Err(error),
    };
    let seconds = began.elapsed().as_secs_f64();
    let trees = grading.clone();
    let conclude = blocking(move || Ok(graded(session, exit, timed_out, seconds, &trees)))
        .instrument(tracing::debug_span!("judge the results"));
    Ok(conclude.await?)
}

/// The files on which the tests of a grading start, by their folder in the
/// container: the code with the oracle's tests and settings, and beside it the
/// code's own settings, which take their place once pytest has read the others.
pub fn placed(grading: &Grading) -> [(&'static str, CodeTree); 2] {
    if let Some(plan) = grading.command.plan() {
        let placed = reported::placed(plan, grading);
        return [(CODE_FOLDER, placed), (ASIDE_FOLDER, CodeTree::default())];
    }
    let placed = pytest_settings::place(&grading.code, &grading.base, &grading.oracle);
    [(CODE_FOLDER, placed.code), (ASIDE_FOLDER, placed.aside)]
}

/// The files and settings that the container gets.
fn prepared(grading: &Grading, staging: &Staging, key: &[u8]) -> (Files, Settings) {
    let Grading {
        code, base, oracle, ..
    } = grading;
    let placed = pytest_settings::place(code, base, oracle);
    let files = Files::new(&[(CODE_FOLDER, &placed.code), (ASIDE_FOLDER, &placed.aside)]);
    let settings = Settings::new(key, &placed, &files, grading, staging);
    (files, settings)
}

/// Sends the settings and the files. A bootstrap that is gone does not read: its
/// exit code tells.
async fn send(
    command: &mut RunningCommand,
    settings: &Settings,
    files: &Files,
    time_limit: Duration,
) -> Result<(), SandboxError> {
    let settings = serde_json::to_string(settings).context("settings are plain")?;
    let sent = async {
        command.write(format!("{settings}\n").as_bytes()).await?;
        for contents in files.contents() {
            command.write(&contents).await?;
        }
        Ok::<_, SandboxError>(())
    };
    match tokio::time::timeout(time_limit, sent).await {
        Ok(_) => Ok(()),
        Err(_) => Err(SandboxError::Engine("it did not pass on the code".into())),
    }
}

async fn run(
    sandbox: &dyn SandboxContainer,
    command: RunningCommand,
    exec: &Exec,
    session: &mut Session,
    key: [u8; 32],
    on_line: OnLine<'_>,
) -> Result<Exit, SandboxError> {
    let mut channel = Channel::new(key);
    let output_ended = AtomicBool::new(false);
    let mut on_line = |line: &str| match line == END_OF_OUTPUT {
        true => output_ended.store(true, Ordering::Relaxed),
        false => on_line(line),
    };
    let mut lines = Lines::new(&mut on_line);
    let mut on_output = |output| {
        match output {
            Output::Stdout(bytes) => channel.push(&bytes, |frame| session.take(frame)),
            Output::Stderr(bytes) => lines.push(&bytes),
        }
        // A process that the tests left behind may hold the pipe open.
        match session.is_over(output_ended.load(Ordering::Relaxed)) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    };
    let exit = sandbox.wait(command, exec, &mut on_output).await;
    lines.finish();
    exit
}

/// The exit code, or why there is none.
fn exit_code(exit: Exit, limits: Limits) -> Result<i64, String> {
    match exit {
        Exit::Code(code) => Ok(code),
        Exit::TimedOut => Err(format!(
            "the tests took longer than {} s",
            limits.test_seconds
        )),
        Exit::DiskSpent => Err(format!("the tests wrote more than {} MiB", limits.disk_mb)),
    }
}

fn graded(
    mut session: Session,
    exit: Result<i64, String>,
    timed_out: bool,
    seconds: f64,
    grading: &Grading,
) -> Graded {
    let Grading {
        code, base, oracle, ..
    } = grading;
    let dropped_options = std::mem::take(&mut session.dropped_options);
    let order = session.order();
    let verdict = session.conclude(exit, grading.known_tests.as_deref());
    let mut findings = verdict.findings;
    findings.extend(pytest_settings::findings(code, base, oracle));
    findings.extend(constructs::compiled(code, base, oracle));
    let result = match tampering(&findings) {
        Some(why) => Err(why),
        None => verdict.result,
    };
    Graded {
        result,
        timed_out,
        raw: verdict.raw,
        seconds,
        findings,
        dropped_options,
        order,
    }
}

/// A node id without parameters.
fn function_of(id: &str) -> &str {
    id.split('[').next().unwrap_or(id)
}

/// Whether a path of the code belongs to the tests.
fn is_test(path: &str) -> bool {
    path.split('/').next() == Some(TESTS)
}

fn random<const N: usize>() -> anyhow::Result<[u8; N]> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).context("the system has no randomness")?;
    Ok(bytes)
}
