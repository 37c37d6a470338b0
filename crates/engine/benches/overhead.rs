//! The platform's overhead per iteration: replays a history with a harness that
//! does next to nothing, three fresh containers an iteration. Prints wall time
//! minus pytest's own; judges nothing.
#![allow(clippy::print_stdout, reason = "a benchmark reports on stdout")]

use std::path::Path;
use std::time::Instant;

use swe_ci_core::run::RunConfig;
use swe_ci_engine::Engine;
use swe_ci_engine::testing::{self, TinyTask};
use swe_ci_views::account::Visibility;
use tokio_util::sync::CancellationToken;

const ITERATIONS: usize = 20;
const TESTS: &str = "import pytest, tiny\n@pytest.mark.parametrize('i', range(30))\ndef test_it(i): assert i <= tiny.N\n";

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let engine = Engine::open(testing::config(folder.path().join("data"), 1)).await?;
    let image = testing::image_archive(&engine, Path::new(env!("CARGO_TARGET_TMPDIR"))).await?;
    let versions: Vec<[(&str, String); 2]> = (0..=ITERATIONS)
        .map(|n| {
            [
                ("tiny.py", format!("N = {}\n", n + 9)),
                ("tests/test_tiny.py", TESTS.to_owned()),
            ]
        })
        .collect();
    let borrowed: Vec<Vec<(&str, &str)>> = versions
        .iter()
        .map(|files| {
            files
                .iter()
                .map(|(path, text)| (*path, text.as_str()))
                .collect()
        })
        .collect();
    let slices: Vec<&[(&str, &str)]> = borrowed.iter().map(Vec::as_slice).collect();
    let dataset = folder.path().join("dataset");
    testing::write_dataset(
        &dataset,
        "bench",
        &image,
        &[TinyTask {
            name: "bench",
            versions: &slices,
        }],
    )?;
    engine
        .import(dataset.as_path(), "bench", &testing::once(), &|_| {})
        .await?;

    let id = engine
        .submit(RunConfig::human("bench"), Visibility::Public)
        .await?;
    let stop = CancellationToken::new();
    let worker = tokio::spawn({
        let (engine, stop) = (engine.clone(), stop.clone());
        async move { engine.work(stop).await }
    });
    let began = Instant::now();
    let run = loop {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        let run = engine.run(&id).await?;
        if run.summary.progress.is_over() {
            break run;
        }
    };
    let wall = began.elapsed().as_secs_f64();
    stop.cancel();
    worker.await??;

    let evolution = &run.evolution_list[0];
    let count = evolution.iterations.len() as f64;
    let command: f64 = evolution.iterations.iter().map(|i| i.test_seconds).sum();
    let pytest = pytest_seconds(
        &folder
            .path()
            .join("data/artifacts/evolutions")
            .join(&evolution.evolution_id),
    )?;
    println!(
        "orchestration, {count} iterations of 3 fresh containers: {:.3} s an iteration",
        wall / count
    );
    println!(
        "  of which pytest itself {:.3} s, the test command with Python's start {:.3} s",
        pytest / count,
        command / count
    );
    println!(
        "  overhead: wall minus pytest's own duration {:.3} s an iteration",
        (wall - pytest) / count
    );
    Ok(())
}

/// The sum of the durations in an evolution's reports.
fn pytest_seconds(evolution: &Path) -> anyhow::Result<f64> {
    let mut total = 0.0;
    for iteration in std::fs::read_dir(evolution)? {
        let report = iteration?.path().join("test-1-report.json.zst");
        let bytes = zstd::decode_all(std::fs::File::open(report)?)?;
        total += serde_json::from_slice::<serde_json::Value>(&bytes)?["duration"]
            .as_f64()
            .unwrap_or_default();
    }
    Ok(total)
}
