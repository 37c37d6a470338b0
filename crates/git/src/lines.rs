//! Counts changed lines.

use gix_imara_diff::{Algorithm, Diff, InternedInput};

/// Git examines this many bytes to tell whether a file is binary.
const EXAMINED: usize = 8_000;

/// Whether git takes these bytes for a binary file, which has no lines.
pub fn is_binary(bytes: &[u8]) -> bool {
    bytes[..bytes.len().min(EXAMINED)].contains(&0)
}

/// Lines added and deleted between two texts, as `git diff --numstat` counts
/// them: the end of a line is part of it.
pub fn changed_lines(old: &[u8], new: &[u8]) -> (u32, u32) {
    let diff = Diff::compute(Algorithm::Myers, &InternedInput::new(old, new));
    (diff.count_additions(), diff.count_removals())
}
