//! Changed lines, compared with git's own counts.

use std::fs;
use std::path::Path;
use std::process::Command;

use swe_ci_measure::{Changed, Source, changed};
use swe_ci_views::preparation::Lines;
use swe_ci_views::style::FileLines;

use crate::tools::run;

fn git(folder: &Path, arguments: &[&str]) -> String {
    let mut git = Command::new("git");
    git.arg("-C")
        .arg(folder)
        .args(["-c", "user.name=t", "-c", "user.email=t@localhost"]);
    git.args(["-c", "core.autocrlf=false", "-c", "commit.gpgsign=false"]);
    git.env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null");
    String::from_utf8(run(git.args(arguments)).unwrap()).unwrap()
}

fn commit(folder: &Path, source: &Source) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if !path.ends_with(".git") {
            fs::remove_file(path).unwrap();
        }
    }
    for (path, bytes) in source {
        fs::write(folder.join(path), bytes).unwrap();
    }
    git(folder, &["add", "-A"]);
    git(folder, &["commit", "-q", "--allow-empty", "-m", "x"]);
}

/// The output of `git diff --numstat`; binary files count no lines.
fn numstat_by_git(base: &Source, other: &Source) -> Vec<FileLines> {
    let folder = tempfile::tempdir().unwrap();
    git(folder.path(), &["init", "-q"]);
    commit(folder.path(), base);
    commit(folder.path(), other);
    let numstat = git(
        folder.path(),
        &["diff", "--no-renames", "--numstat", "HEAD~1", "HEAD"],
    );
    let line = |line: &str| {
        let mut parts = line.split('\t');
        let mut lines = || parts.next().unwrap().parse().unwrap_or(0);
        let (added, deleted) = (lines(), lines());
        let path = parts.next().unwrap().to_owned();
        FileLines {
            path,
            added,
            deleted,
        }
    };
    numstat.lines().map(line).collect()
}

fn numbered(numbers: impl Iterator<Item = usize>) -> Vec<u8> {
    numbers
        .map(|n| format!("line {n}\n"))
        .collect::<String>()
        .into()
}

/// Pseudo-random lines, with repetitions and moved blocks.
fn scrambled(seed: u64) -> Vec<u8> {
    let mut state = seed;
    let mut next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        usize::try_from(state >> 33).unwrap()
    };
    numbered((0..400).map(|n| if next() % 3 == 0 { next() % 20 } else { n }))
}

/// A file's name, and its content in both versions.
type Pair = (&'static str, Option<Vec<u8>>, Option<Vec<u8>>);

#[test]
fn lines_are_counted_as_by_git() {
    let pairs: Vec<Pair> = vec![
        (
            "same.py",
            Some(b"a\nb\n".to_vec()),
            Some(b"a\nb\n".to_vec()),
        ),
        ("added.py", None, Some(b"a\nb\nc\n".to_vec())),
        ("added_unended.py", None, Some(b"a\nb".to_vec())),
        ("added_empty.py", None, Some(Vec::new())),
        ("deleted.py", Some(b"a\n\n\n".to_vec()), None),
        ("deleted_empty.py", Some(Vec::new()), None),
        ("emptied.py", Some(b"a\nb\n".to_vec()), Some(Vec::new())),
        ("filled.py", Some(Vec::new()), Some(b"a\r\nb\r\n".to_vec())),
        (
            "crlf.py",
            Some(b"a\nb\nc\n".to_vec()),
            Some(b"a\r\nb\r\nc\n".to_vec()),
        ),
        (
            "returns.py",
            Some(b"a\rb\rc".to_vec()),
            Some(b"a\rb\rd".to_vec()),
        ),
        (
            "unended.py",
            Some(b"a\nb\n".to_vec()),
            Some(b"a\nb".to_vec()),
        ),
        ("ended.py", Some(b"a\nb".to_vec()), Some(b"a\nb\n".to_vec())),
        (
            "latin.py",
            Some(b"a\n\xe9\n\xff\n".to_vec()),
            Some(b"a\n\xe8\n\xff\nb\n".to_vec()),
        ),
        (
            "binary.py",
            Some(b"a\n\0\nb\n".to_vec()),
            Some(b"a\n\0\nc\nd\n".to_vec()),
        ),
        ("binary_added.py", None, Some(b"\0\n\0\n".to_vec())),
        ("binary_deleted.py", Some(b"a\0\n".to_vec()), None),
        (
            "blank.py",
            Some(b"a\n  \nb\n".to_vec()),
            Some(b"a\n\nb\n".to_vec()),
        ),
        (
            "moved.py",
            Some(numbered(0..100)),
            Some(numbered((50..100).chain(0..50))),
        ),
        (
            "doubled.py",
            Some(numbered(0..30)),
            Some(numbered((0..30).chain(0..30))),
        ),
        ("scrambled.py", Some(scrambled(1)), Some(scrambled(2))),
        ("scrambled2.py", Some(scrambled(3)), Some(scrambled(4))),
        ("renamed_from.py", Some(numbered(0..9)), None),
        ("renamed_to.py", None, Some(numbered(0..9))),
        (
            "late_null.py",
            Some([numbered(0..2_000), b"\0\n".to_vec()].concat()),
            Some(numbered(0..2_000)),
        ),
    ];
    let of = |part: fn(&Pair) -> Option<Vec<u8>>| -> Source {
        let files = pairs.iter();
        files
            .filter_map(|pair| Some((pair.0.to_owned(), part(pair)?)))
            .collect()
    };
    let (base, other) = (of(|pair| pair.1.clone()), of(|pair| pair.2.clone()));
    let check = |base: &Source, other: &Source| {
        let actual = changed(base, other);
        let expect = numstat_by_git(base, other);
        assert_eq!(actual.files, expect);
        let sum = |lines: fn(&FileLines) -> u32| expect.iter().map(lines).sum();
        let lines = Lines {
            files: u32::try_from(expect.len()).unwrap(),
            added: sum(|file| file.added),
            deleted: sum(|file| file.deleted),
        };
        assert_eq!(actual.lines, lines);
    };
    check(&base, &other);
    check(&other, &base);
    assert_eq!(changed(&base, &base), Changed::default());
}
