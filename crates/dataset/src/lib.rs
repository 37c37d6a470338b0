//! Datasets: folders in the official layout
//! (`metadata/<split>.csv`, `data/<task>/{code.zip,image.tar.gz}`), read into
//! the store. The import tests every task at both ends before it can be run.

pub mod contradictions;
pub mod demo;
pub mod export;
pub mod harbor;
mod history;
mod import;
mod metadata;
pub mod pip;
mod prepare;
mod replay;
mod source;
mod split;
pub mod tiny;
mod trials;
mod walls;

use std::io;
use std::path::{Path, PathBuf};

use anyhow::Context;
use swe_ci_base::blocking::blocking;
use swe_ci_base::digest::sha256_hex;
use swe_ci_base::files;
use swe_ci_base::named_locks::NamedLocks;
use swe_ci_core::task::TaskId;
use swe_ci_store::TaskRow;
use swe_ci_store::artifacts::Artifacts;

pub use history::{CommitInfo, History, chunks};
pub use import::{ImportOptions, Importer};
pub use metadata::{TEST_COMMAND, TaskLine};
pub use metadata::{read as read_metadata, table as metadata_table};
pub use prepare::{TaskPreparation, Unusable};
pub use source::{Download, ImportSource};
pub use split::{dataset_digest, split_detail};
pub use {history::write as write_history, metadata::write as write_metadata};

/// The folder with the checkouts of imported tasks. Where several machines share
/// artifacts, a checkout that is missing here is fetched from there.
#[derive(Debug, Clone)]
pub struct TaskFolders {
    root: PathBuf,
    shared: Option<Artifacts>,
    /// By checkout.
    fetching: NamedLocks,
}

impl TaskFolders {
    pub fn new(root: PathBuf) -> Self {
        Self {
            root,
            shared: None,
            fetching: NamedLocks::default(),
        }
    }

    #[must_use]
    pub fn shared_in(self, artifacts: Artifacts) -> Self {
        let shared = Some(artifacts);
        Self { shared, ..self }
    }

    /// The history of a task, fetched if it is not here.
    ///
    /// # Errors
    /// When it neither is here nor can be fetched; the cause has the kind
    /// [`io::ErrorKind::NotFound`] while it is not there, and may be on a disk that
    /// comes back.
    pub async fn fetched(&self, task: &TaskRow) -> anyhow::Result<History> {
        let history = self.history(task);
        let Err(why) = find_both_ends(&history, task).await else {
            return Ok(history);
        };
        let Some(artifacts) = &self.shared else {
            let missing = io::Error::new(io::ErrorKind::NotFound, format!("{why:#}"));
            return Err(missing).context(format!("the code of task {} is not there", task.id));
        };
        let name = self.own_checkout(task).display().to_string();
        let _guard = self.fetching.lock(&name).await;
        if find_both_ends(&history, task).await.is_ok() {
            return Ok(history);
        }
        let (id, key) = (&task.id, checkout_key(task));
        let checkout = self.own_checkout(task);
        let archive = files::beside(&checkout, "zip");
        let (parent, old) = (self.root.join(id.as_str()), archive.clone());
        blocking(move || {
            std::fs::create_dir_all(parent)?;
            // A killed process may have left one.
            Ok(
                std::fs::remove_file(old).or_else(|error| match error.kind() {
                    std::io::ErrorKind::NotFound => Ok(()),
                    _ => Err(error),
                })?,
            )
        })
        .await?;
        let fetched = artifacts.get_file(&key, &archive).await;
        fetched.with_context(|| {
            format!("the code of task {id} is not shared; run `swe-ci dataset share` where it was imported")
        })?;
        tracing::info!(task = %id, "checkout fetched");
        blocking(move || {
            files::unzip(&archive, &checkout, prepare::CHECKOUT)?;
            Ok(std::fs::remove_file(archive)?)
        })
        .await?;
        Ok(self.history(task))
    }

    /// Puts the checkout of a task where other machines find it; `false` when it
    /// is there already, or nothing is shared.
    pub async fn share(&self, task: &TaskRow) -> anyhow::Result<bool> {
        let Some(artifacts) = &self.shared else {
            return Ok(false);
        };
        let key = checkout_key(task);
        if artifacts.has(&key).await? {
            return Ok(false);
        }
        let checkout = self.checkout(task);
        let archive = files::beside(&checkout, "share");
        let to = archive.clone();
        blocking(move || pack(&checkout, &to)).await?;
        let shared = artifacts.put_file(&key, &archive).await;
        blocking(move || Ok(std::fs::remove_file(archive)?)).await?;
        shared.map(|()| true)
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    pub fn history(&self, task: &TaskRow) -> History {
        History::new(self.checkout(task))
    }

    /// The checkout of a task. Each base and target have their own, because a task
    /// that is imported again with other commits takes nothing from earlier runs.
    pub fn checkout(&self, task: &TaskRow) -> PathBuf {
        let own = self.own_checkout(task);
        // Earlier versions kept one for each name.
        let before = self.root.join(task.id.as_str()).join("code");
        match own.exists() || !before.exists() {
            true => own,
            false => before,
        }
    }

    fn own_checkout(&self, task: &TaskRow) -> PathBuf {
        self.root.join(task.id.as_str()).join(code_name(task))
    }
}

/// Packs a checkout. Archives of others forget empty folders, and git takes a
/// folder without `refs` for no repository.
pub(crate) fn pack(checkout: &Path, archive: &Path) -> anyhow::Result<()> {
    let git = match checkout.join(".git") {
        inner if inner.is_dir() => inner,
        _ => checkout.to_owned(),
    };
    let refs = git.join("refs");
    if git.join("HEAD").is_file() && refs.symlink_metadata().is_err() {
        std::fs::create_dir(refs)?;
    }
    files::zip_folder(checkout, archive)
}

async fn find_both_ends(history: &History, task: &TaskRow) -> anyhow::Result<()> {
    let ends = [task.base_sha.clone(), task.target_sha.clone()];
    let history = history.clone();
    blocking(move || {
        ends.iter()
            .try_for_each(|sha| history.commit(sha).map(drop))
    })
    .await
}

/// The shared artifact with the checkout of a task.
fn checkout_key(task: &TaskRow) -> String {
    format!("tasks/{}/{}.zip", task.id, code_name(task))
}

fn code_name(task: &TaskRow) -> String {
    format!("code-{}-{}", task.base_sha, task.target_sha)
}

/// The file that lists the tasks of a split.
fn metadata_file(folder: &Path, split: &str) -> PathBuf {
    folder.join("metadata").join(format!("{split}.csv"))
}

/// The artifact with the test report of a task's base code.
pub fn base_report_of(task: &TaskRow) -> String {
    // Tasks prepared by earlier versions have it under their name.
    let named = || format!("tasks/{}/base-report.json.zst", task.id);
    task.base_report.clone().unwrap_or_else(named)
}

/// The key for a new base report: by its content, because runs keep the report
/// of the task as they were started on it.
fn base_report_key(task: &TaskId, report: &[u8]) -> String {
    format!("tasks/{task}/base-report-{}.json", sha256_hex(report))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use swe_ci_base::code::CodeTree;
    use swe_ci_git::{checked, command};

    use super::*;

    /// A checkout with a commit for each text, as git leaves it.
    fn checkout(folder: &Path, texts: &[String], packed: bool, detached: bool) -> Vec<String> {
        let version = |(time, text): (i64, &String)| {
            let mut code = CodeTree::default();
            code.insert_file("pkg/a.py", text.as_str());
            let (sha, message) = (String::new(), format!("version {time}"));
            (CommitInfo { sha, time, message }, code)
        };
        let versions: Vec<_> = (0i64..).zip(texts).map(version).collect();
        let shas = write_history(folder, &versions).unwrap();
        let git = |arguments: &[&str]| {
            checked(command().arg("-C").arg(folder).args(arguments).output()).unwrap();
        };
        if !detached {
            git(&["checkout", "--quiet", "main", "--"]);
        }
        if packed {
            git(&["pack-refs", "--all"]);
        }
        shas
    }

    /// Other programs write archives without their empty folders.
    fn forget_empty_folders(folder: &Path) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                forget_empty_folders(&path);
                let _ = std::fs::remove_dir(&path);
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(12))]
        #[test]
        fn a_checkout_stays_a_repository_in_export_and_import(
            texts in prop::collection::vec(any::<String>(), 1..4),
            packed: bool,
            detached: bool,
            with_empty_folders: bool,
        ) {
            let home = tempfile::tempdir().unwrap();
            let [theirs, first, ours, second] =
                ["theirs", "first.zip", "ours", "second.zip"].map(|name| home.path().join(name));
            let shas = checkout(&theirs, &texts, packed, detached);
            if !with_empty_folders {
                forget_empty_folders(&theirs);
            }
            pack(&theirs, &first).unwrap();
            files::unzip(&first, &ours, prepare::CHECKOUT).unwrap();
            let log = command().arg("-C").arg(&ours).args(["log", "--format=%H", &shas[shas.len() - 1]]).output();
            let log = String::from_utf8(checked(log).unwrap()).unwrap();
            prop_assert!(log.lines().rev().eq(&shas));
            pack(&ours, &second).unwrap();
            prop_assert_eq!(std::fs::read(first).unwrap(), std::fs::read(second).unwrap());
        }
    }
}
