//! The folder of one experiment. Reads files within limits, follows no symbolic
//! link, and digests everything it reads.

use std::fs::FileType;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use sha2::{Digest, Sha256};
use swe_ci_base::digest::hex;
use swe_ci_base::files::read_limited;

const MAX_ENTRIES: usize = 100_000;

const NO_FILE: &str = "is not a plain file";

/// The folder to read. Paths are relative to it and `/`-separated, also in
/// messages: some of them are shown to people who do not know this machine.
#[derive(Debug)]
pub struct Folder {
    root: PathBuf,
    read: Sha256,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unread {
    Missing,
    /// It exists but is not acceptable: its path, and why.
    Refused(String),
}

impl Unread {
    /// Why it was not read, with the reason to give when it is missing.
    pub fn why(self, missing: impl FnOnce() -> String) -> String {
        match self {
            Self::Missing => missing(),
            Self::Refused(why) => why,
        }
    }
}

impl Folder {
    /// The folder the user named; it may be a link itself.
    pub fn open(root: &Path) -> anyhow::Result<Self> {
        let data = std::fs::metadata(root).with_context(|| cannot_open(root))?;
        ensure!(data.is_dir(), "{} is not a folder", root.display());
        Ok(Self {
            root: root.to_path_buf(),
            read: Sha256::new(),
        })
    }

    /// The same folder, of which nothing was read yet.
    pub fn unread(&self) -> Self {
        Self {
            root: self.root.clone(),
            read: Sha256::new(),
        }
    }

    /// Its real name, whatever path the user gave.
    pub fn name(&self) -> anyhow::Result<String> {
        let path = self.root.canonicalize();
        let path = path.with_context(|| cannot_open(&self.root))?;
        let name = path.file_name().unwrap_or(path.as_os_str());
        Ok(name.to_string_lossy().into_owned())
    }

    /// The kind of entry at a path; a link there, or on the way, is refused.
    pub fn kind(&self, path: &str) -> Result<FileType, Unread> {
        for (end, _) in path.match_indices('/') {
            let part = &path[..end];
            if !self.kind_of(part)?.is_dir() {
                return Err(refused(part, "is not a folder"));
            }
        }
        self.kind_of(path)
    }

    fn kind_of(&self, part: &str) -> Result<FileType, Unread> {
        let kind = match std::fs::symlink_metadata(self.root.join(part)) {
            Ok(data) => data.file_type(),
            Err(e) if e.kind() == ErrorKind::NotFound => return Err(Unread::Missing),
            Err(e) => return Err(failed(part, &e)),
        };
        if kind.is_symlink() {
            let why = "is a symbolic link; put a copy of what it points to in its place";
            return Err(refused(part, why));
        }
        Ok(kind)
    }

    /// The names in a folder with their kinds, in order. A name that is not
    /// UTF-8 becomes one that matches nothing here.
    pub fn list(&self, path: &str) -> Result<Vec<(String, FileType)>, Unread> {
        if !self.kind(path)?.is_dir() {
            return Err(refused(path, "is not a folder"));
        }
        let entries = std::fs::read_dir(self.root.join(path)).map_err(|e| failed(path, &e))?;
        let mut names = Vec::new();
        for entry in entries {
            if names.len() == MAX_ENTRIES {
                let why = format!("has more than {MAX_ENTRIES} entries");
                return Err(refused(path, &why));
            }
            let entry = entry.map_err(|e| failed(path, &e))?;
            let kind = entry.file_type().map_err(|e| failed(path, &e))?;
            let name = entry.file_name().to_string_lossy().into_owned();
            names.push((name, kind));
        }
        names.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        Ok(names)
    }

    /// Whether there is a plain file; another kind of entry is an error.
    pub fn has_file(&self, path: &str) -> Result<bool, String> {
        match self.kind(path) {
            Ok(kind) if kind.is_file() => Ok(true),
            Ok(_) => Err(format!("{path} {NO_FILE}")),
            Err(Unread::Missing) => Ok(false),
            Err(Unread::Refused(why)) => Err(why),
        }
    }

    /// A whole file, up to `max_bytes`.
    pub fn read(&mut self, path: &str, max_bytes: u64) -> Result<Vec<u8>, Unread> {
        // Not a pipe, a socket or a device: reading it might never end.
        if !self.kind(path)?.is_file() {
            return Err(refused(path, NO_FILE));
        }
        let bytes = read_limited(&self.root.join(path), max_bytes).map_err(|error| match error
            .root_cause()
            .downcast_ref::<io::Error>()
        {
            Some(error) => failed(path, error),
            None => refused(path, &format!("is larger than {max_bytes} bytes")),
        })?;
        for part in [path.as_bytes(), bytes.as_slice()] {
            self.read.update((part.len() as u64).to_be_bytes());
            self.read.update(part);
        }
        Ok(bytes)
    }

    /// Digest over the paths and contents of all files read so far.
    pub fn digest(&self) -> String {
        format!("sha256:{}", hex(&self.read.clone().finalize()))
    }
}

/// Whether it is a folder. A link counts as one, so that its refusal names it.
pub fn holds_files(kind: FileType) -> bool {
    kind.is_dir() || kind.is_symlink()
}

fn cannot_open(root: &Path) -> String {
    format!("cannot open the folder {}", root.display())
}

fn refused(path: &str, problem: &str) -> Unread {
    Unread::Refused(format!("{} {problem}", named(path)))
}

fn failed(path: &str, error: &io::Error) -> Unread {
    Unread::Refused(format!("{} cannot be read: {error}", named(path)))
}

/// The folder itself has an empty path.
fn named(path: &str) -> &str {
    if path.is_empty() { "the folder" } else { path }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn looks_without_following() {
        let outside = tempfile::tempdir().unwrap();
        std::fs::write(outside.path().join("secret"), "s").unwrap();
        let root = tempfile::tempdir().unwrap();
        let at = |path: &str| root.path().join(path);
        std::fs::create_dir(at("a")).unwrap();
        std::fs::write(at("a/file"), "x").unwrap();
        symlink(outside.path(), at("link-to-folder")).unwrap();
        symlink(at("a/file"), at("a/link")).unwrap();
        symlink(at("nothing"), at("a/dangling")).unwrap();
        let mut folder = Folder::open(root.path()).unwrap();
        let mut check = |path: &str, expect: Result<&str, &str>| {
            let found = folder.read(path, 10);
            match (found, expect) {
                (Ok(bytes), Ok(text)) => assert_eq!(bytes, text.as_bytes(), "{path}"),
                (Err(Unread::Missing), Err("missing")) => {}
                (Err(Unread::Refused(why)), Err(part)) => {
                    assert!(why.contains(part), "{path}: {why}");
                }
                (found, _) => panic!("{path}: {found:?}"),
            }
        };
        check("a/file", Ok("x"));
        check("a/none", Err("missing"));
        check("b/none", Err("missing"));
        check("a", Err("not a plain file"));
        check("a/file/more", Err("a/file is not a folder"));
        check("a/link", Err("a/link is a symbolic link"));
        check("a/dangling", Err("a/dangling is a symbolic link"));
        check(
            "link-to-folder/secret",
            Err("link-to-folder is a symbolic link"),
        );
        std::fs::write(at("a/large"), "x".repeat(11)).unwrap();
        check("a/large", Err("larger than 10 bytes"));
    }

    #[test]
    fn a_socket_is_never_opened() {
        let root = tempfile::tempdir().unwrap();
        let socket = root.path().join("socket");
        let _held = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        let mut folder = Folder::open(root.path()).unwrap();
        let Err(Unread::Refused(why)) = folder.read("socket", 10) else {
            panic!("it was read");
        };
        assert!(why.contains("not a plain file"), "{why}");
    }

    #[test]
    fn the_digest_is_of_what_was_read() {
        let root = tempfile::tempdir().unwrap();
        std::fs::write(root.path().join("a"), "1").unwrap();
        std::fs::write(root.path().join("b"), "2").unwrap();
        let digest = |paths: &[&str]| {
            let mut folder = Folder::open(root.path()).unwrap();
            for path in paths {
                folder.read(path, 10).unwrap();
            }
            folder.digest()
        };
        assert_eq!(digest(&["a", "b"]), digest(&["a", "b"]));
        assert_ne!(digest(&["a"]), digest(&["b"]));
        let before = digest(&["a", "b"]);
        std::fs::write(root.path().join("b"), "3").unwrap();
        assert_ne!(digest(&["a", "b"]), before);
    }

    #[test]
    fn it_is_called_by_its_own_name() {
        let root = tempfile::tempdir().unwrap();
        let inner = root.path().join("gpt-x");
        std::fs::create_dir(&inner).unwrap();
        symlink(&inner, root.path().join("latest")).unwrap();
        for path in [inner.join("."), root.path().join("latest")] {
            assert_eq!(Folder::open(&path).unwrap().name().unwrap(), "gpt-x");
        }
        let missing = Folder::open(&root.path().join("none")).unwrap_err();
        assert!(format!("{missing:#}").contains("cannot open the folder"));
    }
}
