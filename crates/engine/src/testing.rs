//! Helpers for tests of this crate and those above: datasets that take moments
//! to create, and images for them.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use futures::TryStreamExt;
use swe_ci_core::run::Limits;

pub use swe_ci_dataset::tiny::{TinyTask, write_dataset};

use crate::{Config, Engine, ImportOptions, Pieces};
use swe_ci_base::code::CodeTree;
use swe_ci_base::files;
use swe_ci_dataset::{CommitInfo, demo, write_history};
use swe_ci_sandbox::{ContainerSpec, Purpose, Sandbox};

/// For tests with containers: `workers` at a time. The installation's name says
/// that it is a test's: `scripts/clean-docker.sh tests` removes what it leaves.
pub fn config(data: PathBuf, workers: usize) -> Config {
    if !data.join(crate::INSTANCE_FILE).exists() {
        name_installation(&data).unwrap();
    }
    Config {
        workers,
        base_image: "swe-ci/base:py311".into(),
        ca_bundle: crate::usual_ca_bundle(),
        ..Config::new(data)
    }
}

fn name_installation(data: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(data)?;
    let name = format!("test-{}", uuid::Uuid::now_v7());
    std::fs::write(data.join(crate::INSTANCE_FILE), name)
}

/// All of a text that comes in pieces.
pub async fn text_of(file: Pieces) -> String {
    let pieces: Vec<bytes::Bytes> = file.try_collect().await.unwrap();
    String::from_utf8(pieces.concat()).unwrap()
}

/// Runs each suite once on each end: the suites of these tests are not flaky.
pub fn once() -> ImportOptions {
    ImportOptions {
        repeats: 1,
        ..ImportOptions::default()
    }
}

/// An archive of the demo split's image (Python and pytest), created once and
/// stored in `cache` for all later tests. The data folder knows its content, so
/// that no import unpacks hundreds of megabytes of what the container engine has.
pub async fn image_archive(engine: &Engine, cache: &Path) -> anyhow::Result<PathBuf> {
    std::fs::create_dir_all(cache)?;
    let lock = std::fs::File::create(cache.join("image.lock"))?;
    let lock = tokio::task::spawn_blocking(move || lock.lock().map(|()| lock)).await??;
    let digest = image(engine).await?;
    let archive = cache.join(format!("{}.tar.gz", digest.trim_start_matches("sha256:")));
    if !archive.exists() {
        engine.images.save(demo::IMAGE, &archive).await?;
    }
    let identity = files::identity(&archive)?;
    engine
        .image_cache
        .remember(&archive, identity, &digest)
        .await?;
    drop(lock);
    Ok(archive)
}

/// The image of [`image_archive`] in the engine, without an archive.
pub async fn image(engine: &Engine) -> anyhow::Result<String> {
    let network = engine.config.build_network()?;
    let base = &engine.config().base_image;
    demo::build_image(&engine.images, base, &network, &|_| {}).await
}

/// Fills `data` with a copy of the data folder that `make` writes. The first test after
/// these programs were built makes it, and the others take what it left in `cache`. The
/// copy is an installation of its own.
pub async fn made_once(
    cache: &Path,
    name: &str,
    programs: &[PathBuf],
    data: &Path,
    make: impl AsyncFnOnce(&Path),
) -> anyhow::Result<()> {
    let built = programs.iter().map(|path| path.metadata()?.modified());
    let built: Vec<SystemTime> = built.collect::<Result<_, _>>()?;
    let built = built.into_iter().max().unwrap_or(UNIX_EPOCH);
    let built = built.duration_since(UNIX_EPOCH)?.as_nanos().to_string();
    let folder = cache.join(format!("made-{name}"));
    std::fs::create_dir_all(&folder)?;
    let lock = std::fs::File::create(folder.join("lock"))?;
    let lock = tokio::task::spawn_blocking(move || lock.lock().map(|()| lock)).await??;
    let kept = folder.join(built);
    if !kept.exists() {
        for old in std::fs::read_dir(&folder)? {
            // The lock is a file.
            let _ = std::fs::remove_dir_all(old?.path());
        }
        let part = folder.join("part");
        Box::pin(make(&part)).await;
        std::fs::rename(part, &kept)?;
    }
    copy(&kept, data)?;
    name_installation(data)?;
    drop(lock);
    Ok(())
}

/// A name for [`made_once`] of a data folder with this split and the present image.
pub fn name_of(split: &str, tasks: &[TinyTask<'_>]) -> String {
    let mut content = DefaultHasher::new();
    tasks.hash(&mut content);
    let inspect = ["image", "inspect", "--format", "{{.Id}}", demo::IMAGE];
    let image = Command::new("docker").args(inspect).output();
    image.map(|output| output.stdout).ok().hash(&mut content);
    format!("{split}-{:016x}", content.finish())
}

/// Copies a folder to where there is none yet.
pub fn copy(from: &Path, to: &Path) -> anyhow::Result<()> {
    let copied = Command::new("cp").arg("-a").args([from, to]).status()?;
    anyhow::ensure!(copied.success(), "cannot copy {}", from.display());
    Ok(())
}

/// Creates a git repository with a commit for each version, oldest first: its
/// time in unix seconds, and all files with their texts. Its branch is `main`.
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

/// Creates a unique image, a layer above the demo split's, and writes its
/// archive into a task's folder. Returns its digest; the container engine no
/// longer has the image.
pub async fn own_image(engine: &Engine, task: &Path) -> anyhow::Result<String> {
    own_image_after(engine, task, "true").await
}

/// The same, after a shell command has run in it.
pub async fn own_image_after(
    engine: &Engine,
    task: &Path,
    command: &str,
) -> anyhow::Result<String> {
    let images = &engine.images;
    let name = format!("swe-ci/test:{}", uuid::Uuid::now_v7().simple());
    let digest = image_after(engine, &name, &format!("echo {name} > /own && {command}")).await?;
    images.save(&name, &task.join("image.tar.gz")).await?;
    images.remove(&digest).await?;
    Ok(digest)
}

/// An image above the demo split's, after a shell command has run in it. The container
/// engine keeps it. Returns its digest.
pub async fn image_after(engine: &Engine, name: &str, command: &str) -> anyhow::Result<String> {
    let network = engine.config.build_network()?;
    let (config, images) = (engine.config(), &engine.images);
    demo::build_image(images, &config.base_image, &network, &|_| {}).await?;
    let line = format!("RUN {command}");
    let lines = [line.as_str()];
    let built = images.build(name, demo::IMAGE, &lines, &network, &|_| {});
    built.await
}

/// Requests a container like an evolution's, and drops the request after
/// `wait`.
pub async fn abandon_a_container(engine: &Engine, image: &str, wait: Duration) {
    let purpose = Purpose::Step("abandoned".into());
    let spec = ContainerSpec::new(image, Limits::default(), purpose);
    // Dropped before the answer, or with it.
    let _ = tokio::time::timeout(wait, engine.docker.open(&spec)).await;
}

/// A program's layer: the name of its volume, and the seconds its build took, 0
/// if it existed.
pub async fn layer(engine: &Engine, program: &str) -> anyhow::Result<(String, f64)> {
    let harnesses = &engine.harnesses;
    let layer = harnesses.installed(program, None, &|_| {}).await?.layer;
    Ok((layer.volume, layer.seconds))
}
