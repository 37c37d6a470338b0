//! What tests need, here and above: tiny datasets, and a scripted LLM.

pub mod gateway;
pub mod hub;
#[cfg(test)]
pub(crate) mod rows;
pub mod scripted;

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use swe_ci_core::run::Limits;

pub use crate::dataset::tiny::{TinyTask, write_dataset};

use crate::code::CodeTree;
use crate::dataset::{CommitInfo, demo, write_history};
use crate::sandbox::{BoxSpec, Purpose, Sandbox};
use crate::{Config, Engine, ImportOptions};

/// For tests that work in containers: `workers` at a time.
#[must_use]
pub fn config(data: PathBuf, workers: usize) -> Config {
    Config {
        workers,
        base_image: "swe-ci/base:py311".into(),
        ca_bundle: crate::usual_ca_bundle(),
        ..Config::new(data)
    }
}

/// Suites are run once on each end: these are sure of themselves.
#[must_use]
pub fn once() -> ImportOptions {
    ImportOptions {
        repeats: 1,
        ..ImportOptions::default()
    }
}

/// An archive of the demo split's image (Python and pytest), made once and
/// kept in `cache` for all tests that come after.
pub async fn image_archive(engine: &Engine, cache: &Path) -> anyhow::Result<PathBuf> {
    std::fs::create_dir_all(cache)?;
    let lock = std::fs::File::create(cache.join("image.lock"))?;
    let lock = tokio::task::spawn_blocking(move || lock.lock().map(|()| lock)).await??;
    let network = engine.build_network()?;
    let base = &engine.config().base_image;
    let name = demo::build_image(engine.images(), base, &network, &|_| {}).await?;
    let digest = engine
        .images()
        .digest(name)
        .await?
        .context("the image was built and is not there")?;
    let archive = cache.join(format!("{}.tar.gz", digest.trim_start_matches("sha256:")));
    if !archive.exists() {
        engine.images().save(name, &archive).await?;
    }
    drop(lock);
    Ok(archive)
}

/// A git repository with a commit for each version, oldest first: when it was
/// made, in unix seconds, and all files with their texts. Its branch is `main`.
pub fn commit_history(
    folder: &Path,
    versions: &[(i64, Vec<(String, String)>)],
) -> anyhow::Result<Vec<String>> {
    let version = |(time, files): &(i64, Vec<(String, String)>)| {
        let mut code = CodeTree::default();
        for (path, text) in files {
            code.insert_file(path, text.as_str());
        }
        let commit = CommitInfo {
            sha: String::new(),
            time: *time,
            message: format!("Version of {time}\n"),
        };
        (commit, code)
    };
    let versions: Vec<(CommitInfo, CodeTree)> = versions.iter().map(version).collect();
    write_history(folder, &versions)
}

/// Makes an image that nothing else has, a layer above the demo split's, and
/// puts its archive into a task's folder. Returns its digest; the engine does
/// not have it any more.
pub async fn own_image(engine: &Engine, task: &Path) -> anyhow::Result<String> {
    let network = engine.build_network()?;
    let (config, images) = (engine.config(), engine.images());
    let demo = demo::build_image(images, &config.base_image, &network, &|_| {}).await?;
    let name = format!("swe-ci/test:{}", uuid::Uuid::now_v7().simple());
    let line = format!("RUN echo {name} > /own");
    let digest = images
        .build(&name, demo, &[&line], &network, &|_| {})
        .await?;
    images.save(&name, &task.join("image.tar.gz")).await?;
    images.remove(&digest).await?;
    Ok(digest)
}

/// Asks for a container like an evolution's, and loses interest after `wait`.
pub async fn abandon_a_container(engine: &Engine, image: &str, wait: Duration) {
    let purpose = Purpose::Step {
        evolution_id: "abandoned".into(),
    };
    let spec = BoxSpec::new(image, Limits::default(), purpose);
    // Dropped before it is answered, or at once when it is.
    let _ = tokio::time::timeout(wait, engine.docker().open(&spec)).await;
}
