//! Creates tiny datasets for tests and checks: histories of a few lines of
//! Python, in the official layout, so that they are imported like any other.

use std::path::Path;

use anyhow::Context;
use swe_ci_base::code::CodeTree;
use swe_ci_base::files;
use swe_ci_core::task::{TaskId, TestCommand};

use super::{CommitInfo, TEST_COMMAND, TaskLine, metadata_file, write_history, write_metadata};

/// A task to create: the versions of its code, base first, target last.
#[derive(Debug, Hash)]
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
    let lines = tasks
        .iter()
        .map(|task| write_task(folder, image_archive, task))
        .collect::<anyhow::Result<Vec<_>>>()?;
    write_metadata(&metadata_file(folder, split), &lines)
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
        extra: vec![
            ("repo_name".into(), format!("tiny/{}", task.name)),
            (TEST_COMMAND.into(), TestCommand::PLATFORM.into()),
        ],
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
    // A copy onto another name of the same file would empty it.
    if to.exists() {
        std::fs::remove_file(to)?;
    }
    if std::fs::hard_link(from, to).is_err() {
        std::fs::copy(from, to).with_context(|| format!("cannot copy {}", from.display()))?;
    }
    Ok(())
}
