//! The measured source files, by path.

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};
use swe_ci_base::digest::{hex, sha256_hex};

/// Regular files by their path from the root of the code, all of them accepted
/// by [`is_source`].
pub type Source = BTreeMap<String, Vec<u8>>;

/// Whether a file is part of the source: `*.py`, and not below a folder named
/// `tests` or `test` at any depth.
pub fn is_source(path: &str) -> bool {
    let (folders, file) = path.rsplit_once('/').unwrap_or(("", path));
    let is_tests = |folder: &str| matches!(folder, "tests" | "test");
    file.ends_with(".py") && !folders.split('/').any(is_tests)
}

/// SHA-256 of a file's content, in hexadecimal.
pub fn file_digest(bytes: &[u8]) -> String {
    sha256_hex(bytes)
}

/// SHA-256 of all paths and contents, in hexadecimal: in the same image, equal
/// sources have equal results.
pub fn digest(source: &Source) -> String {
    let mut all = Sha256::new();
    for (path, bytes) in source {
        for part in [path.as_bytes(), bytes] {
            all.update((part.len() as u64).to_le_bytes());
            all.update(part);
        }
    }
    hex(&all.finalize())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn source_is_python_outside_of_tests() {
        let check = |path: &str, expect: bool| assert_eq!(is_source(path), expect, "{path}");
        check("a.py", true);
        check("src/a/b.py", true);
        check("test.py", true);
        check("a/test_b.py", true);
        check("testing/a.py", true);
        check("a/contests/b.py", true);
        check("Tests/a.py", true);
        check("tests.py/a.py", true);
        check("tests/a.py", false);
        check("test/a.py", false);
        check("a/tests/b/c.py", false);
        check("a/b/test/c.py", false);
        check("a.pyi", false);
        check("a.py/b.txt", false);
        check("a.PY", false);
        check("apy", false);
        check("", false);
    }

    #[test]
    fn digests_distinguish_contents_and_sources() {
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(file_digest(b""), empty);
        let of = |files: &[(&str, &str)]| {
            let files = files.iter();
            digest(&files.map(|(p, b)| ((*p).into(), (*b).into())).collect())
        };
        let all = [
            of(&[]),
            of(&[("a.py", "")]),
            of(&[("a.py", "b.py")]),
            of(&[("a.py", ""), ("b.py", "")]),
            of(&[("a.pyb.py", "")]),
        ];
        for (n, one) in all.iter().enumerate() {
            assert!(!all[..n].contains(one), "{n}");
        }
        assert_eq!(all[1], of(&[("a.py", "")]));
    }
}
