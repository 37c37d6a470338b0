//! What tests need, here and above: tiny datasets, and a scripted LLM.

pub mod gateway;
#[cfg(test)]
pub(crate) mod rows;
pub mod scripted;

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use swe_ci_core::run::Limits;

pub use crate::dataset::tiny::{TinyTask, write_dataset};

use crate::dataset::demo;
use crate::sandbox::{BoxSpec, Purpose, Sandbox};
use crate::{Config, Engine};

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

/// Asks for a container like an evolution's, and loses interest after `wait`.
pub async fn abandon_a_container(engine: &Engine, image: &str, wait: Duration) {
    let spec = BoxSpec {
        image: image.to_owned(),
        limits: Limits::default(),
        purpose: Purpose::Step {
            evolution_id: "abandoned".into(),
        },
        agent: None,
    };
    // Dropped before it is answered, or at once when it is.
    let _ = tokio::time::timeout(wait, engine.docker().open(&spec)).await;
}
