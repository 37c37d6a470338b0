//! Tests that lines are counted as git counts them.

use std::collections::BTreeMap;

use swe_ci_git::{changed_lines, command, is_binary};

/// Pseudo-random numbers.
struct Random(u64);

impl Random {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % most.max(1)
    }
}

/// A line of code: most are rare, some are in every file.
fn line(random: &mut Random) -> String {
    const COMMON: [&str; 6] = [
        "",
        "    return None",
        "}",
        "    pass",
        "import os",
        "        else:",
    ];
    match random.below(3) {
        0 => COMMON[random.below(COMMON.len())].to_owned(),
        1 => format!("value{} = 1", random.below(40)),
        _ => format!("value{} = {}", random.below(10_000), random.below(10)),
    }
}

/// Another version: blocks are deleted, inserted, moved, copied and changed.
fn edited(old: &[String], random: &mut Random) -> Vec<String> {
    let mut new = old.to_vec();
    for _ in 0..=random.below(12) {
        let from = random.below(new.len());
        let to = (from + random.below(30)).min(new.len());
        let block: Vec<String> = new[from..to].to_vec();
        let at = random.below(new.len() - block.len());
        match random.below(5) {
            0 => drop(new.drain(from..to)),
            1 => drop(
                new.splice(
                    from..from,
                    (0..random.below(30))
                        .map(|_| line(random))
                        .collect::<Vec<_>>(),
                ),
            ),
            2 => {
                new.drain(from..to);
                new.splice(at..at, block);
            }
            3 => drop(new.splice(at..at, block)),
            _ => new[from..to]
                .iter_mut()
                .for_each(|changed| *changed = line(random)),
        }
    }
    new
}

fn text(lines: &[String], random: &mut Random) -> String {
    let end = if random.below(10) == 0 { "\r\n" } else { "\n" };
    let text = lines
        .iter()
        .map(|line| format!("{line}{end}"))
        .collect::<String>();
    match random.below(10) {
        0 => text.trim_end().to_owned(),
        _ => text,
    }
}

/// The counts of `git diff --numstat` by file.
fn counted_by_git(pairs: &BTreeMap<String, [String; 2]>) -> BTreeMap<String, (u32, u32)> {
    let folder = tempfile::tempdir().unwrap();
    for (name, texts) in pairs {
        for (side, text) in ["a", "b"].into_iter().zip(texts) {
            std::fs::create_dir_all(folder.path().join(side)).unwrap();
            std::fs::write(folder.path().join(side).join(name), text).unwrap();
        }
    }
    let mut git = command();
    git.current_dir(folder.path())
        .env("GIT_CEILING_DIRECTORIES", "/");
    git.args(["diff", "--no-index", "--no-renames", "--numstat", "a", "b"]);
    let output = String::from_utf8(git.output().unwrap().stdout).unwrap();
    let count = |line: &str| {
        let mut words = line.split('\t');
        let mut number = || words.next().unwrap().parse().unwrap();
        let counts = (number(), number());
        let name = line
            .rsplit(['/', '}'])
            .find(|part| part.ends_with(".py"))
            .unwrap();
        (name.to_owned(), counts)
    };
    output.lines().map(count).collect()
}

#[test]
fn lines_are_counted_as_by_git() {
    let mut random = Random(1);
    let mut pairs = BTreeMap::new();
    for number in 0..400 {
        let lines = random.below([20, 200, 2_000][number % 3]);
        let old: Vec<String> = (0..lines).map(|_| line(&mut random)).collect();
        let new = match number % 20 {
            // Another file altogether.
            0 => (0..random.below(500)).map(|_| line(&mut random)).collect(),
            _ => edited(&old, &mut random),
        };
        let texts = [text(&old, &mut random), text(&new, &mut random)];
        pairs.insert(format!("{number}.py"), texts);
    }
    let expect = counted_by_git(&pairs);
    assert!(expect.len() > 300, "{}", expect.len());
    for (name, [old, new]) in &pairs {
        let (old, new) = (old.as_bytes(), new.as_bytes());
        let counts = changed_lines(old, new);
        assert_eq!(
            expect.get(name).copied().unwrap_or_default(),
            counts,
            "{name}"
        );
        assert_eq!(
            i64::from(counts.0) - i64::from(counts.1),
            count(new) - count(old)
        );
    }
}

/// The number of lines, the last one with or without an end.
fn count(text: &[u8]) -> i64 {
    i64::try_from(text.split_inclusive(|byte| *byte == b'\n').count()).unwrap()
}

#[test]
fn binary_files_have_a_zero_near_their_start() {
    let at = |at: usize| [vec![b'a'; at], vec![0]].concat();
    assert!(is_binary(&at(0)) && is_binary(&at(7_999)));
    assert!(!is_binary(&at(8_000)) && !is_binary(b"") && !is_binary(b"\xff\xfe"));
}
