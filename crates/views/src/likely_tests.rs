//! Guesses the tests that a requirement is about. No record of that exists:
//! the architect must not see the tests' code, so only names give a hint.

use swe_ci_core::requirement::{Expectation, Requirement};

/// Whether a requirement names a test, or a file that a test is named after.
/// Pages must present it as a guess.
pub fn is_about(requirement: &Requirement, node_id: &str) -> bool {
    let test = NodeId::parse(node_id);
    let goals = match &requirement.expectation {
        Expectation::Tested {
            contract,
            acceptance,
        } => vec![acceptance, contract],
        Expectation::Specified { specification } => vec![specification],
    };
    let mut goals = goals.into_iter().flat_map(|text| words(text));
    let mut places = words(&requirement.location);
    goals.any(|word| test.is_named_by(word))
        || places.any(|word| test.is_named_by(word) || test.is_of_file(word))
}

/// The parts of a node id: `tests/test_a.py::TestB::test_c[1]`.
struct NodeId<'a> {
    file: &'a str,
    /// The subject in the name of the file: `a`.
    subject: Option<&'a str>,
    /// Classes and the function, without parameters.
    names: Vec<&'a str>,
}

impl<'a> NodeId<'a> {
    fn parse(node_id: &'a str) -> Self {
        let plain = node_id.split('[').next().unwrap_or_default();
        let mut parts = plain.split("::");
        let file = parts.next().unwrap_or_default();
        let stem = stem(file);
        let subject = stem.strip_prefix("test_").or(stem.strip_suffix("_test"));
        Self {
            file,
            subject: subject.filter(|subject| !subject.is_empty()),
            names: parts.filter(|name| !name.is_empty()).collect(),
        }
    }

    /// Whether a whole word is its file, its class or its function.
    fn is_named_by(&self, word: &str) -> bool {
        let file = word.split("::").next().unwrap_or_default();
        let of_file = !self.file.is_empty() && is_end_of(self.file, file) && file.ends_with(".py");
        match word.split_once("::") {
            // A whole id, or the start of one.
            Some((_, names)) => of_file && names.split("::").zip(&self.names).all(|(a, b)| a == *b),
            None => of_file || self.names.contains(&word),
        }
    }

    /// Whether it is named after this source file; a package has the name of
    /// its folder.
    fn is_of_file(&self, path: &str) -> bool {
        let source = match stem(path) {
            "__init__" => path.rsplit('/').nth(1).unwrap_or_default(),
            stem => stem,
        };
        let source = source.trim_start_matches('_');
        path.ends_with(".py") && self.subject.is_some_and(|subject| subject == source)
    }
}

/// `c` of `a/b/c.py`.
fn stem(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or_default();
    name.strip_suffix(".py").unwrap_or(name)
}

/// Whether a path ends with these folders and that file.
fn is_end_of(path: &str, end: &str) -> bool {
    let rest = path.strip_suffix(end);
    !end.is_empty() && rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
}

/// The words of a text that may be paths, names or node ids.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let part = |c: char| c.is_alphanumeric() || "_./:-".contains(c);
    let words = text.split(move |c| !part(c));
    words
        .map(|word| word.trim_matches(['.', ':', '-']))
        .filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_names() {
        let check = |location: &str, acceptance: &str, node_id: &str, expect: bool| {
            let requirement = Requirement {
                location: location.into(),
                description: "test_c and test_a.py fail".into(),
                expectation: Expectation::Tested {
                    contract: "works".into(),
                    acceptance: acceptance.into(),
                },
            };
            assert_eq!(
                is_about(&requirement, node_id),
                expect,
                "{location} {acceptance}"
            );
        };
        let id = "tests/unit/test_a.py::TestB::test_c[x-1]";
        // A test, its class, its file, or an id in the acceptance.
        check("?", "`test_c` passes.", id, true);
        check("?", "all of TestB, then.", id, true);
        check("?", "see tests/unit/test_a.py.", id, true);
        check("?", "run test_a.py", id, true);
        check("?", "tests/unit/test_a.py::TestB passes", id, true);
        check("?", "tests/unit/test_a.py::TestB::test_c", id, true);
        check("?", "tests/unit/test_a.py::TestB::test_d", id, false);
        check("?", "test_cc passes, test_aa.py too", id, false);
        check("?", "other/test_a.py", id, false);
        // The file the tests are named after.
        check("src/pkg/a.py, class A", "it works", id, true);
        check("pkg/_a.py", "", id, true);
        check("pkg/a/__init__.py", "", id, true);
        check("src/pkg/b.py, function a", "", id, false);
        check("a", "", id, false);
        check("pkg/a.py", "", "tests/a_test.py::test_x", true);
        check("pkg/a.py", "", "tests/checks.py::test_x", false);
        // Empty texts never match.
        check("", "", id, false);
        check("__init__.py", "", "", false);
    }
}
