//! Finds what a document of the mode rdd must not tell: names of tests, node
//! ids, paths of tests, test frameworks.

use super::parser::Fields;

/// Programs that run tests, as words of a document.
const FRAMEWORKS: [&str; 13] = [
    "pytest",
    "py.test",
    "unittest",
    "doctest",
    "nose",
    "nosetests",
    "tox",
    "conftest",
    "jest",
    "vitest",
    "junit",
    "nextest",
    "gotestsum",
];
/// Two words that speak of tests; a single `test` may be a word of the domain.
const PHRASES: [[&str; 2]; 10] = [
    ["unit", "test"],
    ["unit", "tests"],
    ["test", "suite"],
    ["test", "suites"],
    ["test", "case"],
    ["test", "cases"],
    ["failing", "test"],
    ["failing", "tests"],
    ["test", "file"],
    ["test", "files"],
];

/// The first mention with its line in the XML, counted from 1.
pub(super) fn first_mention(
    xml: &str,
    requirements: &[Fields],
    is_own_name: &dyn Fn(&str) -> bool,
) -> Option<(usize, String)> {
    let texts = requirements.iter().flat_map(Fields::texts);
    texts.into_iter().find_map(|(byte, text)| {
        let (at, mention) = mention(text, is_own_name)?;
        let line_ends = |text: &str| text.matches('\n').count();
        let before = xml.get(..byte).map_or(0, line_ends) + text.get(..at).map_or(0, line_ends);
        Some((before + 1, mention))
    })
}

/// The first mention in a text, and its byte.
fn mention(text: &str, is_own_name: &dyn Fn(&str) -> bool) -> Option<(usize, String)> {
    let mut previous = "";
    for word in words(text) {
        let at = word.as_ptr() as usize - text.as_ptr() as usize;
        if is_of_tests(word, is_own_name) {
            return Some((at, word.to_owned()));
        }
        let pair = [previous, word].map(str::to_ascii_lowercase);
        if PHRASES.iter().any(|phrase| *phrase == pair) {
            return Some((at, pair.join(" ")));
        }
        previous = word;
    }
    None
}

/// Words as they may be names, paths or node ids, without punctuation around.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let part = |c: char| c.is_alphanumeric() || "_./:".contains(c);
    let words = text.split(move |c| !part(c));
    let words = words.map(|word| word.trim_matches(['.', ':', '/']));
    words.filter(|word| !word.is_empty())
}

fn is_of_tests(word: &str, is_own_name: &dyn Fn(&str) -> bool) -> bool {
    if FRAMEWORKS.contains(&word.to_ascii_lowercase().as_str()) {
        return !is_own_name(word);
    }
    let mut folders = word.split('/').rev().skip(1);
    if folders.any(|folder| matches!(folder, "test" | "tests")) {
        return true;
    }
    let names = word.split(['/', '.', ':']).filter(|name| !name.is_empty());
    names.into_iter().any(|name| {
        let looks_like_one = name.starts_with("test_")
            || name.ends_with("_test")
            || name.ends_with("_tests")
            || FRAMEWORKS.contains(&name)
            || is_test_class(name);
        looks_like_one && !is_own_name(name)
    })
}

/// `TestParser`, not `Testament`.
fn is_test_class(name: &str) -> bool {
    let rest = name.strip_prefix("Test");
    rest.is_some_and(|rest| rest.starts_with(|c: char| c.is_uppercase() || c.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::super::{Document, RequirementError, Rules};
    use super::*;

    #[test]
    fn mentions() {
        let own = |name: &str| matches!(name, "test_odd" | "TestResponse");
        let check = |text: &str, expect: Option<&str>| {
            let found = mention(text, &own).map(|(_, mention)| mention);
            assert_eq!(found.as_deref(), expect, "{text}");
        };
        check("`parse` returns the latest attestation; a protest", None);
        check("the attribute is tested for membership: `x in y`", None);
        check("a test that a template uses, such as `is odd`", None);
        check("filters.py/filter, and/or test", None);
        check("test_odd in src/jinja/own.py gives True", None);
        check("class TestResponse of the client", None);
        check("Testament::read(x)", None);
        check("as pytest expects it", Some("pytest"));
        check("run PyTest.", Some("PyTest"));
        check("`unittest.mock` patches it", Some("unittest.mock"));
        check("see tests/a.py", Some("tests/a.py"));
        check("see pkg/test/data.json", Some("pkg/test/data.json"));
        check("a.py::TestA::test_b[1]", Some("a.py::TestA::test_b"));
        check("so that test_even passes", Some("test_even"));
        check("parser_test.py", Some("parser_test.py"));
        check("TestParser wants it", Some("TestParser"));
        check("two failing tests\nneed it", Some("failing tests"));
        check("the Unit Tests", Some("unit tests"));
    }

    #[test]
    fn the_line_is_told() {
        let is_own_name = |_: &str| false;
        let rdd = Rules::Rdd {
            is_own_name: &is_own_name,
        };
        let line = |specification: &str| {
            let xml = format!(
                "<requirements>\n<requirement>\n<location>l</location>\n<description>d</description>\n\
                 <specification>{specification}</specification></requirement></requirements>"
            );
            match Document::parse(&xml, rdd) {
                Err(RequirementError::MentionsTests { line, .. }) => Some(line),
                Ok(_) => None,
                Err(other) => panic!("{other}"),
            }
        };
        assert_eq!(line("`f(1)` gives 2"), None);
        assert_eq!(line("see test_f"), Some(5));
        assert_eq!(line("\n<![CDATA[a < b\n\n]]>&amp; test_f"), Some(8));
        // References do not hide a name.
        assert_eq!(line("te&#115;t_f"), Some(5));
        assert_eq!(line("<b>test</b>_f"), Some(5));
    }
}
