//! The files that an evolution's versions change, counted.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Instant;

use similar::{ChangeTag, TextDiff};
use swe_ci_base::code::{CodeTree, Entry};
use swe_ci_views::trajectories::ChangedFile;

use super::{LONGEST_TEXT, PATIENCE, content, count, pairs, text};

/// The most files of one change.
const MOST_FILES: usize = 500;

/// The contents that files had, over the versions of an evolution.
#[derive(Debug, Default)]
pub struct FileHistory {
    /// By path, the hashes of the contents before the present one.
    earlier: HashMap<String, HashSet<Option<u64>>>,
}

impl FileHistory {
    /// The files that differ between two versions. `is_kept` says whether the
    /// later versions build on the second one.
    pub fn changes(
        &mut self,
        before: &CodeTree,
        after: &CodeTree,
        is_kept: bool,
    ) -> Vec<ChangedFile> {
        let deadline = Instant::now() + PATIENCE;
        let (old, new): (Vec<_>, Vec<_>) = (before.iter().collect(), after.iter().collect());
        let changed = pairs(&old, &new).into_iter();
        let changed = changed.filter(|(_, before, after)| before != after);
        let counted = changed.take(MOST_FILES).map(|(path, before, after)| {
            let (added, removed) = lines(before, after, deadline);
            let earlier = self.earlier.entry(path.to_owned()).or_default();
            let back = earlier.contains(&after.map(hash));
            if is_kept {
                earlier.insert(before.map(hash));
            }
            ChangedFile {
                path: path.to_owned(),
                added,
                removed,
                back,
            }
        });
        counted.collect()
    }
}

/// Lines added and removed; 0 for what is no text or too long.
fn lines(before: Option<&Entry>, after: Option<&Entry>, deadline: Instant) -> (u32, u32) {
    let (old, new) = (content(before), content(after));
    if old.len().max(new.len()) > LONGEST_TEXT {
        return (0, 0);
    }
    let (Some(old), Some(new)) = (text(old), text(new)) else {
        return (0, 0);
    };
    let mut how = TextDiff::configure();
    let diff = how.deadline(deadline).diff_lines(old, new);
    (
        count(&diff, ChangeTag::Insert),
        count(&diff, ChangeTag::Delete),
    )
}

fn hash(entry: &Entry) -> u64 {
    let mut hasher = DefaultHasher::new();
    content(Some(entry)).hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(files: &[(&str, &str)]) -> CodeTree {
        let mut code = CodeTree::default();
        for (path, text) in files {
            code.insert_file(path, *text);
        }
        code
    }

    fn shown(files: &[ChangedFile]) -> Vec<String> {
        let shown = |file: &ChangedFile| {
            let back = if file.back { " back" } else { "" };
            format!("{} +{} -{}{back}", file.path, file.added, file.removed)
        };
        files.iter().map(shown).collect()
    }

    #[test]
    fn files_that_come_back() {
        let base = code(&[("a.py", "1\n2\n"), ("b.py", "x\n")]);
        let changed = code(&[("a.py", "1\n3\n4\n"), ("b.py", "x\n"), ("c.py", "new\n")]);
        let collapsed = code(&[("a.py", "1\n2\n"), ("b.py", "broken\n")]);
        let undone = code(&[("a.py", "1\n2\n"), ("b.py", "x\n")]);
        let broken_again = code(&[("a.py", "1\n2\n"), ("b.py", "broken\n")]);
        let mut history = FileHistory::default();
        let first = history.changes(&base, &changed, true);
        assert_eq!(shown(&first), ["a.py +2 -1", "c.py +1 -0"]);
        // Later versions do not build on this one.
        let second = history.changes(&changed, &collapsed, false);
        assert_eq!(
            shown(&second),
            ["a.py +1 -2 back", "b.py +1 -1", "c.py +0 -1 back"]
        );
        let third = history.changes(&changed, &undone, true);
        assert_eq!(shown(&third), ["a.py +1 -2 back", "c.py +0 -1 back"]);
        let fourth = history.changes(&undone, &broken_again, true);
        assert_eq!(shown(&fourth), ["b.py +1 -1"]);
    }
}
