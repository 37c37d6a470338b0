//! Runs a task's tests on some code, and finds out whether the result can be
//! believed.
//!
//! The tests and the code under test share one process, so the code could do
//! anything to the result. Therefore:
//! - a bootstrap of ours starts pytest before any path of the code is in reach;
//! - the oracle's settings steer pytest, and the image's modules come first;
//! - results leave by a pipe that only the bootstrap can write frames to, each
//!   the moment it is known;
//! - canaries show a runner that was tampered with, and a look at the code shows
//!   what reaches for it.
//!
//! `docs/security.md` says what remains possible.

mod canaries;
mod channel;
mod constructs;
mod python;
mod session;
mod steering;
#[doc(hidden)]
pub mod testing;

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use anyhow::Context;
use serde::{Deserialize, Serialize};
use swe_ci_base::clock::ExcludedTime;
use swe_ci_base::code::CodeTree;
use swe_ci_base::digest::hex;
use swe_ci_core::finding::{Finding, FindingKind, Grade};
use swe_ci_core::report::Report;
use swe_ci_core::run::Limits;
use swe_ci_sandbox::{
    CODE_FOLDER, Exec, Exit, Lines, OnLine, Output, RunningCommand, SandboxContainer, SandboxError,
};

use canaries::Canaries;
use channel::Channel;
use session::Session;

/// The folder that always holds the oracle's tests, whatever the agent did to
/// it.
pub const TESTS: &str = "tests";
/// The code's own versions of settings files wait here.
const ASIDE_FOLDER: &str = "/app/aside";

/// The parts of the program that runs in the container, in order.
const BOOTSTRAP: [&str; 5] = [
    include_str!("bootstrap/channel.py"),
    include_str!("bootstrap/imports.py"),
    include_str!("bootstrap/watch.py"),
    include_str!("bootstrap/equality.py"),
    include_str!("bootstrap/session.py"),
];
/// Reads the bootstrap from standard input: no file and no list of processes
/// shows it.
const READ_BOOTSTRAP: &str = "import sys; exec(compile(sys.stdin.buffer.read(\
    int(sys.stdin.buffer.readline())), '<swe-ci>', 'exec'), {'__name__': 'swe_ci'})";

/// What is graded.
#[derive(Debug, Clone, Copy)]
pub struct Grading<'a> {
    pub code: &'a CodeTree,
    pub base: &'a CodeTree,
    /// Its `tests/` and settings are used, not the code's.
    pub oracle: &'a CodeTree,
    pub limits: Limits,
}

#[derive(Debug)]
pub struct Graded {
    /// The report, or why the code counts as collapsed.
    pub result: Result<Report, String>,
    /// The report as an artifact, if there was one.
    pub raw: Option<Vec<u8>>,
    /// Seconds from the code's arrival to the end of the tests.
    pub seconds: f64,
    pub findings: Vec<Finding>,
}

impl Graded {
    /// Why the tests of a task cannot be graded: honest code came out as
    /// suspicious.
    pub fn distrusted(&self) -> Option<String> {
        let worst = self.findings.iter().max_by_key(|finding| finding.grade)?;
        (worst.grade > Grade::Note).then(|| {
            format!(
                "the tests cannot be told from a manipulation: {}",
                worst.text
            )
        })
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
    pub async fn start(
        sandbox: &dyn SandboxContainer,
        limits: Limits,
    ) -> Result<Self, SandboxError> {
        let exec = Exec {
            command: ["python", "-c", READ_BOOTSTRAP].map(str::to_owned).into(),
            env: vec!["PYTHONPATH=".into()],
            reads_input: true,
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

/// What the bootstrap is told, in one line.
#[derive(Debug, Serialize, Deserialize)]
struct Settings {
    /// Seals the frames; in hex.
    key: String,
    code: String,
    tests: String,
    aside: String,
    /// Top-level modules of base or oracle.
    own: Vec<String>,
    /// Top-level modules that only the code has.
    added: Vec<String>,
    /// Settings files to be put back, and those to be removed.
    put_back: Vec<String>,
    absent: Vec<String>,
    arguments: Vec<String>,
}

/// Grades code in a fresh container.
///
/// # Errors
/// Failures of the platform. A crash, endless loop or missing report of the
/// code is a [`Graded`] without a report.
pub async fn grade(
    sandbox: &dyn SandboxContainer,
    grading: &Grading<'_>,
    on_line: OnLine<'_>,
) -> Result<Graded, SandboxError> {
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
    grading: &Grading<'_>,
    on_line: OnLine<'_>,
) -> Result<Graded, SandboxError> {
    let Grading {
        code,
        base,
        oracle,
        limits,
    } = *grading;
    let (key, seed) = randomness()?;
    let canaries = Canaries::new(seed, oracle);
    let mut placed = steering::place(code, base, oracle);
    for (path, entry) in canaries.files.iter() {
        placed.code.set(path, entry.clone());
    }
    sandbox
        .put(&[(CODE_FOLDER, &placed.code), (ASIDE_FOLDER, &placed.aside)])
        .await?;
    let settings = settings(key, &placed, grading);
    let began = Instant::now();
    let (session, exit) = run(
        sandbox,
        bootstrap,
        &settings,
        Session::new(canaries),
        key,
        on_line,
    )
    .await?;
    let seconds = began.elapsed().as_secs_f64();
    let equal_to_anything = session.equal_to_anything.clone();
    let mut graded = concluded(session, exit, limits, seconds);
    graded
        .findings
        .extend(equal_to_anything.into_iter().map(|class| {
            let known = constructs::is_known_class(&class, code, base, oracle);
            let text = format!("objects of {class} equal whatever they are compared with");
            let finding = if known {
                Finding::note
            } else {
                Finding::suspicious
            };
            finding(FindingKind::Equality, text)
        }));
    graded
        .findings
        .extend(steering::findings(code, base, oracle));
    graded
        .findings
        .extend(constructs::findings(code, base, oracle));
    Ok(graded)
}

async fn run(
    sandbox: &dyn SandboxContainer,
    bootstrap: Bootstrap,
    settings: &Settings,
    mut session: Session,
    key: [u8; 32],
    on_line: OnLine<'_>,
) -> Result<(Session, Exit), SandboxError> {
    let Bootstrap { mut command, exec } = bootstrap;
    let settings = serde_json::to_string(settings).context("settings are plain")?;
    let _ = command.write(format!("{settings}\n").as_bytes()).await;
    let mut channel = Channel::new(key);
    let mut lines = Lines::new(on_line);
    let exit = sandbox
        .wait(command, &exec, &mut |output| {
            match output {
                Output::Stdout(bytes) => channel.push(&bytes, |frame| session.take(frame)),
                Output::Stderr(bytes) => lines.push(&bytes),
            }
            // A process that the tests left behind may hold the pipe open.
            match session.is_over() {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        })
        .await?;
    lines.finish();
    Ok((session, exit))
}

fn concluded(session: Session, exit: Exit, limits: Limits, seconds: f64) -> Graded {
    let why = match exit {
        Exit::Code(code) => {
            let verdict = session.conclude(code);
            return Graded {
                result: verdict.result,
                raw: verdict.raw,
                seconds,
                findings: verdict.findings,
            };
        }
        Exit::TimedOut => format!("the tests took longer than {} s", limits.test_seconds),
        Exit::DiskSpent => format!("the tests wrote more than {} MiB", limits.disk_mb),
    };
    Graded {
        result: Err(why),
        raw: None,
        seconds,
        findings: Vec::new(),
    }
}

fn settings(key: [u8; 32], placed: &steering::Placed, grading: &Grading<'_>) -> Settings {
    let mut own = python::top_level_names(grading.base);
    own.extend(python::top_level_names(grading.oracle));
    let added = python::top_level_names(grading.code);
    Settings {
        key: hex(&key),
        code: CODE_FOLDER.into(),
        tests: TESTS.into(),
        aside: ASIDE_FOLDER.into(),
        added: added.difference(&own).cloned().collect(),
        own: own.into_iter().collect(),
        put_back: placed.aside.paths().map(str::to_owned).collect(),
        absent: placed.absent.clone(),
        arguments: ["-o", "addopts=", TESTS].map(str::to_owned).into(),
    }
}

fn randomness() -> anyhow::Result<([u8; 32], u128)> {
    let (mut key, mut seed) = ([0; 32], [0; 16]);
    let filled = getrandom::fill(&mut key).and_then(|()| getrandom::fill(&mut seed));
    filled.context("the system has no randomness")?;
    Ok((key, u128::from_le_bytes(seed)))
}
