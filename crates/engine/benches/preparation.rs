//! How many tasks are prepared in a minute, one at a time and as many as the
//! machine carries, and how much shared image layers save. Prints; judges
//! nothing.
#![allow(clippy::print_stdout, reason = "a benchmark reports on stdout")]

use std::path::Path;
use std::time::Instant;

use swe_ci_engine::testing::{self, TinyTask};
use swe_ci_engine::{Engine, ImportOptions};
use swe_ci_testing::measurements::{higher_is_better, lower_is_better};

const TASKS: usize = 8;
/// Tasks with an image of their own, a layer above a shared one.
const OWN_IMAGES: usize = 3;
const TESTS: (&str, &str) = (
    "tests/test_tiny.py",
    "import time, tiny\ndef test_it():\n    time.sleep(1)\n    assert tiny.N == 1\n",
);

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let engine = Engine::open(testing::config(folder.path().join("data"), 0)).await?;
    let image = testing::image_archive(&engine, Path::new(env!("CARGO_TARGET_TMPDIR"))).await?;
    let (base, target) = (
        [("tiny.py", "N = 0\n"), TESTS],
        [("tiny.py", "N = 1\n"), TESTS],
    );
    let versions: [&[(&str, &str)]; 2] = [&base, &target];
    let names: Vec<String> = (0..TASKS).map(|n| format!("task-{n}")).collect();
    let tasks: Vec<TinyTask<'_>> = names
        .iter()
        .map(|name| TinyTask {
            name,
            versions: &versions,
        })
        .collect();
    let dataset = folder.path().join("dataset");
    testing::write_dataset(&dataset, "bench", &image, &tasks)?;
    for (what, parallel) in [("one task at a time", Some(1)), ("as many as fit", None)] {
        let options = ImportOptions {
            parallel,
            again: true,
            ..ImportOptions::default()
        };
        let began = Instant::now();
        engine
            .import(dataset.as_path(), "bench", &options, &|_| {})
            .await?;
        let a_minute = TASKS as f64 / began.elapsed().as_secs_f64() * 60.0;
        higher_is_better(&format!("preparation: {what}"), a_minute, "tasks/min");
    }
    let mut images = Vec::new();
    for name in &names[..OWN_IMAGES] {
        images.push(testing::own_image(&engine, &dataset.join("data").join(name)).await?);
    }
    let options = ImportOptions {
        again: true,
        ..testing::once()
    };
    engine
        .import(dataset.as_path(), "bench", &options, &|_| {})
        .await?;
    if let Some(found) = engine.disk_use().await?.images {
        let share = found.bytes as f64 / found.apart_bytes as f64;
        let what = "preparation: images, of their size without shared layers";
        lower_is_better(what, share * 100.0, "%");
    }
    for image in images {
        std::process::Command::new("docker")
            .args(["image", "rm", "--force", &image])
            .output()?;
    }
    Ok(())
}
