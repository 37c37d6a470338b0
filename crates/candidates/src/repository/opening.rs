//! Opens an untrusted repository.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};
use git2::{ErrorCode, RepositoryOpenFlags};

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

pub(super) fn open(folder: &Path) -> anyhow::Result<git2::Repository> {
    let git_folder = git_folder(folder)?;
    for (file, why) in EXTERNAL_REFERENCES {
        let path = git_folder.join(file);
        ensure!(
            path.symlink_metadata().is_err(),
            "cannot read the repository with {}: {why}",
            path.display()
        );
    }
    // Only this folder and none above it. Bare, so that libgit2 ignores the
    // work tree and reads only the format from the settings.
    let flags =
        RepositoryOpenFlags::NO_SEARCH | RepositoryOpenFlags::NO_DOTGIT | RepositoryOpenFlags::BARE;
    let git = git2::Repository::open_ext(&git_folder, flags, [] as [&OsStr; 0])
        .map_err(|error| open_error(&git_folder, error))?;
    ensure!(
        !git.is_shallow(),
        "{} is a shallow clone without the full history: run `git fetch --unshallow`",
        folder.display()
    );
    Ok(git)
}

/// The folder with the objects. Symbolic links are refused.
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
            format!("{shown} is not a git repository: neither it nor its `.git` has `{part}`")
        })?;
        ensure!(
            !found.is_symlink(),
            "{}/{part} is a symbolic link: clone the repository again",
            git_folder.display()
        );
    }
    Ok(git_folder)
}

fn open_error(git_folder: &Path, error: git2::Error) -> anyhow::Error {
    let shown = git_folder.display();
    let what = match error.code() {
        ErrorCode::Owner => format!(
            "{shown} belongs to another user, who could change it during reading: `chown -R` it to \
             the user that runs this, or `git config --global --add safe.directory {shown}`"
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
    fn owner_errors_are_explained() {
        let error = git2::Error::new(ErrorCode::Owner, git2::ErrorClass::Config, "not owned");
        let message = open_error(Path::new("/r/.git"), error).to_string();
        assert!(message.contains("safe.directory /r/.git"), "{message}");
        let error = git2::Error::from_str("unsupported extension");
        let message = format!("{:#}", open_error(Path::new("/r"), error));
        assert!(message.ends_with("unsupported extension"), "{message}");
    }
}
