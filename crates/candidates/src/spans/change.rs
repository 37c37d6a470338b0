//! Measures changes between two commits in lines.

use std::ops::AddAssign;

use anyhow::Context;
use serde::{Deserialize, Serialize};
use swe_ci_git::{Difference, ObjectId, Repository, changed_lines};

use super::lines::{count, has_no_lines, without_returns};
use super::moves;
use crate::bounds;
use crate::facts::PathSample;
use crate::files::{Class, class};
use crate::watch::Stopped;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    pub added: usize,
    pub deleted: usize,
    /// Files with different content or a different name; a moved file counts
    /// once.
    pub files: usize,
}

impl Change {
    /// Modified lines: added plus deleted.
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

/// Changes between a base and its target, by class of file.
///
/// The two trees are compared, so a change that is reverted within the span
/// does not count. A moved file counts only the lines changed on the way;
/// otherwise renaming a folder would rewrite a project. A file counts as moved
/// if it shares half of its lines with a deleted file, as in `git diff
/// --find-renames`. Line ends (CRLF, LF) are ignored. Binary files, Git LFS
/// pointers and submodules have no lines.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Changes {
    /// Python outside of tests.
    pub source: Change,
    pub tests: Change,
    pub other: Change,
    /// Files too long to compare, or beyond the budget; they count no lines.
    pub uncounted: PathSample,
}

impl Changes {
    pub fn total(&self) -> Change {
        let mut total = self.source;
        total += self.tests;
        total += self.other;
        total
    }

    fn class_mut(&mut self, class: Class) -> &mut Change {
        match class {
            Class::Source => &mut self.source,
            Class::Tests => &mut self.tests,
            Class::Other => &mut self.other,
        }
    }
}

/// Files between two checks whether to continue.
const CHECK_INTERVAL: usize = 100;

pub(super) fn between(
    repository: &Repository,
    old: ObjectId,
    new: ObjectId,
    check_stop: &dyn Fn() -> Result<(), Stopped>,
) -> anyhow::Result<Changes> {
    let differences = moves::with_moves(repository, repository.differences(old, new)?)?;
    let mut changes = Changes::default();
    let mut left = bounds::COMPARED;
    for (at, difference) in differences.iter().enumerate() {
        if at % CHECK_INTERVAL == 0 {
            check_stop()?;
        }
        let change = changes.class_mut(class(&difference.path));
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

/// Lines added and deleted; none if the file is too long.
fn lines(
    repository: &Repository,
    difference: &Difference,
    left: &mut usize,
) -> anyhow::Result<Option<(usize, usize)>> {
    if difference.old == difference.new {
        return Ok(Some((0, 0)));
    }
    let mut read = |id: Option<ObjectId>| {
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
    let (added, deleted) = changed_lines(&old, &new);
    Ok(Some((added as usize, deleted as usize)))
}
