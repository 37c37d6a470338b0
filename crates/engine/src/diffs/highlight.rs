//! Syntax colours of changed Python. Both versions are scanned as a whole, so
//! that a string that began above a hunk is recognised within it.

mod python;

use swe_ci_core::diff::{Coloured, Token};

/// Larger files are not coloured.
const LONGEST_FILE: usize = 256 << 10;

/// Whether the file at `path` is Python and short enough.
pub(super) fn is_coloured(path: &str, old: &str, new: &str) -> bool {
    let is_python = path.ends_with(".py") || path.ends_with(".pyi");
    is_python && old.len().max(new.len()) <= LONGEST_FILE
}

/// The coloured tokens in the hunks of a file of Python that was `old` and became
/// `new`, in order.
pub(super) fn tokens(old: &str, new: &str, hunks: &str) -> Vec<Coloured> {
    let (before, after) = (python::words(old), python::words(new));
    // No colours are better than wrong ones.
    placed(hunks, &Side::new(old, &before), &Side::new(new, &after)).unwrap_or_default()
}

/// One version of the file: its lines with their offsets, and its tokens.
struct Side<'a> {
    lines: Vec<(usize, &'a str)>,
    words: &'a [Word],
}

/// A range of bytes in a file, and its token.
type Word = (usize, usize, Token);

impl<'a> Side<'a> {
    fn new(text: &'a str, words: &'a [Word]) -> Self {
        let mut lines = Vec::new();
        let (mut start, bytes) = (0, text.as_bytes());
        for (at, byte) in bytes.iter().enumerate() {
            // Lines end as in the diff.
            let ends = match byte {
                b'\n' => true,
                b'\r' => bytes.get(at + 1) != Some(&b'\n'),
                _ => false,
            };
            if ends {
                lines.push((start, &text[start..=at]));
                start = at + 1;
            }
        }
        if start < text.len() {
            lines.push((start, &text[start..]));
        }
        Self { lines, words }
    }
}

/// The tokens of both sides at their places in the hunks; none if these are not
/// hunks of them.
fn placed(hunks: &str, before: &Side<'_>, after: &Side<'_>) -> Option<Vec<Coloured>> {
    let mut placed = Vec::new();
    let (mut old, mut new) = (0, 0);
    let mut at = 0;
    while let Some(sign) = hunks.as_bytes().get(at) {
        if *sign == b'@' {
            let head = hunks[at..].lines().next()?;
            (old, new) = starts(head)?;
            at += head.len() + 1;
            continue;
        }
        let (side, number) = match sign {
            b'-' => (before, old),
            b'+' | b' ' => (after, new),
            _ => return None,
        };
        old += usize::from(*sign != b'+');
        new += usize::from(*sign != b'-');
        let (start, line) = *side.lines.get(number)?;
        at += 1;
        if !hunks.get(at..)?.starts_with(line) {
            return None;
        }
        place(start, line, side.words, at, &mut placed)?;
        at += line.len();
        if !line.ends_with(['\n', '\r']) {
            at += super::UNENDED.len();
        }
    }
    Some(placed)
}

/// The first lines of a hunk on both sides, from 0.
fn starts(head: &str) -> Option<(usize, usize)> {
    let mut ranges = head.split(' ').skip(1);
    let mut start = || {
        let range = ranges.next()?.get(1..)?;
        let first: usize = range.split(',').next()?.parse().ok()?;
        // There is no line 0; an empty side has no line to look up.
        Some(first.saturating_sub(1))
    };
    Some((start()?, start()?))
}

/// Adds the tokens of a line, which begins at `start` in its file and at `at`
/// in the hunks.
fn place(
    start: usize,
    line: &str,
    words: &[Word],
    at: usize,
    placed: &mut Vec<Coloured>,
) -> Option<()> {
    let end = start + line.len();
    let first = words.partition_point(|(_, to, _)| *to <= start);
    for (from, to, token) in words[first..].iter().take_while(|(from, ..)| *from < end) {
        let from = from.saturating_sub(start);
        let word = line.get(from..(*to).min(end) - start)?;
        // Blanks at the ends of a line have no colour.
        let from = from + (word.len() - word.trim_start().len());
        let to = from + word.trim().len();
        if from < to {
            placed.push(Coloured {
                from: u32::try_from(at + from).ok()?,
                to: u32::try_from(at + to).ok()?,
                token: *token,
            });
        }
    }
    Some(())
}

#[cfg(test)]
mod tests;
