//! What measuring each content once is worth: radon over a version of a real
//! project and one more with a changed file. Prints; judges nothing.
#![allow(clippy::print_stdout, reason = "a benchmark reports on stdout")]

#[path = "../tests/it/tools.rs"]
#[allow(dead_code, reason = "the tests use the rest of it")]
mod tools;

use std::process::Command;
use std::time::{Duration, Instant};

use swe_ci_measure::{Mode, Radon, Source, file_digest, read_radon, request};
use tools::{Place, release, run, site};

/// By hand, four of radon's commands tell what one look tells here.
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
    let (mut looked_at, mut incremental) = (0, Duration::ZERO);
    for source in versions {
        let (files, took) = learn(&mut radon, source);
        println!(
            "incremental: {files} of {} files in {:.2} s",
            source.len(),
            took.as_secs_f64()
        );
        (looked_at, incremental) = (looked_at + files, incremental + took);
    }
    let serial: Duration = versions.map(by_hand).iter().sum();
    let files = first.len() + second.len();
    println!(
        "radon by hand: {files} files in {:.2} s",
        serial.as_secs_f64()
    );
    println!(
        "incremental takes {:.2} of that, for {:.2} of the files",
        incremental.as_secs_f64() / serial.as_secs_f64(),
        f64::from(u32::try_from(looked_at).unwrap()) / f64::from(u32::try_from(files).unwrap()),
    );
}

/// Measures what is not known yet; how many files that were.
fn learn(radon: &mut Radon, source: &Source) -> (usize, Duration) {
    let began = Instant::now();
    let named = source.values().map(|bytes| (file_digest(bytes), bytes));
    let new = named.filter(|(digest, _)| !radon.knows(digest));
    let contents: Source = new
        .map(|(digest, b)| (format!("{digest}.py"), b.clone()))
        .collect();
    let place = Place::new(&contents);
    let found = place.run(Mode::Radon, &request(Mode::Radon, &place.root(), &contents));
    radon.extend(read_radon(&found.unwrap(), &contents).unwrap());
    (contents.len(), began.elapsed())
}

fn by_hand(source: &Source) -> Duration {
    let place = Place::new(source);
    let began = Instant::now();
    for command in COMMANDS {
        let mut python = Command::new("python3");
        python
            .args(["-m", "radon"])
            .args(command)
            .args(source.keys());
        run(python
            .env("PYTHONPATH", site())
            .current_dir(place.at("code")))
        .unwrap();
    }
    began.elapsed()
}
