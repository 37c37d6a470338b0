//! Lines that differ between two versions of the source.

use anyhow::Context;
use git2::{DiffOptions, Patch};
use swe_ci_core::preparation::Lines;
use swe_ci_core::style::FileLines;

use crate::Source;

/// What differs between a base and another version.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changed {
    pub lines: Lines,
    /// Files that differ, in the order of their paths; binary ones count no
    /// lines.
    pub files: Vec<FileLines>,
}

/// What differs, as `git diff --no-renames --numstat` counts it: files that
/// move are deleted and added, with all their lines.
///
/// # Errors
/// When libgit2 cannot compare two files, as for want of memory.
pub fn changed(base: &Source, other: &Source) -> anyhow::Result<Changed> {
    let mut all = Changed::default();
    let gone = base.keys().filter(|path| !other.contains_key(*path));
    let mut paths: Vec<&String> = gone.chain(other.keys()).collect();
    paths.sort_unstable();
    for path in paths {
        let (old, new) = (base.get(path), other.get(path));
        if old == new {
            continue;
        }
        let text = |bytes: Option<&'_ Vec<u8>>| bytes.cloned().unwrap_or_default();
        let (added, deleted) =
            lines(&text(old), &text(new)).with_context(|| format!("comparing {path}"))?;
        all.lines.files = all.lines.files.saturating_add(1);
        all.lines.added = all.lines.added.saturating_add(added);
        all.lines.deleted = all.lines.deleted.saturating_add(deleted);
        all.files.push(FileLines {
            path: path.clone(),
            added,
            deleted,
        });
    }
    Ok(all)
}

/// Lines added and deleted.
fn lines(old: &[u8], new: &[u8]) -> Result<(u32, u32), git2::Error> {
    let mut options = DiffOptions::new();
    options.context_lines(0);
    // Of buffers, not of files: attributes of a repository would be obeyed.
    let patch = Patch::from_buffers(old, None, new, None, Some(&mut options))?;
    let (_, added, deleted) = patch.line_stats()?;
    let bounded = |lines: usize| u32::try_from(lines).unwrap_or(u32::MAX);
    Ok((bounded(added), bounded(deleted)))
}
