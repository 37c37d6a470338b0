//! Finds moved files: deleted in one place and added in another.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use swe_ci_git::{Difference, ObjectId, Repository};

use super::lines::has_no_lines;
use crate::bounds;

/// A line in more files than this does not identify one of them: it is from a
/// licence, or `import os`.
const COMMON: usize = 20;
/// Maximum number of candidates compared with each added file.
const CANDIDATES: usize = 5;

/// Replaces the two differences of each moved file by one at its new path.
/// Pairs files with equal content first, then files that share at least half of
/// their lines, the most similar first, as git detects renames.
pub(super) fn with_moves(
    repository: &Repository,
    differences: Vec<Difference>,
) -> anyhow::Result<Vec<Difference>> {
    let mut result = Vec::new();
    let (mut deleted, mut added) = (Vec::new(), Vec::new());
    for difference in differences {
        match (difference.old, difference.new) {
            (Some(id), None) => deleted.push(Some((difference.path, id))),
            (None, Some(id)) => added.push(Some((difference.path, id))),
            _ => result.push(difference),
        }
    }
    let mut pairs = same_content(&deleted, &added);
    pair_up(&pairs, &mut deleted, &mut added, &mut result);
    pairs = alike(&line_hashes(repository, &deleted, &added)?);
    pair_up(&pairs, &mut deleted, &mut added, &mut result);
    let one_sided = |(path, id), is_new: bool| Difference {
        path,
        old: (!is_new).then_some(id),
        new: is_new.then_some(id),
    };
    result.extend(deleted.into_iter().flatten().map(|f| one_sided(f, false)));
    result.extend(added.into_iter().flatten().map(|f| one_sided(f, true)));
    Ok(result)
}

/// Files by index; none once a file is paired.
type Side = Vec<Option<(Vec<u8>, ObjectId)>>;
/// Indices among the deleted and the added files.
type Pair = (usize, usize);

fn pair_up(pairs: &[Pair], deleted: &mut Side, added: &mut Side, result: &mut Vec<Difference>) {
    for (old, new) in pairs {
        let (old, new) = (&mut deleted[*old], &mut added[*new]);
        // An earlier pair may have used one of them.
        if let (Some((_, from)), Some((path, to))) = (&*old, &*new) {
            result.push(Difference {
                path: path.clone(),
                old: Some(*from),
                new: Some(*to),
            });
            (*old, *new) = (None, None);
        }
    }
}

fn same_content(deleted: &Side, added: &Side) -> Vec<Pair> {
    let mut places: HashMap<ObjectId, Vec<usize>> = HashMap::new();
    for (at, file) in deleted.iter().enumerate() {
        let Some((_, id)) = file else { continue };
        places.entry(*id).or_default().push(at);
    }
    let pair = |(new, file): (usize, &Option<(Vec<u8>, ObjectId)>)| {
        let old = places.get_mut(&file.as_ref()?.1)?.pop()?;
        Some((old, new))
    };
    added.iter().enumerate().filter_map(pair).collect()
}

/// Sorted distinct hashes of the non-blank lines of a file; empty for a file
/// that is not compared.
type Lines = Vec<u64>;

fn line_hashes(
    repository: &Repository,
    deleted: &Side,
    added: &Side,
) -> anyhow::Result<[Vec<Lines>; 2]> {
    let mut left = bounds::MOVED;
    let mut read = |file: &Option<(Vec<u8>, ObjectId)>| {
        let Some((_, id)) = file else {
            return Ok(Lines::new());
        };
        let bytes = repository.blob(*id, left)?.unwrap_or_default();
        left -= bytes.len();
        anyhow::Ok(hashes(&bytes))
    };
    let has_both = deleted.iter().any(Option::is_some) && added.iter().any(Option::is_some);
    let sides = if has_both {
        [deleted, added]
    } else {
        [&Vec::new(), &Vec::new()]
    };
    let [old, new] = sides.map(|side| side.iter().map(&mut read).collect::<Result<_, _>>());
    Ok([old?, new?])
}

fn hashes(bytes: &[u8]) -> Lines {
    if has_no_lines(bytes) {
        return Lines::new();
    }
    let lines = bytes
        .split(|byte| *byte == b'\n')
        .map(<[u8]>::trim_ascii_end);
    let hash = |line: &[u8]| {
        let mut hasher = DefaultHasher::new();
        line.hash(&mut hasher);
        hasher.finish()
    };
    let mut lines: Lines = lines.filter(|line| !line.is_empty()).map(hash).collect();
    lines.sort_unstable();
    lines.dedup();
    lines
}

/// Pairs deleted files with similar added files, the most similar first.
fn alike([old, new]: &[Vec<Lines>; 2]) -> Vec<Pair> {
    let mut files_with: HashMap<u64, Vec<usize>> = HashMap::new();
    for (at, lines) in old.iter().enumerate() {
        for line in lines {
            let files = files_with.entry(*line).or_default();
            // One entry beyond the limit marks the line as common.
            if files.len() <= COMMON {
                files.push(at);
            }
        }
    }
    let mut found = Vec::new();
    for (at, lines) in new.iter().enumerate() {
        for candidate in candidates(lines, &files_with) {
            let same = shared(&old[candidate], lines);
            let most = old[candidate].len().max(lines.len());
            if same * 2 >= most {
                // In thousandths, which are sortable.
                found.push((std::cmp::Reverse(same * 1_000 / most), candidate, at));
            }
        }
    }
    found.sort_unstable();
    found.into_iter().map(|(_, old, new)| (old, new)).collect()
}

fn candidates(lines: &Lines, files_with: &HashMap<u64, Vec<usize>>) -> Vec<usize> {
    let mut counts: HashMap<usize, usize> = HashMap::new();
    let files = lines.iter().filter_map(|line| files_with.get(line));
    for file in files.filter(|files| files.len() <= COMMON).flatten() {
        *counts.entry(*file).or_default() += 1;
    }
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_unstable_by_key(|(file, count)| (std::cmp::Reverse(*count), *file));
    counts.truncate(CANDIDATES);
    counts.into_iter().map(|(file, _)| file).collect()
}

fn shared(a: &Lines, b: &Lines) -> usize {
    let (shorter, longer) = if a.len() < b.len() { (a, b) } else { (b, a) };
    let both = |line: &&u64| longer.binary_search(line).is_ok();
    shorter.iter().filter(both).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moved_files_are_paired() {
        let check = |old: &[&str], new: &[&str], expect: &[Pair]| {
            let side = |texts: &[&str]| texts.iter().map(|t| hashes(t.as_bytes())).collect();
            let mut found = alike(&[side(old), side(new)]);
            // Use each file once, as `pair_up` does.
            let (mut olds, mut news) = (Vec::new(), Vec::new());
            found.retain(|(old, new)| {
                let free = !olds.contains(old) && !news.contains(new);
                olds.push(*old);
                news.push(*new);
                free
            });
            found.sort_unstable();
            assert_eq!(found, expect, "{old:?} {new:?}");
        };
        check(&[], &[], &[]);
        check(&["a\nb\nc"], &["a\nb\nx"], &[(0, 0)]);
        check(&["a\nb\nc"], &["a\nx\ny"], &[]);
        check(&["a\r\nb\r\n"], &["a\n\n\nb"], &[(0, 0)]);
        check(
            &["a\nb\nc", "a\nb\nd"],
            &["a\nb\nd\ne", "a\nb\nc\ne"],
            &[(0, 1), (1, 0)],
        );
        check(&["", "a"], &["", "a"], &[(1, 1)]);
        check(&["a\nb", "a\nb\nc\nd"], &["a\nb\nc\ne"], &[(1, 0)]);
        check(&["a\0\nb"], &["a\0\nb"], &[]);
        // A line common to all files identifies none; distinct lines do.
        let many: Vec<String> = (0..30).map(|n| format!("licence\nown {n}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        check(&many, &["licence\nown 7", "licence\nmine"], &[(7, 0)]);
    }
}
