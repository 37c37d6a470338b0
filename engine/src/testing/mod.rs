//! Tiny datasets for tests: histories of a few lines of Python, written out
//! in the official layout, so that tests go in by the same door as everyone.

pub mod scripted;

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use swe_ci_core::run::Limits;
use swe_ci_core::task::TaskId;

use crate::Engine;
use crate::code::CodeTree;
use crate::dataset::{CommitInfo, TaskLine, demo, write_history, write_metadata};
use crate::files;
use crate::sandbox::{BoxSpec, Purpose, Sandbox};

/// A task to be: the versions of its code, base first, target last.
#[derive(Debug)]
pub struct TinyTask<'a> {
    pub name: &'a str,
    pub versions: &'a [&'a [(&'a str, &'a str)]],
}

/// Writes `metadata/<split>.csv` and `data/<task>/…` into `folder`.
pub fn write_dataset(
    folder: &Path,
    split: &str,
    image_archive: &Path,
    tasks: &[TinyTask<'_>],
) -> anyhow::Result<()> {
    std::fs::create_dir_all(folder.join("metadata"))?;
    let lines = tasks
        .iter()
        .map(|task| write_task(folder, image_archive, task))
        .collect::<anyhow::Result<Vec<_>>>()?;
    write_metadata(
        &folder.join("metadata").join(format!("{split}.csv")),
        &lines,
    )
}

fn write_task(
    folder: &Path,
    image_archive: &Path,
    task: &TinyTask<'_>,
) -> anyhow::Result<TaskLine> {
    let versions: Vec<(CommitInfo, CodeTree)> = (0i64..)
        .zip(task.versions)
        .map(|(day, files)| version(day, files))
        .collect();
    let checkout = tempfile::tempdir()?;
    let shas = write_history(checkout.path(), &versions)?;
    let data = folder.join("data").join(task.name);
    std::fs::create_dir_all(&data)?;
    files::zip_folder(checkout.path(), &data.join("code.zip"))?;
    link_or_copy(image_archive, &data.join("image.tar.gz"))?;
    Ok(TaskLine {
        task_id: TaskId::new(task.name)?,
        base_sha: shas.first().cloned().context("a task needs versions")?,
        target_sha: shas.last().cloned().context("a task needs versions")?,
        declared_gap: None,
        extra: vec![("repo_name".into(), format!("tiny/{}", task.name))],
    })
}

fn version(day: i64, files: &[(&str, &str)]) -> (CommitInfo, CodeTree) {
    let mut code = CodeTree::default();
    for (path, text) in files {
        code.insert_file(path, *text);
    }
    let commit = CommitInfo {
        sha: String::new(),
        time: 1_700_000_000 + day * 86_400,
        message: format!("Version {day}\n"),
    };
    (commit, code)
}

fn link_or_copy(from: &Path, to: &Path) -> anyhow::Result<()> {
    if std::fs::hard_link(from, to).is_err() {
        std::fs::copy(from, to).with_context(|| format!("cannot copy {}", from.display()))?;
    }
    Ok(())
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
