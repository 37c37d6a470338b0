//! Keeps a document of the mode rdd from being a copy of the tests: what it shares
//! with them word by word is a finding, and packed in some way they exceed its limits.

use std::collections::HashSet;

use super::{Document, MAX_SPECIFIED_BYTES, MAX_SPECIFIED_LINE, RequirementError};
use crate::finding::{Finding, FindingKind};

/// Fewer words in a row are the same by chance: a signature, a short message.
const IN_A_ROW: usize = 10;
/// So many are no exact message or help text any more.
const MANY: usize = 300;

impl Document {
    /// A finding about passages that stand in the tests too. Numbers and names that
    /// the sources define are not counted: a specification needs them.
    pub fn copied<'a>(
        &self,
        tests: impl IntoIterator<Item = &'a str>,
        sources: impl IntoIterator<Item = &'a str>,
    ) -> Option<Finding> {
        let parts = self.requirements().iter().flat_map(|one| one.parts());
        let parts: Vec<Vec<&str>> = parts.map(|(_, text)| words(text)).collect();
        let windows = parts.iter().flat_map(|words| words.windows(IN_A_ROW));
        let told: HashSet<&[&str]> = windows.collect();
        let mut shared = HashSet::new();
        for text in tests {
            let words = words(text);
            let windows = words.windows(IN_A_ROW);
            shared.extend(windows.filter_map(|window| told.get(window).copied()));
        }
        let mut copied: Vec<&str> = Vec::new();
        for words in &parts {
            let mut end = 0;
            for (at, window) in words.windows(IN_A_ROW).enumerate() {
                if shared.contains(window) {
                    copied.extend(&words[at.max(end)..at + IN_A_ROW]);
                    end = at + IN_A_ROW;
                }
            }
        }
        let names: HashSet<&str> = sources.into_iter().flat_map(defined).collect();
        let is_needed = |word: &str| names.contains(word) || word.starts_with(char::is_numeric);
        copied.retain(|word| !is_needed(word));
        let first = copied.get(..copied.len().min(3))?;
        let text = format!(
            "{} words of the specification stand in the tests in the same order, beside numbers \
             and names of the code; the first are: {}",
            copied.len(),
            first.join(" ")
        );
        match copied.len() {
            0 => None,
            1..MANY => Some(Finding::note(FindingKind::Specification, text)),
            _ => Some(Finding::suspicious(FindingKind::Specification, text)),
        }
    }
}

pub(super) fn within_limits(specified: &str) -> Result<(), RequirementError> {
    if specified.len() > MAX_SPECIFIED_BYTES {
        return Err(RequirementError::SpecifiesTooMuch(specified.len()));
    }
    let lengths = specified.lines().map(|line| line.chars().count());
    match (1..)
        .zip(lengths)
        .find(|(_, length)| *length > MAX_SPECIFIED_LINE)
    {
        Some((line, characters)) => Err(RequirementError::LongLine { line, characters }),
        None => Ok(()),
    }
}

/// Names of functions, classes and parameters.
fn defined(source: &str) -> impl Iterator<Item = &str> {
    let defines = |line: &&str| {
        let line = line.trim_start();
        ["def ", "async def ", "class "]
            .iter()
            .any(|word| line.starts_with(word))
    };
    source.lines().filter(defines).flat_map(words)
}

fn words(text: &str) -> Vec<&str> {
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
    words.filter(|word| !word.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::super::{Expectation, Requirement, Rules};
    use super::*;
    use crate::finding::Grade;

    #[test]
    fn a_specification_has_limits() {
        let is_own_name = |_: &str| false;
        let rdd = Rules::Rdd {
            is_own_name: &is_own_name,
        };
        let check = |specification: String, expect: &str| {
            let xml = format!(
                "<requirement><location>l</location><description>d</description>\n\
                 <specification>{specification}</specification></requirement>"
            );
            let said = Document::parse(&xml, rdd).map_err(|error| error.to_string());
            let said = said.err().unwrap_or_default();
            assert!(
                said.contains(expect) && said.is_empty() == expect.is_empty(),
                "{said}"
            );
            // Documents of earlier editions are read.
            assert!(Document::parse_accepted(&xml).is_ok());
        };
        let line = format!("{}\n", "ä".repeat(MAX_SPECIFIED_LINE));
        check(format!("\n{line}"), "");
        check(
            format!("\n{line}{}\n", "ä".repeat(401)),
            "line 4 of the requirement document has 401",
        );
        check(
            format!("\n{}", line.repeat(41)),
            "at most 32768: ask for fewer",
        );
    }

    #[test]
    fn passages_of_the_tests_are_found() {
        let check = |specification: &str, expect: Option<(Grade, &str)>| {
            let requirement = Requirement {
                location: "a.py".into(),
                description: "it does nothing".into(),
                expectation: Expectation::Specified {
                    specification: specification.into(),
                },
            };
            let document = Document::new(vec![requirement]).unwrap();
            let long: String = (0..400).map(|n| format!("word{n} ")).collect();
            let tests = [
                "assert discount(100, 10) == 90, 'a rebate of ten in a hundred'\n",
                long.as_str(),
            ];
            let found = document.copied(
                tests,
                ["def discount(cents, percent):\n    a, rebate = 1, 2"],
            );
            let found = found
                .as_ref()
                .map(|found| (found.grade, found.text.as_str()));
            let Some((grade, start)) = expect else {
                return assert_eq!(found, None, "{specification}");
            };
            let (found, text) = found.unwrap();
            assert!(found == grade && text.starts_with(start), "{text}");
        };
        check("discount(100, 10) gives 90", None);
        check(
            "discount(100, 10) == 90, 'a rebate' says why it is so",
            None,
        );
        let copied = "discount(100, 10) == 90, 'a rebate of ten in a hundred'";
        check(copied, Some((Grade::Note, "7 words ")));
        let long = |words: usize| (0..words).map(|n| format!("word{n}\n")).collect::<String>();
        check(&long(299), Some((Grade::Note, "299 words ")));
        check(&long(300), Some((Grade::Suspicious, "300 words ")));
    }
}
