//! Paths of a dataset's files, safe to join to a folder.

use std::fmt;
use std::path::{Path, PathBuf};

/// The path of a file in a dataset. Always stays below the folder it is joined
/// to, whatever the hub sends.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RemotePath(String);

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the path {path:?} is refused: {why}")]
pub struct PathError {
    path: String,
    why: &'static str,
}

/// Suffix of partial downloads.
pub(super) const PARTIAL: &str = ".partial";
/// Name of the file that records the verified files.
pub(super) const RECORD: &str = ".checked.jsonl";

/// In bytes: the limit of common file systems, less room for `PARTIAL`.
const MAX_NAME: usize = 240;
const MAX_PATH: usize = 1_024;

impl RemotePath {
    /// A path with `/` between its parts.
    ///
    /// # Errors
    /// A path that is absolute or climbs, or that clashes with the download's
    /// own files.
    pub fn new(path: &str) -> Result<Self, PathError> {
        match problem(path) {
            None => Ok(Self(path.to_owned())),
            Some(why) => Err(PathError {
                path: path.chars().take(200).collect(),
                why,
            }),
        }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The file's place below a folder.
    pub fn below(&self, folder: &Path) -> PathBuf {
        folder.join(&self.0)
    }

    /// The partial download's place below a folder.
    pub(super) fn partial_below(&self, folder: &Path) -> PathBuf {
        folder.join(format!("{}{PARTIAL}", self.0))
    }
}

fn problem(path: &str) -> Option<&'static str> {
    let parts: Vec<&str> = path.split('/').collect();
    if path.starts_with('/') {
        Some("it is absolute")
    } else if parts.contains(&"") {
        Some("a part of it is empty")
    } else if parts.iter().any(|part| [".", ".."].contains(part)) {
        Some("it has `.` or `..` in it")
    } else if path.contains('\\') {
        Some("it has a backslash in it")
    } else if path.chars().any(char::is_control) {
        Some("it has a control character in it")
    } else if path.len() > MAX_PATH || parts.iter().any(|part| part.len() > MAX_NAME) {
        Some("it is too long")
    } else if path == RECORD || parts.iter().any(|part| part.ends_with(PARTIAL)) {
        Some("the download itself uses that name")
    } else {
        None
    }
}

impl fmt::Display for RemotePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_stay_below_the_folder() {
        let check = |path: &str, expect: &str| {
            let problem = RemotePath::new(path).unwrap_err().to_string();
            assert!(problem.contains(expect), "{path:?} → {problem}");
        };
        check("", "empty");
        check("/etc/passwd", "absolute");
        check("a//b", "empty");
        check("a/", "empty");
        check("../a", "`..`");
        check("data/../../a", "`..`");
        check("a/./b", "`.`");
        check("a\\..\\b", "backslash");
        check("C:\\x", "backslash");
        check("a\0b", "control character");
        check("a\nb", "control character");
        check(&"n".repeat(241), "too long");
        check(&"nn/".repeat(400), "empty");
        check(".checked.jsonl", "uses that name");
        check("data/a.zip.partial", "uses that name");
        for good in ["a", "data/t__1/code.zip", "..a/b..", "data/ü x%2f?"] {
            let path = RemotePath::new(good).unwrap();
            assert!(path.below(Path::new("/f")).starts_with("/f"), "{good}");
        }
    }
}
