//! How much changes between two commits, in lines.

use std::borrow::Cow;
use std::ops::AddAssign;

use anyhow::Context;
use git2::{DiffOptions, Oid, Patch};
use serde::{Deserialize, Serialize};

use super::moves;
use crate::bounds;
use crate::facts::{Few, is_lfs_pointer};
use crate::files::{Class, class};
use crate::repository::{Difference, Repository};
use crate::watch::Stopped;

/// Lines and files that change.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    pub added: usize,
    pub deleted: usize,
    /// Files with another content or name; a file that moves is one.
    pub files: usize,
}

impl Change {
    /// Modified lines: those added and those deleted.
    #[must_use]
    pub fn modified(self) -> usize {
        self.added + self.deleted
    }
}

impl AddAssign for Change {
    fn add_assign(&mut self, other: Self) {
        self.added += other.added;
        self.deleted += other.deleted;
        self.files += other.files;
    }
}

/// What changes between a base and its target, by what files are for.
///
/// Counted between the two trees: what is changed back within the span counts
/// nothing. Files that move count the lines that change on the way, or renaming
/// a folder would rewrite a project; what moved is what shares half of its
/// lines with a file that is gone, as in `git diff --find-renames`. Ends of lines (CRLF, LF) are no
/// change. Binary files, pointers of Git LFS and submodules have no lines.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Changes {
    /// Python outside of tests.
    pub source: Change,
    pub tests: Change,
    pub other: Change,
    /// Files that were too long to compare, or too many; they count no lines.
    pub uncounted: Few,
}

impl Changes {
    #[must_use]
    pub fn total(&self) -> Change {
        let mut total = self.source;
        total += self.tests;
        total += self.other;
        total
    }

    fn of(&mut self, class: Class) -> &mut Change {
        match class {
            Class::Source => &mut self.source,
            Class::Tests => &mut self.tests,
            Class::Other => &mut self.other,
        }
    }
}

/// Files between two questions whether to go on.
const PACE: usize = 100;

/// What changes from one tree to another.
pub(super) fn between(
    repository: &Repository,
    old: Oid,
    new: Oid,
    still: &dyn Fn() -> Result<(), Stopped>,
) -> anyhow::Result<Changes> {
    let differences = moves::paired(repository, repository.differences(old, new)?)?;
    let mut changes = Changes::default();
    let mut left = bounds::COMPARED;
    for (at, difference) in differences.iter().enumerate() {
        if at % PACE == 0 {
            still()?;
        }
        let change = changes.of(class(&difference.path));
        change.files += 1;
        let lines = lines(repository, difference, &mut left);
        let path = || String::from_utf8_lossy(&difference.path).into_owned();
        match lines.with_context(|| format!("comparing {}", path()))? {
            Some((added, deleted)) => {
                change.added += added;
                change.deleted += deleted;
            }
            None => changes.uncounted.add(path),
        }
    }
    Ok(changes)
}

/// Lines added and deleted; none if they cannot be counted.
fn lines(
    repository: &Repository,
    difference: &Difference,
    left: &mut usize,
) -> anyhow::Result<Option<(usize, usize)>> {
    if difference.old == difference.new {
        return Ok(Some((0, 0)));
    }
    let mut read = |id: Option<Oid>| {
        let Some(id) = id else {
            return Ok(Some(Vec::new()));
        };
        let bytes = repository.blob(id, bounds::BLOB.min(*left))?;
        *left -= bytes.as_ref().map_or(0, Vec::len);
        anyhow::Ok(bytes)
    };
    let (Some(old), Some(new)) = (read(difference.old)?, read(difference.new)?) else {
        return Ok(None);
    };
    if has_no_lines(&old) || has_no_lines(&new) {
        return Ok(Some((0, 0)));
    }
    let (old, new) = (without_returns(&old), without_returns(&new));
    let counts = (count(&old), count(&new));
    if old.is_empty() || new.is_empty() {
        return Ok(Some((counts.1, counts.0)));
    }
    if counts.0.max(counts.1) > bounds::LINES {
        return Ok(None);
    }
    // Of buffers, not of files: attributes of the repository would be obeyed.
    let mut options = DiffOptions::new();
    options.context_lines(0).force_text(true);
    let patch = Patch::from_buffers(&old, None, &new, None, Some(&mut options))?;
    let (_, added, deleted) = patch.line_stats()?;
    Ok(Some((added, deleted)))
}

/// The bytes git looks at to tell whether a file is binary.
const LOOKED_AT: usize = 8_000;

pub(super) fn has_no_lines(bytes: &[u8]) -> bool {
    let start = &bytes[..bytes.len().min(LOOKED_AT)];
    start.contains(&0) || is_lfs_pointer(bytes)
}

fn without_returns(bytes: &[u8]) -> Cow<'_, [u8]> {
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

fn count(bytes: &[u8]) -> usize {
    let ends = bytes.iter().filter(|byte| **byte == b'\n').count();
    ends + usize::from(!bytes.is_empty() && !bytes.ends_with(b"\n"))
}
