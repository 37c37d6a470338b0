//! Opening a repository that is not trusted.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};
use git2::{ErrorCode, RepositoryOpenFlags};

/// What makes a repository out of more than its folder: any file of this host
/// could be meant, and histories could be told other than they are.
const ELSEWHERE: [(&str, &str); 3] = [
    ("commondir", "it is a work tree of another repository"),
    (
        "objects/info/alternates",
        "it borrows objects from another folder; `git repack -a -d` and removing \
         the file makes it whole",
    ),
    (
        "info/grafts",
        "it replaces parents of commits; remove the file",
    ),
];

pub(super) fn open(folder: &Path) -> anyhow::Result<git2::Repository> {
    let git_folder = git_folder(folder)?;
    for (file, why) in ELSEWHERE {
        let path = git_folder.join(file);
        ensure!(
            path.symlink_metadata().is_err(),
            "{} is not read: {why}",
            path.display()
        );
    }
    // This folder and none above it; bare, so that a work tree is not looked at
    // and of its settings only the format.
    let flags =
        RepositoryOpenFlags::NO_SEARCH | RepositoryOpenFlags::NO_DOTGIT | RepositoryOpenFlags::BARE;
    let git = git2::Repository::open_ext(&git_folder, flags, [] as [&OsStr; 0])
        .map_err(|error| explained(&git_folder, error))?;
    ensure!(
        !git.is_shallow(),
        "{} is a shallow copy, so its history is not all there: `git fetch --unshallow` gets the rest",
        folder.display()
    );
    Ok(git)
}

/// The folder with the objects. Links are not followed.
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
    for part in ["HEAD", "objects", "refs"] {
        let found = git_folder.join(part).symlink_metadata();
        let found = found.with_context(|| {
            format!("{shown} is not a git repository: there is no `{part}` in it nor in its `.git`")
        })?;
        ensure!(
            !found.is_symlink(),
            "{}/{part} points elsewhere: clone the repository again",
            git_folder.display()
        );
    }
    Ok(git_folder)
}

fn explained(git_folder: &Path, error: git2::Error) -> anyhow::Error {
    let shown = git_folder.display();
    let what = match error.code() {
        ErrorCode::Owner => format!(
            "{shown} belongs to another user, who could change it under our hands: `chown -R` it to \
             the user this runs as, or `git config --global --add safe.directory {shown}`"
        ),
        _ => format!(
            "{shown} cannot be opened as a git repository: clone it again (sha1 objects, no `--filter`)"
        ),
    };
    anyhow::Error::new(error).context(what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn owners_are_explained() {
        let error = git2::Error::new(ErrorCode::Owner, git2::ErrorClass::Config, "not owned");
        let told = explained(Path::new("/r/.git"), error).to_string();
        assert!(told.contains("safe.directory /r/.git"), "{told}");
        let error = git2::Error::from_str("unsupported extension");
        let told = format!("{:#}", explained(Path::new("/r"), error));
        assert!(told.ends_with("unsupported extension"), "{told}");
    }
}
