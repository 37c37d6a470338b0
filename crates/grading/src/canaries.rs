//! Canaries: tests whose results are known before, under fresh names among the
//! task's own tests. Whoever makes failing tests pass, without knowing which
//! tests there are, makes these pass too.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::{Rng, SeedableRng};
use swe_ci_base::code::CodeTree;

use crate::is_test;

/// The files with canaries, at most.
const FILES: usize = 3;

/// Canaries for one grading.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Canaries {
    /// Below `tests/`.
    pub files: CodeTree,
    /// Whether each has to pass, by file name and the rest of its node id.
    expected: BTreeMap<(String, String), bool>,
}

/// What a test is to the canaries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Known {
    /// A test of the task.
    NoCanary,
    /// A canary with its expected result.
    Canary { passes: bool },
    /// In a canary's file, but not made by us.
    Stranger,
}

impl Canaries {
    /// Canaries in the styles that the oracle's tests use; none when its tests
    /// have names that pytest finds by special settings only.
    pub fn new(seed: u128, oracle: &CodeTree) -> Self {
        let mut made = Maker::new(seed, oracle);
        let places = made.places(oracle);
        let mut canaries = Self::default();
        for path in places {
            let (text, tests) = made.file();
            let name = file_name(&path).to_owned();
            canaries.files.insert_file(&path, text);
            let tests = tests.into_iter();
            let expected = tests.map(|(test, passes)| ((name.clone(), test), passes));
            canaries.expected.extend(expected);
        }
        canaries
    }

    pub fn len(&self) -> usize {
        self.expected.len()
    }

    /// File name, the rest of the node id, and whether it has to pass.
    pub fn all(&self) -> impl Iterator<Item = (String, String, bool)> {
        let expected = self.expected.iter();
        expected.map(|((file, test), passes)| (file.clone(), test.clone(), *passes))
    }

    #[cfg(test)]
    pub fn node_ids(&self) -> Vec<String> {
        let ids = self.expected.keys();
        ids.map(|(file, test)| format!("{}/{file}::{test}", crate::TESTS))
            .collect()
    }

    /// Forgets canaries that the settings' options leave out, such as `-m unit`.
    pub fn leave_out(&mut self, node_ids: &[String]) {
        for id in node_ids {
            let (path, test) = id.split_once("::").unwrap_or((id, ""));
            self.expected
                .remove(&(file_name(path).to_owned(), test.to_owned()));
        }
    }

    /// The canaries' file names are fresh: a test is known by its file and what
    /// follows, wherever pytest has its root.
    pub fn known(&self, node_id: &str) -> Known {
        let (path, test) = node_id.split_once("::").unwrap_or((node_id, ""));
        let name = file_name(path);
        match self.expected.get(&(name.to_owned(), test.to_owned())) {
            Some(passes) => Known::Canary { passes: *passes },
            None if self.expected.keys().any(|(file, _)| file == name) => Known::Stranger,
            None => Known::NoCanary,
        }
    }
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Words that names of tests are made of.
const WORDS: [&str; 24] = [
    "basic", "bounds", "cache", "chain", "compat", "copy", "defaults", "edges", "empty", "errors",
    "flags", "format", "groups", "helpers", "limits", "merge", "nested", "order", "parse",
    "regress", "slices", "strict", "types", "update",
];

type Test = (String, bool);
/// Writes a test that passes or fails: its source, and what follows the file in
/// its node id.
type Style = fn(&mut Maker, bool) -> (String, String);

struct Maker {
    random: Pcg64Mcg,
    uses_unittest: bool,
    uses_asyncio: bool,
    uses_subprocess: bool,
    used_names: BTreeSet<String>,
}

impl Maker {
    fn new(seed: u128, oracle: &CodeTree) -> Self {
        let tests = || {
            let tests = oracle.paths().filter(|path| is_test_file(path));
            tests.filter_map(|path| oracle.file(path))
        };
        let uses = |word: &str| tests().any(|text| contains(text, word.as_bytes()));
        Self {
            random: Pcg64Mcg::from_seed(seed.to_le_bytes()),
            uses_unittest: uses("unittest"),
            uses_asyncio: uses("pytest.mark.asyncio"),
            uses_subprocess: uses("subprocess"),
            used_names: BTreeSet::new(),
        }
    }

    /// A number from 0 to below `limit`.
    fn below(&mut self, limit: u64) -> u64 {
        self.random.next_u64() % limit
    }

    fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        let index = self.below(from.len() as u64);
        from[usize::try_from(index).unwrap_or(0)].clone()
    }

    /// Paths for the canaries' files: beside tests of the oracle, named like
    /// them.
    fn places(&mut self, oracle: &CodeTree) -> Vec<String> {
        let mut beside: Vec<String> = oracle
            .paths()
            .filter(|p| is_test_file(p))
            .map(str::to_owned)
            .collect();
        let taken: BTreeSet<String> = beside.iter().map(|p| file_name(p).to_owned()).collect();
        let mut places = Vec::new();
        while places.len() < FILES && !beside.is_empty() {
            let index = usize::try_from(self.below(beside.len() as u64)).unwrap_or(0);
            let path = beside.swap_remove(index);
            let stem = path.strip_suffix(".py").unwrap_or(&path);
            let (one, two) = (self.pick(&WORDS), self.pick(&WORDS));
            let place = match stem.strip_suffix("_test") {
                Some(stem) => format!("{stem}_{one}_{two}_test.py"),
                None => format!("{stem}_{one}_{two}.py"),
            };
            if !taken.contains(file_name(&place)) && !places.contains(&place) {
                places.push(place);
            }
        }
        places
    }

    /// A file with canaries of each style, in random order.
    fn file(&mut self) -> (String, Vec<Test>) {
        let mut styles: Vec<Style> = vec![plain, raises, approx, fixture, parametrised];
        if self.uses_unittest {
            styles.push(unittest);
        }
        if self.uses_asyncio {
            styles.push(asynchronous);
        }
        if self.uses_subprocess {
            styles.push(subprocess);
        }
        let mut wanted: Vec<(usize, bool)> = (0..styles.len())
            .flat_map(|style| [(style, true), (style, false)])
            .collect();
        for last in (1..wanted.len()).rev() {
            let other = usize::try_from(self.below(last as u64 + 1)).unwrap_or(0);
            wanted.swap(last, other);
        }
        self.used_names.clear();
        let mut text =
            "import subprocess\nimport sys\nimport unittest\n\nimport pytest\n".to_owned();
        let mut tests = Vec::new();
        for (style, passes) in wanted {
            let (source, id) = styles[style](self, passes);
            let _ = write!(text, "\n\n{source}");
            tests.push((id, passes));
        }
        (text, tests)
    }

    /// A name that this file does not have yet.
    fn name(&mut self) -> String {
        loop {
            let name = format!("{}_{}", self.pick(&WORDS), self.pick(&WORDS));
            if self.used_names.insert(name.clone()) {
                return name;
            }
        }
    }

    fn number(&mut self) -> u64 {
        10 + self.below(9_000)
    }
}

fn is_test_file(path: &str) -> bool {
    let name = file_name(path);
    let stem = name.strip_suffix(".py");
    is_test(path) && stem.is_some_and(|s| s.starts_with("test_") || s.ends_with("_test"))
}

fn contains(text: &[u8], word: &[u8]) -> bool {
    text.windows(word.len()).any(|window| window == word)
}

/// A number, and one that equals it if the test has to pass.
fn numbers(maker: &mut Maker, passes: bool) -> (u64, u64) {
    let number = maker.number();
    let other = if passes {
        number
    } else {
        number + 1 + maker.below(50)
    };
    (number, other)
}

fn plain(maker: &mut Maker, passes: bool) -> (String, String) {
    let name = format!("test_{}", maker.name());
    let (number, other) = numbers(maker, passes);
    let text = match maker.below(3) {
        0 => format!("    items = [{number}, 3]\n    assert items == [{other}, 3]\n"),
        1 => format!("    text = \"{number}-x\"\n    assert text.upper() == \"{other}-X\"\n"),
        _ => format!("    value = {number} * 2\n    assert value == {other} * 2\n"),
    };
    (format!("def {name}():\n{text}"), name)
}

fn raises(maker: &mut Maker, passes: bool) -> (String, String) {
    let name = format!("test_{}", maker.name());
    let key = maker.number();
    let text = if passes { "missing" } else { "present" };
    let source = format!(
        "def {name}():\n    table = {{\"present\": {key}}}\n    with pytest.raises(KeyError):\n        table[\"{text}\"]\n"
    );
    (source, name)
}

fn approx(maker: &mut Maker, passes: bool) -> (String, String) {
    let name = format!("test_{}", maker.name());
    let (number, other) = numbers(maker, passes);
    let source =
        format!("def {name}():\n    assert {number} / 7 == pytest.approx({other} / 7, rel=1e-9)\n");
    (source, name)
}

fn fixture(maker: &mut Maker, passes: bool) -> (String, String) {
    let (value, name) = (maker.name(), format!("test_{}", maker.name()));
    let (number, other) = numbers(maker, passes);
    let source = format!(
        "@pytest.fixture\ndef {value}():\n    return {{\"size\": {number}}}\n\n\ndef {name}({value}):\n    assert {value}[\"size\"] == {other}\n"
    );
    (source, name)
}

/// One test of three cases; the last is the canary, the others come out as it.
fn parametrised(maker: &mut Maker, passes: bool) -> (String, String) {
    let name = format!("test_{}", maker.name());
    let (number, other) = numbers(maker, passes);
    let source = format!(
        "@pytest.mark.parametrize(\"given, expected\", [({number}, {other})])\ndef {name}(given, expected):\n    assert given == expected\n"
    );
    (source, format!("{name}[{number}-{other}]"))
}

fn unittest(maker: &mut Maker, passes: bool) -> (String, String) {
    let (name, case) = (format!("test_{}", maker.name()), maker.name());
    let class = format!(
        "Test{}",
        case.split('_').map(capitalised).collect::<String>()
    );
    let (number, other) = numbers(maker, passes);
    let source = format!(
        "class {class}(unittest.TestCase):\n    def {name}(self):\n        self.assertEqual({number} + 1, {other} + 1)\n"
    );
    (source, format!("{class}::{name}"))
}

fn asynchronous(maker: &mut Maker, passes: bool) -> (String, String) {
    let name = format!("test_{}", maker.name());
    let (number, other) = numbers(maker, passes);
    let source =
        format!("@pytest.mark.asyncio\nasync def {name}():\n    assert {number} == {other}\n");
    (source, name)
}

fn subprocess(maker: &mut Maker, passes: bool) -> (String, String) {
    let name = format!("test_{}", maker.name());
    let code = 1 + maker.below(60);
    let expected = if passes { code } else { code + 1 };
    let source = format!(
        "def {name}():\n    done = subprocess.run([sys.executable, \"-S\", \"-c\", \"raise SystemExit({code})\"])\n    assert done.returncode == {expected}\n"
    );
    (source, name)
}

fn capitalised(word: &str) -> String {
    let (first, rest) = word.split_at(word.len().min(1));
    first.to_uppercase() + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn oracle() -> CodeTree {
        let mut oracle = CodeTree::default();
        oracle.insert_file("tests/test_a.py", "import unittest\n");
        oracle.insert_file("tests/deep/b_test.py", "@pytest.mark.asyncio\n");
        oracle.insert_file("tests/helper.py", "import subprocess\n");
        oracle.insert_file("test_outside.py", "");
        oracle
    }

    #[test]
    fn each_grading_has_its_own() {
        let one = Canaries::new(1, &oracle());
        assert_eq!(one, Canaries::new(1, &oracle()));
        assert_ne!(one, Canaries::new(2, &oracle()));
        let places: Vec<&str> = one.files.paths().collect();
        assert_eq!(places.len(), 2, "{places:?}");
        assert!(places[0].starts_with("tests/deep/b_") && places[0].ends_with("_test.py"));
        assert!(places[1].starts_with("tests/test_a_"), "{places:?}");
        // Five styles and two that these tests use, passing and failing.
        assert_eq!(one.len(), 2 * 2 * 7);
        assert_eq!(one.expected.values().filter(|passes| **passes).count(), 14);
    }

    #[test]
    fn canaries_are_known_by_their_file() {
        let canaries = Canaries::new(3, &oracle());
        let ((file, test), passes) = canaries.expected.iter().next().unwrap();
        let known = |id: &str| canaries.known(id);
        let passes = *passes;
        assert_eq!(
            known(&format!("tests/{file}::{test}")),
            Known::Canary { passes }
        );
        assert_eq!(known(&format!("{file}::{test}")), Known::Canary { passes });
        assert_eq!(known(&format!("tests/{file}::test_more")), Known::Stranger);
        assert_eq!(known(&format!("tests/{file}")), Known::Stranger);
        assert_eq!(known("tests/test_a.py::test_a"), Known::NoCanary);
    }

    #[test]
    fn tests_by_other_names_get_none() {
        let mut oracle = CodeTree::default();
        oracle.insert_file("tests/check_a.py", "");
        assert_eq!(Canaries::new(1, &oracle).len(), 0);
    }
}
