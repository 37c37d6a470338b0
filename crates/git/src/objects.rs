//! Parses commits and trees. Anybody may have written them: malformed bytes give
//! `None`.

use crate::object_id::ObjectId;

/// The parts of a commit that are read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitObject {
    /// The tree with its files.
    pub tree: ObjectId,
    pub parents: Vec<ObjectId>,
    /// The committer's time, in Unix seconds; 0 if git could not read it either.
    pub time: i64,
    /// In any encoding.
    pub message: Vec<u8>,
}

/// The kind of a tree's entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    File {
        executable: bool,
    },
    Link,
    Folder,
    /// A commit of another repository.
    Submodule,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TreeEntry<'t> {
    pub(crate) name: &'t [u8],
    pub(crate) id: ObjectId,
    pub(crate) kind: EntryKind,
}

pub(crate) fn commit(bytes: &[u8]) -> Option<CommitObject> {
    let mut rest = bytes;
    let tree = id(line(&mut rest).strip_prefix(b"tree ")?)?;
    let (mut parents, mut time) = (Vec::new(), None);
    loop {
        let line = line(&mut rest);
        if let Some(parent) = line.strip_prefix(b"parent ") {
            parents.push(id(parent)?);
        } else if let Some(committer) = line.strip_prefix(b"committer ") {
            time = time.or(Some(seconds(committer).unwrap_or_default()));
        } else if line.is_empty() {
            break;
        }
    }
    Some(CommitObject {
        tree,
        parents,
        time: time?,
        message: rest.to_vec(),
    })
}

/// Takes the first entry of the rest of a tree. `like` is an id of the same
/// repository.
pub(crate) fn next_entry<'t>(rest: &mut &'t [u8], like: ObjectId) -> Option<TreeEntry<'t>> {
    let text: &'t [u8] = rest;
    let (mode, after) = split_at(text, b' ')?;
    let (name, after) = split_at(after, 0)?;
    let (id, after) = after.split_at_checked(like.as_bytes().len())?;
    if name.is_empty() || name.contains(&b'/') {
        return None;
    }
    let entry = TreeEntry {
        name,
        id: ObjectId::from_bytes(id)?,
        kind: kind(mode)?,
    };
    *rest = after;
    Some(entry)
}

fn kind(mode: &[u8]) -> Option<EntryKind> {
    let mode = u32::from_str_radix(str::from_utf8(mode).ok()?, 8).ok()?;
    Some(match mode & 0o170_000 {
        0o040_000 => EntryKind::Folder,
        0o120_000 => EntryKind::Link,
        0o160_000 => EntryKind::Submodule,
        _ => EntryKind::File {
            executable: mode & 0o100 != 0,
        },
    })
}

/// The time of `Name <address> 1600000000 +0200`.
fn seconds(person: &[u8]) -> Option<i64> {
    let after = person.rsplit(|byte| *byte == b'>').next()?;
    let time = str::from_utf8(after).ok()?.split_whitespace().next()?;
    time.parse().ok()
}

fn id(digits: &[u8]) -> Option<ObjectId> {
    str::from_utf8(digits).ok()?.parse().ok()
}

/// Takes the first line of the rest, without its end.
fn line<'t>(rest: &mut &'t [u8]) -> &'t [u8] {
    let text: &'t [u8] = rest;
    let (line, after) = split_at(text, b'\n').unwrap_or((text, &[]));
    *rest = after;
    line
}

/// The bytes before and after a separator.
fn split_at(bytes: &[u8], separator: u8) -> Option<(&[u8], &[u8])> {
    let at = bytes.iter().position(|byte| *byte == separator)?;
    Some((&bytes[..at], &bytes[at + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: &str = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
    const B: &str = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb";

    #[test]
    fn commits_are_parsed() {
        let check = |text: &str, expect: Option<(usize, i64, &str)>| {
            let found = commit(text.as_bytes());
            let found = found.map(|found| {
                assert_eq!(found.tree.to_string(), A, "{text}");
                let message = String::from_utf8(found.message).unwrap();
                (found.parents.len(), found.time, message)
            });
            let expect = expect.map(|(parents, time, text)| (parents, time, text.to_owned()));
            assert_eq!(found, expect, "{text}");
        };
        let author = "author A <a@b> 1 +0000\n";
        let at = |time: &str| format!("tree {A}\n{author}committer A <a@b>{time}\n\nm\n");
        check(&at(" 5 +0000"), Some((0, 5, "m\n")));
        check(&at(" -5 -0130"), Some((0, -5, "m\n")));
        check(&at(" 5"), Some((0, 5, "m\n")));
        for time in [
            "",
            " ",
            " x +0000",
            " 99999999999999999999 +0000",
            " 1\u{e9}",
        ] {
            check(&at(time), Some((0, 0, "m\n")));
        }
        let c = "committer A > <a@b> 7 +0000\n";
        let parents = format!("parent {B}\nparent {A}\n");
        let more = "gpgsig -----BEGIN\n committer B <> 9 +0000\n \n -----END\nencoding x\n";
        let whole = format!("tree {A}\n{parents}{author}{c}{more}\n\n\nfirst\n\nrest");
        check(&whole, Some((2, 7, "\n\nfirst\n\nrest")));
        check(&format!("tree {A}\n{c}{c}"), Some((0, 7, "")));
        check(&format!("tree {A}\n{c}\n"), Some((0, 7, "")));
        check(&format!("tree {A}\n{}", c.trim_end()), Some((0, 7, "")));
        for broken in [
            String::new(),
            "\n".into(),
            format!("tree {A}"),
            format!("tree {A}\n{author}\nm"),
            format!("tree {}\n{c}\nm", &A[1..]),
            format!("tree  {A}\n{c}\nm"),
            format!("tree {A}\nparent x\n{c}\nm"),
            format!("{author}{c}tree {A}\n\nm"),
        ] {
            check(&broken, None);
        }
    }

    #[test]
    fn trees_are_parsed() {
        let (sha1, sha256) = (ObjectId::Sha1([7; 20]), ObjectId::Sha256([7; 32]));
        let check = |head: &[u8], expect: Option<(&[u8], EntryKind)>| {
            for id in [sha1, sha256] {
                let tree = [head, id.as_bytes(), b"more"].concat();
                let mut rest = tree.as_slice();
                let found = next_entry(&mut rest, id);
                assert_eq!(found.map(|e| (e.name, e.kind)), expect, "{head:?}");
                let left = if expect.is_some() { b"more" } else { &*tree };
                assert_eq!(rest, left);
                assert!(found.is_none_or(|entry| entry.id == id));
            }
        };
        let plain = EntryKind::File { executable: false };
        let executable = EntryKind::File { executable: true };
        check(b"100644 a.py\0", Some((b"a.py", plain)));
        check(b"100664 a b\0", Some((b"a b", plain)));
        check(b"100755 \xff\n\0", Some((b"\xff\n", executable)));
        check(b"0 a\0", Some((b"a", plain)));
        check(b"120000 a\0", Some((b"a", EntryKind::Link)));
        check(b"40000 a\0", Some((b"a", EntryKind::Folder)));
        check(b"040000 a\0", Some((b"a", EntryKind::Folder)));
        check(b"160000 a\0", Some((b"a", EntryKind::Submodule)));
        for broken in [
            &b"100644 \0"[..],
            b"100644 a/b\0",
            b"100648 a\0",
            b" a\0",
            b"777777777777 a\0",
            b"\xff a\0",
            b"100644\0",
        ] {
            check(broken, None);
        }
        for short in [&b""[..], b"100644", b"100644 a", b"100644 a\0short"] {
            assert_eq!(next_entry(&mut &*short, sha1), None);
        }
    }
}
