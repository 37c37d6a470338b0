//! Lines of files, as spans count and compare them.

use std::borrow::Cow;

use swe_ci_git::is_binary;

use crate::facts::is_lfs_pointer;

/// Whether a file is binary or a Git LFS pointer.
pub(super) fn has_no_lines(bytes: &[u8]) -> bool {
    is_binary(bytes) || is_lfs_pointer(bytes)
}

/// The bytes with CRLF line ends as LF.
pub(super) fn without_returns(bytes: &[u8]) -> Cow<'_, [u8]> {
    if !bytes.contains(&b'\r') {
        return bytes.into();
    }
    let mut plain = Vec::with_capacity(bytes.len());
    for (at, byte) in bytes.iter().enumerate() {
        if *byte != b'\r' || bytes.get(at + 1) != Some(&b'\n') {
            plain.push(*byte);
        }
    }
    plain.into()
}

/// The number of lines, the last one with or without an end.
pub(super) fn count(bytes: &[u8]) -> usize {
    let ends = bytes.iter().filter(|byte| **byte == b'\n').count();
    ends + usize::from(!bytes.is_empty() && !bytes.ends_with(b"\n"))
}
