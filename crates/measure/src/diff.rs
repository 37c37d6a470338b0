//! Changed lines between two versions of the source.

use swe_ci_git::{changed_lines, is_binary};
use swe_ci_views::preparation::Lines;
use swe_ci_views::style::FileLines;

use crate::Source;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changed {
    pub lines: Lines,
    /// Files that differ, sorted by path; binary files count no lines.
    pub files: Vec<FileLines>,
}

/// The difference, counted like `git diff --no-renames --numstat`: a moved file
/// is deleted and added, with all its lines.
pub fn changed(base: &Source, other: &Source) -> Changed {
    let mut total = Changed::default();
    let removed = base.keys().filter(|path| !other.contains_key(*path));
    let mut paths: Vec<&String> = removed.chain(other.keys()).collect();
    paths.sort_unstable();
    for path in paths {
        let (old, new) = (base.get(path), other.get(path));
        if old == new {
            continue;
        }
        let [old, new] = [old, new].map(|bytes| bytes.map_or(&[][..], Vec::as_slice));
        let (added, deleted) = match is_binary(old) || is_binary(new) {
            true => (0, 0),
            false => changed_lines(old, new),
        };
        total.lines.files = total.lines.files.saturating_add(1);
        total.lines.added = total.lines.added.saturating_add(added);
        total.lines.deleted = total.lines.deleted.saturating_add(deleted);
        total.files.push(FileLines {
            path: path.clone(),
            added,
            deleted,
        });
    }
    total
}
