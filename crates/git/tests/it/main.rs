//! Tests on real repositories, against git itself.

mod formats;
mod hostile;
mod lines;
mod references;

use std::path::Path;
use std::process::Command;

use swe_ci_git::testing::{create, write_object, write_reference, write_tree};
use swe_ci_git::{ObjectId, ObjectKind, checked, command};
use tempfile::TempDir;

/// git in a folder, with an author.
fn git(folder: &Path, arguments: &[&str]) -> Command {
    let mut git = command();
    for role in ["AUTHOR", "COMMITTER"] {
        git.env(format!("GIT_{role}_NAME"), "Some One");
        git.env(format!("GIT_{role}_EMAIL"), "one@localhost");
        git.env(format!("GIT_{role}_DATE"), "1600000000 +0000");
    }
    git.arg("-C").arg(folder).args(arguments);
    git
}

fn run(folder: &Path, arguments: &[&str]) -> String {
    let output = checked(git(folder, arguments).output()).unwrap();
    String::from_utf8(output).unwrap().trim_end().to_owned()
}

/// A bare repository with one commit on `main` that has a file `a.py`.
struct Bare {
    folder: TempDir,
    commit: ObjectId,
    tree: ObjectId,
    blob: ObjectId,
}

impl Bare {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        create(folder.path()).unwrap();
        let blob = write_object(folder.path(), ObjectKind::Blob, b"a = 1\n").unwrap();
        let tree = write_tree(folder.path(), &[(0o100_755, b"a.py", blob)]).unwrap();
        let commit = commit_on(folder.path(), tree, &[]);
        write_reference(folder.path(), "refs/heads/main", commit).unwrap();
        Self {
            folder,
            commit,
            tree,
            blob,
        }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn write(&self, file: &str, text: &str) {
        let file = self.path().join(file);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }
}

fn commit_on(folder: &Path, tree: ObjectId, parents: &[ObjectId]) -> ObjectId {
    let parents: String = parents.iter().map(|id| format!("parent {id}\n")).collect();
    let person = "A <a@b> 1600000000 +0000";
    let raw = format!("tree {tree}\n{parents}author {person}\ncommitter {person}\n\nm\n");
    write_object(folder, ObjectKind::Commit, raw.as_bytes()).unwrap()
}
