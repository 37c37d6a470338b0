//! Measures how fast a long history is cut into spans: 10,000 commits whose
//! dependencies change at every fiftieth.
#![allow(clippy::print_stdout, reason = "a benchmark reports on stdout")]

use std::time::Instant;

use anyhow::Context;
use swe_ci_candidates::testing::History;
use swe_ci_candidates::{SpanRules, unwatched};
use swe_ci_testing::measurements::{higher_is_better, lower_is_better};

const COMMITS: usize = 10_000;
const MODULES: usize = 60;
/// Commits with the same dependencies.
const SPAN: usize = 50;
const LINES: usize = 200;

fn main() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let began = Instant::now();
    let mut history = History::new(folder.path())?;
    write(&mut history)?;
    let seconds = began.elapsed().as_secs_f64();
    println!("{COMMITS} commits written in {seconds:.1} s");

    let began = Instant::now();
    let report = swe_ci_candidates::spans(folder.path(), None, &SpanRules::default(), &unwatched)?;
    let seconds = began.elapsed().as_secs_f64();
    println!(
        "{} subsequences, {} kept",
        report.subsequences,
        report.kept.len()
    );
    let rate = report.commits as f64 / seconds;
    higher_is_better("spans: commits are read", rate, "commits/s");

    let began = Instant::now();
    let facts = swe_ci_candidates::facts(folder.path(), "HEAD", &unwatched)?;
    let seconds = began.elapsed().as_secs_f64();
    println!("facts of {} files", facts.files);
    lower_is_better("spans: facts of the last commit", seconds, "s");
    Ok(())
}

/// Every commit changes a few lines of one module, and every fiftieth a
/// requirement.
fn write(history: &mut History) -> anyhow::Result<()> {
    for file in 0..20 {
        history.write(format!("docs/{file}.md"), "text\n")?;
        history.write(format!("setting{file}.ini"), "a = 1\n")?;
    }
    history.write("tests/test_all.py", "def test(): pass\n")?;
    for module in 0..MODULES {
        history.write(path(module), text(0))?;
    }
    let mut tip = None;
    for commit in 0..COMMITS - 1 {
        if commit % SPAN == 0 {
            let version = commit / SPAN;
            let manifest = format!("[project]\nname='p'\ndependencies=['a>={version}']\n");
            history.write("pyproject.toml", manifest)?;
        }
        history.write(path(commit % MODULES), text(commit))?;
        tip = Some(history.commit_on("change", tip.as_slice())?);
    }
    // Set the branch once: at every commit it would be another file to write.
    history.go_on_from(tip.context("no commits")?);
    history.commit("the last")?;
    Ok(())
}

fn path(module: usize) -> String {
    format!("p/module{module}.py")
}

fn text(version: usize) -> String {
    let line = |n: usize| match n % 4 {
        0 => format!("value{n} = {version}\n"),
        _ => format!("value{n} = {n}\n"),
    };
    (0..LINES).map(line).collect()
}
