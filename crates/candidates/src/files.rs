//! Classifies files of a Python project by their paths.

use serde::{Deserialize, Serialize};

/// The class of a file's lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// Python, `.py`, outside of tests: the source code of section 3.1.
    Source,
    Tests,
    /// Documentation, settings, data, other languages, stubs and notebooks.
    Other,
}

/// The class of a file by its path.
pub fn class(path: &[u8]) -> Class {
    if is_test(path) {
        Class::Tests
    } else if path.ends_with(b".py") {
        Class::Source
    } else {
        Class::Other
    }
}

/// Whether a file belongs to the tests: anything below a folder `tests` or
/// `test` (in any case), and `test_*.py`, `*_test.py`, `conftest.py`,
/// `tests.py` and `test.py` anywhere. A folder `testing` does not count:
/// packages such as `numpy.testing` support other projects' tests.
pub fn is_test(path: &[u8]) -> bool {
    let (folders, file) = split(path);
    let is_tests = |folder: &[u8]| {
        folder.eq_ignore_ascii_case(b"tests") || folder.eq_ignore_ascii_case(b"test")
    };
    folders.split(|byte| *byte == b'/').any(is_tests)
        || file.strip_suffix(b".py").is_some_and(|stem| {
            has_test_name(file) || matches!(stem, b"conftest" | b"tests" | b"test")
        })
}

/// Whether pytest collects tests from a file of this name.
pub(crate) fn has_test_name(path: &[u8]) -> bool {
    let stem = split(path).1.strip_suffix(b".py");
    stem.is_some_and(|stem| stem.starts_with(b"test_") || stem.ends_with(b"_test"))
}

/// Whether pytest collects tests from this file when it runs the root folder
/// `tests`.
pub(crate) fn is_run_test(path: &[u8]) -> bool {
    path.starts_with(b"tests/") && has_test_name(path)
}

fn split(path: &[u8]) -> (&[u8], &[u8]) {
    match path.iter().rposition(|byte| *byte == b'/') {
        Some(at) => (&path[..at], &path[at + 1..]),
        None => (b"", path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_of_files() {
        let check = |path: &str, expect: Class| {
            assert_eq!(class(path.as_bytes()), expect, "{path}");
        };
        check("a.py", Class::Source);
        check("src/pkg/a.py", Class::Source);
        check("pkg/testing/assertions.py", Class::Source);
        check("pkg/latest.py", Class::Source);
        check("pkg/contest.py", Class::Source);
        check("pkg/testing.py", Class::Source);
        check("tests/a.py", Class::Tests);
        check("tests/data/big.json", Class::Tests);
        check("pkg/Tests/a.py", Class::Tests);
        check("pkg/test/a.py", Class::Tests);
        check("pkg/test_a.py", Class::Tests);
        check("pkg/a_test.py", Class::Tests);
        check("conftest.py", Class::Tests);
        check("app/tests.py", Class::Tests);
        check("tests", Class::Other);
        check("test_data.json", Class::Other);
        check("README.md", Class::Other);
        check("a.pyi", Class::Other);
        check("", Class::Other);
        assert_eq!(class(b"\xff/tests/\xfe"), Class::Tests);
    }
}
