//! Files that move: deleted in one place and added in another.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use git2::Oid;

use super::change::has_no_lines;
use crate::bounds;
use crate::repository::{Difference, Repository};

/// A line in more files than that says nothing about which of them it is from:
/// it is of a licence, or `import os`.
const COMMON: usize = 20;
/// The files that share the most with another, of which one may be it.
const CANDIDATES: usize = 5;

/// The same differences with each file that moved as one, at its new path.
/// First those with the same content; then those that share half of their
/// lines at least, the most alike first, as git tells renames.
pub(super) fn paired(
    repository: &Repository,
    differences: Vec<Difference>,
) -> anyhow::Result<Vec<Difference>> {
    let mut kept = Vec::new();
    let (mut deleted, mut added) = (Vec::new(), Vec::new());
    for difference in differences {
        match (difference.old, difference.new) {
            (Some(id), None) => deleted.push(Some((difference.path, id))),
            (None, Some(id)) => added.push(Some((difference.path, id))),
            _ => kept.push(difference),
        }
    }
    let mut pairs = same_content(&deleted, &added);
    take(&pairs, &mut deleted, &mut added, &mut kept);
    pairs = alike(&of_lines(repository, &deleted, &added)?);
    take(&pairs, &mut deleted, &mut added, &mut kept);
    let one_sided = |(path, id), is_new: bool| Difference {
        path,
        old: (!is_new).then_some(id),
        new: is_new.then_some(id),
    };
    kept.extend(deleted.into_iter().flatten().map(|f| one_sided(f, false)));
    kept.extend(added.into_iter().flatten().map(|f| one_sided(f, true)));
    Ok(kept)
}

/// Files with their places; none where one is taken.
type Side = Vec<Option<(Vec<u8>, Oid)>>;
/// Places among the deleted and the added.
type Pair = (usize, usize);

fn take(pairs: &[Pair], deleted: &mut Side, added: &mut Side, kept: &mut Vec<Difference>) {
    for (old, new) in pairs {
        let (old, new) = (&mut deleted[*old], &mut added[*new]);
        // A pair before it may have one of them.
        if let (Some((_, from)), Some((path, to))) = (&*old, &*new) {
            kept.push(Difference {
                path: path.clone(),
                old: Some(*from),
                new: Some(*to),
            });
            (*old, *new) = (None, None);
        }
    }
}

fn same_content(deleted: &Side, added: &Side) -> Vec<Pair> {
    let mut places: HashMap<Oid, Vec<usize>> = HashMap::new();
    for (at, file) in deleted.iter().enumerate() {
        let Some((_, id)) = file else { continue };
        places.entry(*id).or_default().push(at);
    }
    let pair = |(new, file): (usize, &Option<(Vec<u8>, Oid)>)| {
        let old = places.get_mut(&file.as_ref()?.1)?.pop()?;
        Some((old, new))
    };
    added.iter().enumerate().filter_map(pair).collect()
}

/// Hashes of the lines of a file that are not blank, sorted, each once; none
/// of what is not compared.
type Lines = Vec<u64>;

fn of_lines(
    repository: &Repository,
    deleted: &Side,
    added: &Side,
) -> anyhow::Result<[Vec<Lines>; 2]> {
    let mut left = bounds::MOVED;
    let mut read = |file: &Option<(Vec<u8>, Oid)>| {
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

/// Which of the added files were which of the deleted.
fn alike([old, new]: &[Vec<Lines>; 2]) -> Vec<Pair> {
    let mut files_with: HashMap<u64, Vec<usize>> = HashMap::new();
    for (at, lines) in old.iter().enumerate() {
        for line in lines {
            let files = files_with.entry(*line).or_default();
            // One more than matter is enough to know that it is common.
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
                // In thousandths, so that they have an order.
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
    fn which_was_which() {
        let check = |old: &[&str], new: &[&str], expect: &[Pair]| {
            let side = |texts: &[&str]| texts.iter().map(|t| hashes(t.as_bytes())).collect();
            let mut found = alike(&[side(old), side(new)]);
            // As taking them does: each file once.
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
        // A line that all have leads to none of them, what is theirs does.
        let many: Vec<String> = (0..30).map(|n| format!("licence\nown {n}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        check(&many, &["licence\nown 7", "licence\nmine"], &[(7, 0)]);
    }
}
