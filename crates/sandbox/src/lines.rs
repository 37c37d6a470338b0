//! Splits the output of a command into lines.

use crate::OnLine;

/// Longer lines are cut off here, in bytes.
const MAX_LINE: usize = 16 * 1024;

/// Splits output into lines.
pub struct Lines<'a> {
    rest: Vec<u8>,
    on_line: OnLine<'a>,
}

impl std::fmt::Debug for Lines<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Lines").finish_non_exhaustive()
    }
}

impl<'a> Lines<'a> {
    pub fn new(on_line: OnLine<'a>) -> Self {
        Self {
            rest: Vec::new(),
            on_line,
        }
    }

    pub fn push(&mut self, bytes: &[u8]) {
        for piece in bytes.split_inclusive(|b| *b == b'\n') {
            let room = MAX_LINE.saturating_sub(self.rest.len());
            self.rest.extend_from_slice(&piece[..piece.len().min(room)]);
            if piece.ends_with(b"\n") {
                self.finish();
            }
        }
    }

    pub fn finish(&mut self) {
        if !self.rest.is_empty() {
            let text = String::from_utf8_lossy(&self.rest);
            (self.on_line)(text.trim_end_matches(['\n', '\r']));
            self.rest.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_is_cut_into_lines() {
        let mut seen = Vec::new();
        let mut on_line = |line: &str| seen.push(line.to_owned());
        let mut lines = Lines::new(&mut on_line);
        for chunk in ["one\ntw", "o\r\n\n", "thr", "ee", "\u{1F980}"] {
            lines.push(chunk.as_bytes());
        }
        lines.push(&[0xff, b'\n']);
        lines.push("x".repeat(MAX_LINE + 5).as_bytes());
        lines.finish();
        assert_eq!(seen[..4], ["one", "two", "", "three🦀\u{fffd}"]);
        assert_eq!(seen[4].len(), MAX_LINE);
    }
}
