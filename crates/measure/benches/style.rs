//! The benefit of measuring each content once: radon on a version of a real
//! project, and on another with one changed file. Reports results without
//! judging.

#[path = "../tests/it/tools.rs"]
#[allow(dead_code, reason = "the tests use the rest of it")]
mod tools;

use std::process::Command;
use std::time::{Duration, Instant};

use swe_ci_measure::{Mode, Radon, Source, file_digest, read_radon, request};
use swe_ci_testing::measurements::lower_is_better;
use tools::{Workspace, release, run, site};

/// Four radon commands that together give what our driver gives in one pass.
const COMMANDS: [&[&str]; 4] = [&["mi", "-j"], &["raw", "-j"], &["cc", "-j"], &["hal", "-j"]];

fn main() {
    let first = release("sqlparse==0.5.3");
    let mut second = first.clone();
    let path = "sqlparse/utils.py";
    second
        .entry(path.to_owned())
        .or_default()
        .extend(b"\n\nX = 1\n");
    let versions = [&first, &second];
    tools::layer(); // installed before the clock runs

    let mut radon = Radon::default();
    let incremental = versions.map(|source| learn(&mut radon, source));
    for (what, took) in [
        ("each content once", incremental),
        ("by radon's command lines", versions.map(run_command_lines)),
    ] {
        let seconds = took.iter().sum::<Duration>().as_secs_f64();
        lower_is_better(&format!("style: two versions, {what}"), seconds, "s");
    }
}

/// Measures the contents that are unknown yet.
fn learn(radon: &mut Radon, source: &Source) -> Duration {
    let started_at = Instant::now();
    let named = source.values().map(|bytes| (file_digest(bytes), bytes));
    let new = named.filter(|(digest, _)| !radon.knows(digest));
    let contents: Source = new
        .map(|(digest, b)| (format!("{digest}.py"), b.clone()))
        .collect();
    let workspace = Workspace::new(&contents);
    let found = workspace.run(
        Mode::Radon,
        &request(Mode::Radon, &workspace.root(), &contents),
    );
    radon.extend(read_radon(&found.unwrap(), &contents).unwrap());
    started_at.elapsed()
}

fn run_command_lines(source: &Source) -> Duration {
    let workspace = Workspace::new(source);
    let started_at = Instant::now();
    for command in COMMANDS {
        let mut python = Command::new("python3");
        python
            .args(["-m", "radon"])
            .args(command)
            .args(source.keys());
        run(python
            .env("PYTHONPATH", site())
            .current_dir(workspace.at("code")))
        .unwrap();
    }
    started_at.elapsed()
}
