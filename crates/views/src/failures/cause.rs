//! The change that failures point to.

use swe_ci_core::diff::{Body, Diff, FileDiff, Hunk, Sign, hunks};

use super::error::without_numbers;
use super::{Failures, Frame};
use crate::inspection::{CodeChange, Inspection};

/// A changed file, and the part of it, that failures point to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cause {
    /// Positions in [`Diff::files`] and among the file's hunks.
    pub file: usize,
    pub hunk: Option<usize>,
    /// Tests that point to the file.
    pub tests: usize,
}

impl Inspection {
    /// The change that the largest group with one points to.
    pub fn cause(&self, failures: &[Failures]) -> Option<Cause> {
        let CodeChange::Known(diff) = &self.code else {
            return None;
        };
        let causes = failures.iter().map(|group| (group, group.cause(diff)));
        let causes: Vec<(usize, usize, Option<usize>)> = causes
            .filter_map(|(group, cause)| cause.map(|(file, hunk)| (group.tests.len(), file, hunk)))
            .collect();
        let (_, file, hunk) = *causes.first()?;
        let same = causes.iter().filter(|(_, other, _)| *other == file);
        Some(Cause {
            file,
            hunk,
            tests: same.map(|(tests, ..)| tests).sum(),
        })
    }
}

impl Failures {
    /// The changed file, and its hunk, where the traceback ends; or else the one
    /// that changes the definition of a name in the error.
    fn cause(&self, diff: &Diff) -> Option<(usize, Option<usize>)> {
        let traceback = self.example.as_ref().map_or("", |ended| &ended.message);
        let frames = self.frame.clone().into_iter().chain(Frame::all(traceback));
        let mut by_frame = frames.filter_map(|frame| {
            let is_of = |file: &FileDiff| file.path == frame.file;
            let file = diff.files.iter().position(is_of)?;
            Some((file, hunk_of_line(&diff.files[file], frame.line)))
        });
        let by_name = || {
            let files = diff.files.iter().enumerate();
            let defines =
                |(place, file)| Some((place, Some(hunk_that_defines(file, &self.error)?)));
            files.clone().find_map(defines)
        };
        by_frame.next().or_else(by_name)
    }
}

fn hunk_of_line(file: &FileDiff, line: u32) -> Option<usize> {
    let Body::Text(text) = &file.body else {
        return None;
    };
    let hunks = hunks(text, &[], &[]);
    let has = |hunk: &Hunk| hunk.lines.iter().any(|one| one.new == Some(line));
    hunks.iter().position(has)
}

/// The first hunk with a changed definition of a name in the error.
fn hunk_that_defines(file: &FileDiff, error: &str) -> Option<usize> {
    let Body::Text(text) = &file.body else {
        return None;
    };
    let names = names(error);
    let hunks = hunks(text, &[], &[]);
    hunks.iter().position(|hunk| {
        let changed = hunk.lines.iter().filter(|line| line.sign != Sign::Same);
        let mut defined = changed.filter_map(|line| {
            let line = line.pieces.iter().map(|piece| piece.text.as_str());
            defined(&line.collect::<String>()).map(str::to_owned)
        });
        // Errors have no numbers, so that those of several tests are one.
        defined.any(|name| names.contains(&without_numbers(&name).as_str()))
    })
}

/// The function or class that a line of Python defines.
fn defined(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let line = line.strip_prefix("async ").unwrap_or(line);
    let rest = line.strip_prefix("def ").or(line.strip_prefix("class "))?;
    let name = rest.split(|c: char| !is_of_name(c)).next()?;
    (!name.is_empty()).then_some(name)
}

fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The names in an error: those that are quoted, and those of functions.
fn names(error: &str) -> Vec<&str> {
    let quoted = error.split('\'').skip(1).step_by(2);
    let called = error.match_indices("()").filter_map(|(at, _)| {
        let name = error[..at].rsplit(|c: char| !is_of_name(c)).next();
        name.filter(|name| !name.is_empty())
    });
    called.chain(quoted).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inspection::Ended;
    use swe_ci_core::report::Outcome;

    #[test]
    fn the_change_behind_a_failure() {
        let file = |path: &str, text: &str| FileDiff {
            path: path.into(),
            change: swe_ci_core::diff::FileChange::Modified,
            added: 1,
            removed: 1,
            body: Body::Text(text.into()),
            words: Vec::new(),
            tokens: Vec::new(),
        };
        let diff = Diff {
            from: 0,
            files: vec![
                file("a.py", "@@ -1,1 +1,1 @@\n-x = 1\n+x = 2\n"),
                file(
                    "more.py",
                    "@@ -1,1 +1,1 @@\n-y = 1\n+y = 2\n@@ -9,2 +9,2 @@\n-def chunked(n, strict):\n+def chunked(n):\n     pass\n",
                ),
            ],
            more_files: 0,
        };
        let check = |error: &str, message: &str, expect| {
            let group = Failures {
                error: error.into(),
                frame: Frame::deepest(message),
                tests: vec!["t".into()],
                example: Some(Ended {
                    outcome: Outcome::Failed,
                    message: message.into(),
                    earlier: 0,
                }),
            };
            assert_eq!(group.cause(&diff), expect, "{error} {message}");
        };
        check("KeyError", "more.py:10: in chunked", Some((1, Some(1))));
        check("KeyError", "more.py:99: in other", Some((1, None)));
        // The deepest line is in a file that did not change.
        check("KeyError", "a.py:1: in f\nb.py:3: in g", Some((0, Some(0))));
        check(
            "TypeError: chunked() got an unexpected keyword argument 'strict'",
            "tests/test_a.py:3: TypeError",
            Some((1, Some(1))),
        );
        check(
            "ImportError: cannot import name 'chunked' from 'more'",
            "",
            Some((1, Some(1))),
        );
        check(
            "AssertionError: x",
            "tests/test_a.py:3: AssertionError",
            None,
        );
    }
}
