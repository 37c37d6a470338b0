//! Opens an untrusted repository.
//!
//! git never works in the folder of the repository itself, where its settings
//! and hooks could make it run programs, and grafts or replacements change the
//! history. It works in a git folder of our own, which has settings of ours and
//! links to the objects and references.

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Output;

use anyhow::{Context, bail, ensure};
use tempfile::TempDir;

use crate::command::{cannot_run, checked, command};

/// Files that make git read beyond the repository's own folder or change its
/// history: they could refer to any file of this host.
const EXTERNAL_REFERENCES: [(&str, &str); 3] = [
    ("commondir", "it is a work tree of another repository"),
    (
        "objects/info/alternates",
        "it borrows objects from another folder; run `git repack -a -d` and \
         remove the file",
    ),
    (
        "info/grafts",
        "it replaces parents of commits; remove the file",
    ),
];
const FILES: [&str; 4] = ["HEAD", "config", "packed-refs", "shallow"];
const FOLDERS: [&str; 5] = [
    "objects",
    "objects/info",
    "objects/pack",
    "refs",
    "reftable",
];
/// The parts that git reads as they are.
const LINKED: [&str; 5] = ["objects", "packed-refs", "refs", "reftable", "shallow"];

/// The most bytes of `HEAD` and of the settings.
const MAX_HEAD: u64 = 4 << 10;
const MAX_CONFIG: u64 = 1 << 20;

/// Extensions of the repository's format that change neither its objects nor its
/// references.
const WITHOUT_EFFECT: [&str; 4] = [
    "extensions.noop",
    "extensions.preciousobjects",
    "extensions.relativeworktrees",
    "extensions.worktreeconfig",
];

/// The settings of our git folder. Indices over the objects are hints that the
/// repository's author could have forged. Larger files are not held in memory.
const SETTINGS: &str = "[core]\n\
    repositoryFormatVersion = 1\n\
    bare = true\n\
    commitGraph = false\n\
    multiPackIndex = false\n\
    bigFileThreshold = 1m\n\
    [extensions]\n";

/// Makes a git folder of our own for the repository in exactly this folder.
pub(super) fn open(folder: &Path) -> anyhow::Result<TempDir> {
    let theirs = git_folder(folder)?;
    for (file, why) in EXTERNAL_REFERENCES {
        let path = theirs.join(file);
        ensure!(
            path.symlink_metadata().is_err(),
            "cannot read the repository with {}: {why}",
            path.display()
        );
    }
    let ours = tempfile::Builder::new().prefix("swe-ci-git-").tempdir();
    let ours = ours.context("cannot create a temporary folder")?;
    let linked = link(&theirs, ours.path());
    linked.with_context(|| format!("cannot read {}", theirs.display()))?;
    let format = match settings(&theirs, ours.path())? {
        Some(settings) => format(settings).with_context(|| unreadable(&theirs))?,
        None => String::new(),
    };
    std::fs::write(ours.path().join("config"), format!("{SETTINGS}{format}"))?;
    let mut git = command();
    git.env("GIT_DIR", ours.path())
        .args(["rev-parse", "--git-dir"]);
    let found = git.output().map_err(cannot_run)?;
    checked(Ok(found)).with_context(|| match format.contains("reftable") {
        true => format!(
            "{} keeps its branches as reftable, which needs git 2.45: install a newer git on \
             this machine, or run `git refs migrate --ref-format=files` in the repository",
            theirs.display()
        ),
        false => unreadable(&theirs),
    })?;
    Ok(ours)
}

fn unreadable(theirs: &Path) -> String {
    let shown = theirs.display();
    format!("{shown} cannot be opened as a git repository: clone it again, without `--filter`")
}

/// The folder with the objects.
fn git_folder(folder: &Path) -> anyhow::Result<PathBuf> {
    let shown = folder.display();
    let inner = folder.join(".git");
    let git_folder = match inner.symlink_metadata() {
        Ok(found) if found.is_dir() => inner,
        Ok(_) => bail!(
            "{shown}/.git points to another folder, as in work trees and submodules: \
             name the repository itself"
        ),
        Err(_) => folder.to_owned(),
    };
    for part in ["HEAD", "objects"] {
        ensure!(
            git_folder.join(part).symlink_metadata().is_ok(),
            "{shown} is not a git repository: neither it nor its `.git` has `{part}`"
        );
    }
    Ok(git_folder.canonicalize()?)
}

/// Links the objects and references of their git folder into ours, and copies
/// `HEAD`. Symbolic links of theirs are refused: they could lead anywhere.
fn link(theirs: &Path, ours: &Path) -> anyhow::Result<()> {
    for part in FILES.into_iter().chain(FOLDERS) {
        let path = theirs.join(part);
        let Ok(found) = path.symlink_metadata() else {
            continue;
        };
        refuse_link(&path, found.file_type())?;
        ensure!(
            found.is_file() || !FILES.contains(&part),
            "{} is not a file: clone the repository again",
            path.display()
        );
        if ["refs", "reftable"].contains(&part) {
            refuse_links_below(&path)?;
        }
        if LINKED.contains(&part) {
            symlink(&path, ours.join(part))?;
        }
    }
    // Archives forget empty folders.
    if !theirs.join("refs").exists() {
        std::fs::create_dir(ours.join("refs"))?;
    }
    let mut head = Vec::new();
    let theirs = File::open(theirs.join("HEAD"))?;
    theirs.take(MAX_HEAD).read_to_end(&mut head)?;
    Ok(std::fs::write(ours.join("HEAD"), head)?)
}

fn refuse_links_below(folder: &Path) -> anyhow::Result<()> {
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            let kind = entry.file_type()?;
            refuse_link(&entry.path(), kind)?;
            if kind.is_dir() {
                folders.push(entry.path());
            }
        }
    }
    Ok(())
}

fn refuse_link(path: &Path, kind: std::fs::FileType) -> anyhow::Result<()> {
    ensure!(
        !kind.is_symlink(),
        "{} is a symbolic link: clone the repository again",
        path.display()
    );
    Ok(())
}

/// The answer of git to the question for their settings; none if there are none.
fn settings(theirs: &Path, ours: &Path) -> anyhow::Result<Option<Output>> {
    let config = theirs.join("config");
    let Ok(found) = config.metadata() else {
        return Ok(None);
    };
    ensure!(
        found.len() <= MAX_CONFIG,
        "{} has {} bytes, more than the limit of {MAX_CONFIG}",
        config.display(),
        found.len()
    );
    let mut git = command();
    git.env("GIT_DIR", ours).args(["config", "--file"]);
    git.arg(config).args(["--no-includes", "--list", "-z"]);
    git.output().map(Some).map_err(cannot_run)
}

/// The settings that tell how objects and references are written.
fn format(settings: Output) -> anyhow::Result<String> {
    let settings = String::from_utf8_lossy(&checked(Ok(settings))?).into_owned();
    let mut format = String::new();
    for setting in settings.split_terminator('\0') {
        let (name, value) = setting.split_once('\n').unwrap_or((setting, ""));
        match (name, value) {
            ("core.repositoryformatversion", "0" | "1")
            | ("extensions.objectformat", "sha1")
            | ("extensions.refstorage", "files") => {}
            ("extensions.objectformat", "sha256") => format += "objectFormat = sha256\n",
            ("extensions.refstorage", "reftable") => format += "refStorage = reftable\n",
            (name, _) if WITHOUT_EFFECT.contains(&name) => {}
            ("core.repositoryformatversion", _) => bail!("its format has the version {value}"),
            (name, _) if name.starts_with("extensions.") => {
                bail!("its format has the setting {name} = {value}")
            }
            _ => {}
        }
    }
    Ok(format)
}
