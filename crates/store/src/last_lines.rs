//! The end of a long text.

use std::io::{self, Read};

/// Read at once.
const PIECE: usize = 64 << 10;

/// The last whole lines of a text.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct LastLines {
    pub bytes: Vec<u8>,
    /// Lines before them.
    pub lines_before: usize,
}

impl LastLines {
    /// Reads a text to its end and keeps the last whole lines, at most `most`
    /// bytes of them. Blocks.
    pub(crate) fn read(mut reader: impl Read, most: usize) -> io::Result<Self> {
        let mut end = Self::default();
        let mut at_line_start = true;
        loop {
            let before = end.bytes.len();
            reader
                .by_ref()
                .take(PIECE as u64)
                .read_to_end(&mut end.bytes)?;
            let is_end = end.bytes.len() == before;
            let excess = end.bytes.len().saturating_sub(most);
            if excess > 0 {
                at_line_start = end.bytes[excess - 1] == b'\n';
                end.remove(excess);
            }
            if is_end {
                break;
            }
        }
        if !at_line_start {
            let line = end.bytes.iter().position(|byte| *byte == b'\n');
            end.remove(line.map_or(end.bytes.len(), |line| line + 1));
            // Its end was counted, unless the text ends within the line.
            end.lines_before += usize::from(line.is_none());
        }
        Ok(end)
    }

    fn remove(&mut self, bytes: usize) {
        let removed = self.bytes.drain(..bytes);
        self.lines_before += removed.filter(|byte| *byte == b'\n').count();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_lines_from_the_end() {
        let check = |text: &str, most: usize, kept: &str, lines_before: usize| {
            let found = LastLines::read(text.as_bytes(), most).unwrap();
            let expect = LastLines {
                bytes: kept.into(),
                lines_before,
            };
            assert_eq!(found, expect, "{text:?}, {most}");
        };
        check("", 10, "", 0);
        check("a\nb\n", 10, "a\nb\n", 0);
        check("a\nb\n", 4, "a\nb\n", 0);
        check("a\nb\n", 3, "b\n", 1);
        check("a\nb\n", 2, "b\n", 1);
        check("a\nb\n", 1, "", 2);
        check("a\nb\n", 0, "", 2);
        check("a\nb", 1, "b", 1);
        check("a\nbc", 2, "bc", 1);
        check("a\nbc", 1, "", 2);
        check("one line", 4, "", 1);
        check("\n\n\n", 2, "\n\n", 1);
        let long = "0123456789abcde\n".repeat(3 * PIECE / 16);
        check(&long, 32, &long[..32], 3 * PIECE / 16 - 2);
        check(&long, 33, &long[..32], 3 * PIECE / 16 - 2);
        check(&long, 31, &long[..16], 3 * PIECE / 16 - 1);
    }
}
