//! Changes of the code: files with their unified diffs. The engine makes them;
//! this module defines them and cuts them to a size that a page can show.

mod lines;
mod tokens;

use serde::{Deserialize, Serialize};

pub use self::lines::{Hunk, Line, Pair, Piece, Sign, Words, hunks};
pub use self::tokens::{Coloured, Token};

/// A page colours at most one word per this many bytes of hunks, because each
/// coloured word is an HTML element.
const BYTES_PER_COLOUR: usize = 6;

/// The difference between two versions of the code.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diff {
    /// The iteration whose code it starts from; 0 for the base.
    pub from: u32,
    /// Sorted by path.
    pub files: Vec<FileDiff>,
    /// Changed files beyond the limit of the list.
    pub more_files: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileDiff {
    pub path: String,
    pub change: FileChange,
    /// Lines added and removed; 0 where they were not counted.
    pub added: u32,
    pub removed: u32,
    pub body: Body,
    /// The words that changed within the lines of its text; empty if they were
    /// not computed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub words: Words,
    /// The syntax of the words of its text, in order; empty if unknown.
    #[serde(
        default,
        skip_serializing_if = "Vec::is_empty",
        with = "tokens::packed"
    )]
    pub tokens: Vec<Coloured>,
}

crate::named! {
    pub enum FileChange {
        Added = "added",
        Removed = "removed",
        Modified = "modified",
    }
}

/// The displayable content of a changed file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Body {
    /// Hunks of a unified diff, each line ended; a line begins with `@`, a
    /// space, `+`, `-` or `\`.
    Text(String),
    /// It is not text, before or after.
    Binary,
    TooLong,
    /// Only its executable bit changed.
    Mode,
    /// It has a diff that exceeds the size limit.
    LeftOut,
}

impl Diff {
    /// Number of changed files, listed or not.
    pub fn changed(&self) -> u32 {
        let listed = u32::try_from(self.files.len()).unwrap_or(u32::MAX);
        listed.saturating_add(self.more_files)
    }

    /// Lines added and removed in the files that have counts.
    pub fn lines(&self) -> (u32, u32) {
        self.files.iter().fold((0, 0), |(added, removed), file| {
            let added = u32::saturating_add(added, file.added);
            (added, u32::saturating_add(removed, file.removed))
        })
    }

    pub fn is_cut(&self) -> bool {
        self.more_files > 0 || self.files.iter().any(|file| file.body == Body::LeftOut)
    }

    /// The diff with at most `files` files and at most `bytes` bytes of hunks:
    /// those that fit, in order, so that one huge file does not hide small
    /// ones.
    pub fn cut(&self, files: usize, bytes: usize) -> Self {
        let mut bytes_left = bytes;
        let mut colours_left = bytes / BYTES_PER_COLOUR;
        let fit = |file: &FileDiff| {
            let body = match &file.body {
                Body::Text(hunks) if hunks.len() > bytes_left => Body::LeftOut,
                body => body.clone(),
            };
            if let Body::Text(hunks) = &body {
                bytes_left -= hunks.len();
            }
            let words = match &body {
                Body::Text(_) => file.words.clone(),
                _ => Words::new(),
            };
            let tokens = match &body {
                Body::Text(_) if file.tokens.len() <= colours_left => file.tokens.clone(),
                _ => Vec::new(),
            };
            colours_left -= tokens.len();
            FileDiff {
                path: file.path.clone(),
                body,
                words,
                tokens,
                ..*file
            }
        };
        let listed: Vec<FileDiff> = self.files.iter().take(files).map(fit).collect();
        let beyond = u32::try_from(self.files.len() - listed.len()).unwrap_or(u32::MAX);
        Self {
            from: self.from,
            files: listed,
            more_files: self.more_files.saturating_add(beyond),
        }
    }

    /// One text for `patch -p1` and `git apply`; a file without hunks appears
    /// as a comment.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        for file in &self.files {
            let path = printable(&file.path);
            let (old, new) = match file.change {
                FileChange::Added => ("/dev/null".to_owned(), format!("b/{path}")),
                FileChange::Removed => (format!("a/{path}"), "/dev/null".to_owned()),
                FileChange::Modified => (format!("a/{path}"), format!("b/{path}")),
            };
            let section = match &file.body {
                Body::Text(hunks) if !hunks.is_empty() => {
                    format!("--- {old}\n+++ {new}\n{hunks}")
                }
                Body::Text(_) => format!("# Empty: {old} and {new}\n"),
                Body::Binary => format!("Binary files {old} and {new} differ\n"),
                Body::TooLong => format!("# Too long to compare: {old} and {new}\n"),
                Body::Mode => format!("# Only the executable bit changed: {path}\n"),
                Body::LeftOut => format!("# Left out: {old} and {new}\n"),
            };
            text.push_str(&section);
        }
        if self.more_files > 0 {
            text.push_str(&format!("# And {} more files.\n", self.more_files));
        }
        text
    }
}

/// A path on one line, even if the agent's file name has control characters.
fn printable(path: &str) -> String {
    if path.chars().any(char::is_control) {
        path.escape_debug().to_string()
    } else {
        path.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, change: FileChange, body: Body) -> FileDiff {
        FileDiff {
            path: path.into(),
            change,
            added: 2,
            removed: 1,
            body,
            words: Words::new(),
            tokens: Vec::new(),
        }
    }

    fn text(bytes: usize) -> Body {
        Body::Text("+".repeat(bytes - 1) + "\n")
    }

    fn diff(bodies: &[Body]) -> Diff {
        let files = bodies.iter().enumerate().map(|(i, body)| {
            let change = FileChange::Modified;
            file(&format!("f{i}.py"), change, body.clone())
        });
        Diff {
            from: 0,
            files: files.collect(),
            more_files: 0,
        }
    }

    #[test]
    fn a_file_that_does_not_fit_does_not_hide_later_ones() {
        let check = |bodies: &[Body], files, bytes, expect: &[Body], more: u32| {
            let cut = diff(bodies).cut(files, bytes);
            let bodies: Vec<Body> = cut.files.iter().map(|f| f.body.clone()).collect();
            assert_eq!((bodies.as_slice(), cut.more_files), (expect, more));
            assert_eq!(cut.is_cut(), more > 0 || expect.contains(&Body::LeftOut));
        };
        check(&[text(5), text(5)], 9, 10, &[text(5), text(5)], 0);
        check(
            &[text(5), text(6), Body::Binary, text(5)],
            9,
            10,
            &[text(5), Body::LeftOut, Body::Binary, text(5)],
            0,
        );
        check(&[text(5), text(5)], 1, 10, &[text(5)], 1);
        check(&[], 0, 0, &[], 0);
    }

    #[test]
    fn colours_follow_their_text_and_are_limited() {
        let check = |bodies: &[(Body, u32)], bytes, expect: &[usize]| {
            let mut diff = diff(
                &bodies
                    .iter()
                    .map(|(body, _)| body.clone())
                    .collect::<Vec<_>>(),
            );
            for (file, (_, count)) in diff.files.iter_mut().zip(bodies) {
                let word = |at| Coloured {
                    from: at,
                    to: at + 1,
                    token: Token::Keyword,
                };
                file.tokens = (0..*count).map(word).collect();
            }
            let cut = diff.cut(9, bytes);
            let counts: Vec<usize> = cut.files.iter().map(|file| file.tokens.len()).collect();
            assert_eq!(counts, expect);
        };
        check(&[(text(9), 1), (text(9), 2)], 18, &[1, 2]);
        check(&[(text(9), 1), (text(9), 3), (text(9), 2)], 27, &[1, 3, 0]);
        check(&[(text(9), 2), (text(9), 2)], 18, &[2, 0]);
        check(&[(text(19), 1), (text(9), 1)], 18, &[0, 1]);
    }

    #[test]
    fn counts() {
        let mut diff = diff(&[text(5), Body::Binary]);
        diff.more_files = 3;
        assert_eq!((diff.changed(), diff.lines()), (5, (4, 2)));
        assert!(diff.is_cut());
    }

    #[test]
    fn as_one_text() {
        let hunk = || Body::Text("@@ -1 +1,2 @@\n-a\n+b\n+c\n".into());
        let check = |file: FileDiff, expect: &str| {
            let diff = Diff {
                files: vec![file],
                ..Diff::default()
            };
            assert_eq!(diff.to_text(), expect);
        };
        check(
            file("a/b.py", FileChange::Modified, hunk()),
            "--- a/a/b.py\n+++ b/a/b.py\n@@ -1 +1,2 @@\n-a\n+b\n+c\n",
        );
        check(
            file("n.py", FileChange::Added, hunk()),
            "--- /dev/null\n+++ b/n.py\n@@ -1 +1,2 @@\n-a\n+b\n+c\n",
        );
        check(
            file("x.bin", FileChange::Removed, Body::Binary),
            "Binary files a/x.bin and /dev/null differ\n",
        );
        // A line break in a file name does not start a line of the diff.
        check(
            file("a\n+evil", FileChange::Modified, Body::Mode),
            "# Only the executable bit changed: a\\n+evil\n",
        );
    }
}
