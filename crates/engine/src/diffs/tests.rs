//! Tests of diffs: kinds of changes, marked words, limits, and the cache.

use std::path::Path;

use super::*;

fn tree(files: &[(&str, &[u8])]) -> CodeTree {
    let mut tree = CodeTree::default();
    for (path, bytes) in files {
        tree.insert_file(path, *bytes);
    }
    tree
}

#[test]
fn a_file_for_each_kind_of_change() {
    let before = tree(&[
        ("gone.py", b"a\n"),
        ("image.png", b"\x89PNG\0\x01"),
        ("kept.py", b"same\n"),
        ("latin.txt", b"caf\xe9"),
        ("text.py", b"1\n2\n3\n4\n5\n6\n7\n8\n9\n"),
    ]);
    let mut after = tree(&[
        ("image.png", b"\x89PNG\0\x02"),
        ("kept.py", b"same\n"),
        ("latin.txt", b"caf\xe8"),
        ("new/a.py", b"b"),
        ("text.py", b"1\n2\n3\n4\nfive\n6\n7\n8\n9\n"),
    ]);
    let link = Entry::Symlink {
        target: "text.py".into(),
    };
    assert!(after.insert(Path::new("link"), link).unwrap());
    let found = diff(&before, &after);
    let files: Vec<(&str, FileChange, (u32, u32))> = found
        .files
        .iter()
        .map(|f| (f.path.as_str(), f.change, (f.added, f.removed)))
        .collect();
    use FileChange::{Added, Modified, Removed};
    let expect = [
        ("gone.py", Removed, (0, 1)),
        ("image.png", Modified, (0, 0)),
        ("latin.txt", Modified, (0, 0)),
        ("link", Added, (1, 0)),
        ("new/a.py", Added, (1, 0)),
        ("text.py", Modified, (1, 1)),
    ];
    assert_eq!(files, expect);
    assert_eq!(found.files[1].body, Body::Binary);
    assert_eq!(found.files[2].body, Body::Binary);
    let text = "@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n";
    assert_eq!(found.files[5].body, Body::Text(text.into()));
    let unended = "@@ -0,0 +1 @@\n+b\n\\ No newline at end of file\n";
    assert_eq!(found.files[4].body, Body::Text(unended.into()));
    assert_eq!(diff(&before, &before), Diff::default());
}

#[test]
fn words_within_lines() {
    let check = |old: &str, new: &str, expect: &[&str]| {
        let found = diff(
            &tree(&[("a.py", old.as_bytes())]),
            &tree(&[("a.py", new.as_bytes())]),
        );
        let file = &found.files[0];
        let Body::Text(text) = &file.body else {
            panic!("it is text")
        };
        let word = |(from, to): &(u32, u32)| &text[*from as usize..*to as usize];
        let words: Vec<&str> = file.words.iter().map(word).collect();
        assert_eq!(words, expect, "{text}");
    };
    check(
        "a\ndef one(a, b):\nc\n",
        "a\ndef one(a, c):\nc\n",
        &["b", "c"],
    );
    check("x = café\n", "x = tee", &["café", "tee"]);
    // These lines have nothing in common.
    check("one\n", "zwei drei vier\n", &[]);
    check("", "new\n", &[]);
    // Further down, after a hunk and lines with unusual ends.
    let (old, new) = ("k1 = 1\n", "k1 = 2\n");
    let between = "same\r\n".repeat(20);
    check(
        &format!("{old}{between}x y z 1"),
        &format!("{new}{between}x y z 2"),
        &["1", "2", "1", "2"],
    );
}

#[test]
fn colours_of_what_a_page_shows() {
    let long = "x = 1\n".repeat(MOST_COLOURED / 7 - 19);
    let after = tree(&[
        ("a.py", b"def f(): pass\n"),
        ("b.py", long.as_bytes()),
        ("c.py", long.as_bytes()),
        ("d.rs", b"def f(): pass\n"),
        ("e.py", b"def f(): pass\n"),
    ]);
    let found = diff(&CodeTree::default(), &after);
    let counts: Vec<usize> = found.files.iter().map(|file| file.tokens.len()).collect();
    assert_eq!(counts, [3, long.lines().count(), 0, 0, 3]);

    // One line in each of many long files: their hunks are short.
    let rest = "#\n".repeat(100_000);
    let files: Vec<(String, String)> = (0..30)
        .map(|i| (format!("{i:02}.py"), format!("x = {i}\n{rest}")))
        .collect();
    let side = |of: fn(&(String, String)) -> String| {
        let mut tree = CodeTree::default();
        for file in &files {
            tree.insert_file(&file.0, of(file));
        }
        tree
    };
    let found = diff(
        &side(|(_, text)| text.clone()),
        &side(|(_, text)| text.replacen('x', "y", 1)),
    );
    let coloured = |file: &&FileDiff| !file.tokens.is_empty();
    let most = MOST_SCANNED / (2 * files[29].1.len());
    assert_eq!(found.files.iter().filter(coloured).count(), most);
    assert!(most < files.len());
}

#[test]
fn the_executable_bit_alone() {
    let file = |executable| Entry::File {
        bytes: "x".into(),
        executable,
    };
    let tree = |executable| {
        let mut tree = CodeTree::default();
        tree.insert(Path::new("run.sh"), file(executable)).unwrap();
        tree
    };
    let found = diff(&tree(false), &tree(true));
    assert_eq!(found.files[0].body, Body::Mode);
    assert_eq!(found.files[0].change, FileChange::Modified);
}

#[test]
fn much_is_named_and_not_compared() {
    let long = "x\n".repeat(LONGEST_TEXT);
    let before = tree(&[("long.txt", b"")]);
    let after = tree(&[("long.txt", long.as_bytes())]);
    assert_eq!(diff(&before, &after).files[0].body, Body::TooLong);

    let mut many = CodeTree::default();
    for i in 0..MOST_FILES + 7 {
        many.insert_file(&format!("{i:05}.py"), "x");
    }
    let found = diff(&CodeTree::default(), &many);
    assert_eq!((found.files.len(), found.more_files), (MOST_FILES, 7));
}

/// Nothing in common and every line alike: the slowest input to compare. Without
/// the deadline it would outlast the test runner's limit.
#[test]
fn there_is_an_end_to_it() {
    let lines = |salt: u64| {
        let line = |i: u64| format!("{}\n", (i * 7_919 + salt) % 257);
        (0..200_000).map(line).collect::<String>()
    };
    let before = tree(&[("a", lines(1).as_bytes())]);
    let after = tree(&[("a", lines(100).as_bytes())]);
    assert!(diff(&before, &after).files[0].added > 0);
}

#[tokio::test]
async fn made_once() {
    let diffs = Diffs::new(HeavyReads::default());
    let ends = || ("a".to_owned(), "b".to_owned());
    let codes = async { Ok((tree(&[]), tree(&[("a.py", b"a\n")]))) };
    let made = diffs.between(ends(), codes).await.unwrap();
    let never = std::future::pending();
    let again = diffs.between(ends(), never).await.unwrap();
    assert!(Arc::ptr_eq(&made, &again));
    // A failed diff is tried again.
    let other = || ("a".to_owned(), "c".to_owned());
    let fails = async { anyhow::bail!("not now") };
    assert!(diffs.between(other(), fails).await.is_err());
    let works = async { Ok((tree(&[]), tree(&[]))) };
    assert!(diffs.between(other(), works).await.is_ok());
}
