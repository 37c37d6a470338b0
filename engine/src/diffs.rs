//! What changed between two versions of the code, made within limits on time
//! and size and kept for those who look again.

use std::collections::BTreeSet;
use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, Instant};

use quick_cache::Weighter;
use quick_cache::sync::Cache;
use similar::{ChangeTag, TextDiff};
use swe_ci_core::diff::{Body, Diff, FileChange, FileDiff, Words};
use tokio::sync::Semaphore;

use crate::blocking::blocking;
use crate::code::{CodeTree, Entry};

/// When it takes longer, what is left is compared less well: correctly, but
/// with more lines than it takes.
const PATIENCE: Duration = Duration::from_secs(2);
/// Longer texts are not compared.
const LONGEST_TEXT: usize = 4 << 20;
/// The most bytes of hunks, and the most files, of one diff.
const MOST_BYTES: usize = 16 << 20;
const MOST_FILES: usize = 5_000;
/// In longer texts of hunks nobody looks for the words that changed: no page
/// shows them.
const LONGEST_MARKED: usize = 96 << 10;
/// As git does: a NUL this early makes a file binary.
const LOOKED_AT: usize = 8_000;
/// Diffs made at the same time: each holds two versions of the code.
const AT_ONCE: usize = 2;
/// Bytes of diffs that are kept.
const ROOM: u64 = 32 << 20;
const KEPT: usize = 1_024;

/// The artifacts of the code before and after.
type Ends = (String, String);

/// Diffs by what they are of. Artifacts of code are called by their content,
/// so nothing kept is ever wrong.
#[derive(Debug)]
pub struct Diffs {
    kept: Cache<Ends, Arc<Diff>, Size>,
    at_once: Semaphore,
}

#[derive(Debug, Clone)]
struct Size;

impl Weighter<Ends, Arc<Diff>> for Size {
    fn weight(&self, ends: &Ends, diff: &Arc<Diff>) -> u64 {
        let bytes = |file: &FileDiff| match &file.body {
            Body::Text(hunks) => {
                file.path.len() + hunks.len() + file.words.len() * size_of::<(u32, u32)>()
            }
            _ => file.path.len(),
        };
        let bytes: usize = diff.files.iter().map(bytes).sum();
        (ends.0.len() + ends.1.len() + bytes) as u64
    }
}

impl Default for Diffs {
    fn default() -> Self {
        Self {
            kept: Cache::with_weighter(KEPT, ROOM, Size),
            at_once: Semaphore::new(AT_ONCE),
        }
    }
}

impl Diffs {
    /// The diff between these ends; `codes` brings the code before and after
    /// when it has to be made.
    pub async fn between(
        &self,
        ends: Ends,
        codes: impl Future<Output = anyhow::Result<(CodeTree, CodeTree)>>,
    ) -> anyhow::Result<Arc<Diff>> {
        if let Some(diff) = self.kept.get(&ends) {
            return Ok(diff);
        }
        let _turn = self.at_once.acquire().await?;
        // Whoever waited may have waited for this one.
        if let Some(diff) = self.kept.get(&ends) {
            return Ok(diff);
        }
        let (before, after) = codes.await?;
        let diff = blocking(move || Ok(Arc::new(diff(&before, &after)))).await?;
        self.kept.insert(ends, diff.clone());
        Ok(diff)
    }
}

fn diff(before: &CodeTree, after: &CodeTree) -> Diff {
    let deadline = Instant::now() + PATIENCE;
    let (before, after): (Vec<_>, Vec<_>) = (before.iter().collect(), after.iter().collect());
    let mut pairs = pairs(&before, &after);
    pairs.retain(|(_, before, after)| before != after);
    let listed = pairs.len().min(MOST_FILES);
    let mut room = MOST_BYTES;
    let files = pairs.drain(..listed).map(|(path, before, after)| {
        let mut file = file_diff(path, before, after, deadline);
        match &file.body {
            Body::Text(hunks) if hunks.len() > room => {
                file.body = Body::LeftOut;
                file.words = Words::new();
            }
            Body::Text(hunks) => room -= hunks.len(),
            _ => {}
        }
        file
    });
    let files = files.collect();
    Diff {
        from: 0,
        files,
        more_files: u32::try_from(pairs.len()).unwrap_or(u32::MAX),
    }
}

/// A path with what stands there before and after.
type Pair<'a> = (&'a str, Option<&'a Entry>, Option<&'a Entry>);

/// By path; both sides are sorted.
fn pairs<'a>(before: &[(&'a str, &'a Entry)], after: &[(&'a str, &'a Entry)]) -> Vec<Pair<'a>> {
    let at = |side: &[(&'a str, &'a Entry)], path: &str| {
        let found = side.binary_search_by(|(p, _)| (*p).cmp(path));
        found.ok().map(|index| side[index].1)
    };
    let paths: BTreeSet<&str> = before.iter().chain(after).map(|(path, _)| *path).collect();
    let pair = |path: &'a str| (path, at(before, path), at(after, path));
    paths.into_iter().map(pair).collect()
}

fn file_diff(
    path: &str,
    before: Option<&Entry>,
    after: Option<&Entry>,
    deadline: Instant,
) -> FileDiff {
    let change = match (before, after) {
        (None, _) => FileChange::Added,
        (_, None) => FileChange::Removed,
        _ => FileChange::Modified,
    };
    let (old, new) = (
        before.map_or(&b""[..], content),
        after.map_or(&b""[..], content),
    );
    let plain = |body| FileDiff {
        path: path.to_owned(),
        change,
        added: 0,
        removed: 0,
        body,
        words: Words::new(),
    };
    match (text(old), text(new)) {
        _ if old == new && change == FileChange::Modified => plain(Body::Mode),
        _ if old.len().max(new.len()) > LONGEST_TEXT => plain(Body::TooLong),
        (Some(old), Some(new)) => {
            let Hunks {
                text,
                words,
                added,
                removed,
            } = hunks(old, new, deadline);
            FileDiff {
                added,
                removed,
                words,
                ..plain(Body::Text(text))
            }
        }
        _ => plain(Body::Binary),
    }
}

/// The bytes of a file; of a link, where it leads, as git has it.
fn content(entry: &Entry) -> &[u8] {
    match entry {
        Entry::File { bytes, .. } => bytes,
        Entry::Symlink { target } => target.as_bytes(),
    }
}

fn text(bytes: &[u8]) -> Option<&str> {
    let start = &bytes[..bytes.len().min(LOOKED_AT)];
    if start.contains(&0) {
        return None;
    }
    std::str::from_utf8(bytes).ok()
}

/// Hunks with three lines around them.
struct Hunks {
    text: String,
    words: Words,
    added: u32,
    removed: u32,
}

fn hunks(old: &str, new: &str, deadline: Instant) -> Hunks {
    let mut how = TextDiff::configure();
    let diff = how.deadline(deadline).diff_lines(old, new);
    let count = |tag: ChangeTag| {
        let lines = diff.iter_all_changes().filter(|change| change.tag() == tag);
        u32::try_from(lines.count()).unwrap_or(u32::MAX)
    };
    let (added, removed) = (count(ChangeTag::Insert), count(ChangeTag::Delete));
    let text = diff.unified_diff().to_string();
    let words = match text.len() <= LONGEST_MARKED {
        true => words(&diff, &text, deadline),
        false => Words::new(),
    };
    Hunks {
        text,
        words,
        added,
        removed,
    }
}

/// Where words changed within lines of the hunks that were written from a diff.
fn words(diff: &TextDiff<'_, '_, str>, text: &str, deadline: Instant) -> Words {
    let mut words = Words::new();
    let mut at = 0;
    for hunk in diff.unified_diff().iter_hunks() {
        at += hunk.header().to_string().len() + 1;
        for op in hunk.ops() {
            for change in diff.iter_inline_changes_deadline(op, Some(deadline)) {
                at += 1;
                for (changed, part) in change.values() {
                    if *changed
                        && let (Ok(from), Ok(to)) = (at.try_into(), (at + part.len()).try_into())
                    {
                        words.push((from, to));
                    }
                    at += part.len();
                }
                if change.missing_newline() {
                    at += UNENDED.len();
                }
            }
        }
    }
    // Nothing is marked rather than the wrong thing.
    if at == text.len() {
        words
    } else {
        Words::new()
    }
}

/// What follows a line that does not end as lines do.
const UNENDED: &str = "\n\\ No newline at end of file\n";

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn tree(files: &[(&str, &[u8])]) -> CodeTree {
        let mut tree = CodeTree::default();
        for (path, bytes) in files {
            tree.insert_file(path, *bytes);
        }
        tree
    }

    #[test]
    fn a_file_for_each_kind_of_change() {
        let before = tree(&[
            ("gone.py", b"a\n"),
            ("image.png", b"\x89PNG\0\x01"),
            ("kept.py", b"same\n"),
            ("latin.txt", b"caf\xe9"),
            ("text.py", b"1\n2\n3\n4\n5\n6\n7\n8\n9\n"),
        ]);
        let mut after = tree(&[
            ("image.png", b"\x89PNG\0\x02"),
            ("kept.py", b"same\n"),
            ("latin.txt", b"caf\xe8"),
            ("new/a.py", b"b"),
            ("text.py", b"1\n2\n3\n4\nfive\n6\n7\n8\n9\n"),
        ]);
        let link = Entry::Symlink {
            target: "text.py".into(),
        };
        assert!(after.insert(Path::new("link"), link).unwrap());
        let found = diff(&before, &after);
        let files: Vec<(&str, FileChange, (u32, u32))> = found
            .files
            .iter()
            .map(|f| (f.path.as_str(), f.change, (f.added, f.removed)))
            .collect();
        use FileChange::{Added, Modified, Removed};
        let expect = [
            ("gone.py", Removed, (0, 1)),
            ("image.png", Modified, (0, 0)),
            ("latin.txt", Modified, (0, 0)),
            ("link", Added, (1, 0)),
            ("new/a.py", Added, (1, 0)),
            ("text.py", Modified, (1, 1)),
        ];
        assert_eq!(files, expect);
        assert_eq!(found.files[1].body, Body::Binary);
        assert_eq!(found.files[2].body, Body::Binary);
        let text = "@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n";
        assert_eq!(found.files[5].body, Body::Text(text.into()));
        let unended = "@@ -0,0 +1 @@\n+b\n\\ No newline at end of file\n";
        assert_eq!(found.files[4].body, Body::Text(unended.into()));
        assert_eq!(diff(&before, &before), Diff::default());
    }

    #[test]
    fn words_within_lines() {
        let check = |old: &str, new: &str, expect: &[&str]| {
            let found = diff(
                &tree(&[("a.py", old.as_bytes())]),
                &tree(&[("a.py", new.as_bytes())]),
            );
            let file = &found.files[0];
            let Body::Text(text) = &file.body else {
                panic!("it is text")
            };
            let word = |(from, to): &(u32, u32)| &text[*from as usize..*to as usize];
            let words: Vec<&str> = file.words.iter().map(word).collect();
            assert_eq!(words, expect, "{text}");
        };
        check(
            "a\ndef one(a, b):\nc\n",
            "a\ndef one(a, c):\nc\n",
            &["b", "c"],
        );
        check("x = café\n", "x = tee", &["café", "tee"]);
        // Nothing of these lines is the same.
        check("one\n", "zwei drei vier\n", &[]);
        check("", "new\n", &[]);
        // Further down, behind a hunk and lines that end oddly.
        let (old, new) = ("k1 = 1\n", "k1 = 2\n");
        let between = "same\r\n".repeat(20);
        check(
            &format!("{old}{between}x y z 1"),
            &format!("{new}{between}x y z 2"),
            &["1", "2", "1", "2"],
        );
    }

    #[test]
    fn the_executable_bit_alone() {
        let file = |executable| Entry::File {
            bytes: b"x".to_vec(),
            executable,
        };
        let tree = |executable| {
            let mut tree = CodeTree::default();
            tree.insert(Path::new("run.sh"), file(executable)).unwrap();
            tree
        };
        let found = diff(&tree(false), &tree(true));
        assert_eq!(found.files[0].body, Body::Mode);
        assert_eq!(found.files[0].change, FileChange::Modified);
    }

    #[test]
    fn much_is_named_and_not_compared() {
        let long = "x\n".repeat(LONGEST_TEXT);
        let before = tree(&[("long.txt", b"")]);
        let after = tree(&[("long.txt", long.as_bytes())]);
        assert_eq!(diff(&before, &after).files[0].body, Body::TooLong);

        let mut many = CodeTree::default();
        for i in 0..MOST_FILES + 7 {
            many.insert_file(&format!("{i:05}.py"), "x");
        }
        let found = diff(&CodeTree::default(), &many);
        assert_eq!((found.files.len(), found.more_files), (MOST_FILES, 7));
    }

    /// Nothing in common and every line alike: what takes longest to compare.
    #[test]
    fn there_is_an_end_to_it() {
        let lines = |salt: u64| {
            let line = |i: u64| format!("{}\n", (i * 7_919 + salt) % 257);
            (0..200_000).map(line).collect::<String>()
        };
        let before = tree(&[("a", lines(1).as_bytes())]);
        let after = tree(&[("a", lines(100).as_bytes())]);
        let began = Instant::now();
        assert!(diff(&before, &after).files[0].added > 0);
        assert!(began.elapsed() < PATIENCE * 30, "{:?}", began.elapsed());
    }

    #[tokio::test]
    async fn made_once() {
        let diffs = Diffs::default();
        let ends = || ("a".to_owned(), "b".to_owned());
        let codes = async { Ok((tree(&[]), tree(&[("a.py", b"a\n")]))) };
        let made = diffs.between(ends(), codes).await.unwrap();
        let never = std::future::pending();
        let again = diffs.between(ends(), never).await.unwrap();
        assert!(Arc::ptr_eq(&made, &again));
        // What fails is tried again.
        let other = || ("a".to_owned(), "c".to_owned());
        let fails = async { anyhow::bail!("not now") };
        assert!(diffs.between(other(), fails).await.is_err());
        let works = async { Ok((tree(&[]), tree(&[]))) };
        assert!(diffs.between(other(), works).await.is_ok());
    }
}
