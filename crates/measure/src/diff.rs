//! Changed lines between two versions of the source.

use anyhow::Context;
use git2::{DiffOptions, Patch};
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
///
/// # Errors
/// When libgit2 cannot compare two files, for example because memory runs out.
pub fn changed(base: &Source, other: &Source) -> anyhow::Result<Changed> {
    let mut total = Changed::default();
    let removed = base.keys().filter(|path| !other.contains_key(*path));
    let mut paths: Vec<&String> = removed.chain(other.keys()).collect();
    paths.sort_unstable();
    for path in paths {
        let (old, new) = (base.get(path), other.get(path));
        if old == new {
            continue;
        }
        let text = |bytes: Option<&'_ Vec<u8>>| bytes.cloned().unwrap_or_default();
        let (added, deleted) =
            lines(&text(old), &text(new)).with_context(|| format!("comparing {path}"))?;
        total.lines.files = total.lines.files.saturating_add(1);
        total.lines.added = total.lines.added.saturating_add(added);
        total.lines.deleted = total.lines.deleted.saturating_add(deleted);
        total.files.push(FileLines {
            path: path.clone(),
            added,
            deleted,
        });
    }
    Ok(total)
}

fn lines(old: &[u8], new: &[u8]) -> Result<(u32, u32), git2::Error> {
    let mut options = DiffOptions::new();
    options.context_lines(0);
    // Buffers instead of files: libgit2 would obey a repository's attributes.
    let patch = Patch::from_buffers(old, None, new, None, Some(&mut options))?;
    let (_, added, deleted) = patch.line_stats()?;
    let bounded = |lines: usize| u32::try_from(lines).unwrap_or(u32::MAX);
    Ok((bounded(added), bounded(deleted)))
}
