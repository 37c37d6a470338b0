//! Diffs between two versions of the code, created within limits on time and
//! size, and cached.

mod changes;
mod highlight;

use std::collections::BTreeSet;
use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, Instant};

use similar::{ChangeTag, TextDiff};
use swe_ci_base::blocking::blocking;
use swe_ci_base::code::{CodeTree, Entry};
use swe_ci_core::diff::{Body, Coloured, Diff, FileChange, FileDiff, Words};

pub use self::changes::FileHistory;
use crate::as_u32;
use crate::byte_cache::{ByteCache, Weighed};
use crate::heavy_reads::HeavyReads;

/// After this time the rest is compared less well: correctly, but with more
/// changed lines than necessary.
const PATIENCE: Duration = Duration::from_secs(2);
/// Longer texts are not compared.
const LONGEST_TEXT: usize = 4 << 20;
/// The most bytes of hunks, and the most files, of one diff.
const MOST_BYTES: usize = 16 << 20;
const MOST_FILES: usize = 5_000;
/// Changed words are not marked in longer hunks: no page shows them.
const LONGEST_MARKED: usize = 96 << 10;
/// Limits of colouring, the first files first: bytes of hunks (no page shows
/// more), and bytes of the files around them, both versions (a fraction of a
/// second). By size and not by time, so that a diff is the same on any machine.
const MOST_COLOURED: usize = LONGEST_MARKED;
const MOST_SCANNED: usize = 8 << 20;
/// As in git: a NUL this early makes a file binary.
const BINARY_CHECK_BYTES: usize = 8_000;
const CACHE_BYTES: u64 = 32 << 20;
const MAX_ENTRIES: usize = 1_024;

/// The artifacts of the code before and after.
type Ends = (String, String);

/// Diffs by their ends. The key of a code artifact is its content, so a cached
/// diff is never stale.
#[derive(Debug)]
pub struct Diffs(ByteCache<Ends, Diff>);

impl Weighed for Diff {
    fn bytes(&self) -> usize {
        let bytes = |file: &FileDiff| match &file.body {
            Body::Text(hunks) => {
                file.path.len()
                    + hunks.len()
                    + file.words.len() * size_of::<(u32, u32)>()
                    + file.tokens.len() * size_of::<Coloured>()
            }
            _ => file.path.len(),
        };
        self.files.iter().map(bytes).sum()
    }
}

impl Diffs {
    /// Each diff is a heavy read: it holds two versions of the code.
    pub fn new(reads: HeavyReads) -> Self {
        Self(ByteCache::new(MAX_ENTRIES, CACHE_BYTES, reads))
    }

    /// The diff between these ends; on a miss, `codes` provides the code before
    /// and after.
    pub async fn between(
        &self,
        ends: Ends,
        codes: impl Future<Output = anyhow::Result<(CodeTree, CodeTree)>>,
    ) -> anyhow::Result<Arc<Diff>> {
        let computed = async {
            let (before, after) = codes.await?;
            blocking(move || Ok(diff(&before, &after))).await
        };
        self.0.of(ends, computed).await
    }
}

fn diff(before: &CodeTree, after: &CodeTree) -> Diff {
    let deadline = Instant::now() + PATIENCE;
    let (before, after): (Vec<_>, Vec<_>) = (before.iter().collect(), after.iter().collect());
    let mut pairs = pairs(&before, &after);
    pairs.retain(|(_, before, after)| before != after);
    let listed = pairs.len().min(MOST_FILES);
    let mut room = MOST_BYTES;
    let files = pairs[..listed].iter().map(|(path, before, after)| {
        let mut file = file_diff(path, *before, *after, deadline);
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
    let mut files: Vec<FileDiff> = files.collect();
    colour(&mut files, &pairs);
    Diff {
        from: 0,
        files,
        more_files: as_u32(pairs.len() - listed),
    }
}

/// Adds the colours to each file, from the pair at the same index.
fn colour(files: &mut [FileDiff], pairs: &[Pair<'_>]) {
    let (mut room, mut scan) = (MOST_COLOURED, MOST_SCANNED);
    for (file, (path, before, after)) in files.iter_mut().zip(pairs) {
        if let Body::Text(hunks) = &file.body
            && hunks.len() <= room
            && let (Some(old), Some(new)) = (text(content(*before)), text(content(*after)))
            && highlight::is_coloured(path, old, new)
            && old.len() + new.len() <= scan
        {
            room -= hunks.len();
            scan -= old.len() + new.len();
            file.tokens = highlight::tokens(old, new, hunks);
        }
    }
}

/// A path with its entries before and after.
type Pair<'a> = (&'a str, Option<&'a Entry>, Option<&'a Entry>);

/// By path; both sides are sorted.
fn pairs<'a>(before: &[(&'a str, &'a Entry)], after: &[(&'a str, &'a Entry)]) -> Vec<Pair<'a>> {
    let at = |side: &[(&'a str, &'a Entry)], path: &str| {
        let position = side.binary_search_by(|(p, _)| (*p).cmp(path));
        position.ok().map(|index| side[index].1)
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
    let (old, new) = (content(before), content(after));
    let plain = |body| FileDiff {
        path: path.to_owned(),
        change,
        added: 0,
        removed: 0,
        body,
        words: Words::new(),
        tokens: Vec::new(),
    };
    match (text(old), text(new)) {
        _ if old == new && change == FileChange::Modified => plain(Body::Mode),
        _ if old.len().max(new.len()) > LONGEST_TEXT => plain(Body::TooLong),
        (Some(old), Some(new)) => {
            let mut how = TextDiff::configure();
            let diff = how.deadline(deadline).diff_lines(old, new);
            // With three lines of context.
            let hunks = diff.unified_diff().to_string();
            FileDiff {
                added: count(&diff, ChangeTag::Insert),
                removed: count(&diff, ChangeTag::Delete),
                words: match hunks.len() <= LONGEST_MARKED {
                    true => words(&diff, &hunks, deadline),
                    false => Words::new(),
                },
                ..plain(Body::Text(hunks))
            }
        }
        _ => plain(Body::Binary),
    }
}

/// The bytes of a file; for a link, its target, as in git; empty for a missing
/// entry.
fn content(entry: Option<&Entry>) -> &[u8] {
    match entry {
        Some(Entry::File { bytes, .. }) => bytes,
        Some(Entry::Symlink { target }) => target.as_bytes(),
        None => b"",
    }
}

fn text(bytes: &[u8]) -> Option<&str> {
    let start = &bytes[..bytes.len().min(BINARY_CHECK_BYTES)];
    if start.contains(&0) {
        return None;
    }
    std::str::from_utf8(bytes).ok()
}

fn count(diff: &TextDiff<'_, '_, str>, tag: ChangeTag) -> u32 {
    let lines = diff.iter_all_changes().filter(|change| change.tag() == tag);
    as_u32(lines.count())
}

/// The changed words within the lines of a diff's hunks.
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
    // No marks are better than wrong ones.
    match at == text.len() {
        true => words,
        false => Words::new(),
    }
}

/// Follows a line without a line end.
const UNENDED: &str = "\n\\ No newline at end of file\n";

#[cfg(test)]
mod tests;
