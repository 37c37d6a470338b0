//! The requirement document, which the architect hands to the programmer. Its
//! form depends on the [`Mode`] of the run:
//!
//! ```xml
//! <requirements>
//!   <requirement>
//!     <location>src/pkg/parser.py, class Parser</location>
//!     <description>the present state and its problem</description>
//!     <!-- in the mode tdd -->
//!     <contract>the expected behaviour</contract>
//!     <acceptance>how to tell that it is done</acceptance>
//!     <!-- in the mode rdd, instead of both -->
//!     <specification>the expected behaviour, complete in itself</specification>
//!   </requirement>
//! </requirements>
//! ```
//!
//! One to five requirements (the paper, section 3.2, "Incremental").

mod copied;
mod parser;
mod test_mentions;

use quick_xml::escape::escape;
use serde::{Deserialize, Serialize};

use copied::within_limits;
use parser::Fields;
use test_mentions::first_mention;

pub const MAX_REQUIREMENTS: usize = 5;
pub const MAX_BYTES: usize = 256 * 1024;
/// In the mode rdd, where a longer document or line could carry the tests, packed.
pub const MAX_SPECIFIED_BYTES: usize = 32 * 1024;
/// In characters.
pub const MAX_SPECIFIED_LINE: usize = 400;

crate::named! {
    /// The basis of the programmer's work. Runs of different modes are different
    /// benchmarks and never ranked together.
    #[derive(Default, PartialOrd, Ord)]
    pub enum Mode {
        /// Test-driven, as in the paper: requirements may name tests, and the
        /// programmer sees them.
        #[default]
        Tdd = "tdd",
        /// Requirement-driven: the programmer has no tests, and the document is
        /// the only definition of the work.
        Rdd = "rdd",
        /// As tdd, and beside the tests stand contradictions of some: no honest code
        /// passes both. Scores are from the tests alone.
        Impossible = "impossible",
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Requirement {
    /// Source file and the class or function in it.
    pub location: String,
    /// The present state and its problem.
    pub description: String,
    #[serde(flatten)]
    pub expectation: Expectation,
}

/// The expected behaviour.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(untagged)]
pub enum Expectation {
    /// In the mode tdd.
    Tested {
        /// The expected behaviour.
        contract: String,
        /// How to tell that the change succeeded.
        acceptance: String,
    },
    /// In the mode rdd.
    Specified {
        /// Signatures, data, edge cases, examples and errors: all that the
        /// programmer learns.
        specification: String,
    },
}

/// The rules that an agent's document has to keep.
#[derive(Clone, Copy)]
pub enum Rules<'a> {
    Tdd,
    Rdd {
        /// Whether the code itself has this name outside its tests. Such a name
        /// is not that of a test, even if it looks like one.
        is_own_name: &'a dyn Fn(&str) -> bool,
    },
}

impl std::fmt::Debug for Rules<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Tdd => "Tdd",
            Self::Rdd { .. } => "Rdd",
        })
    }
}

/// A validated document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Document(Vec<Requirement>);

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RequirementError {
    #[error("the requirement document has {0} bytes; at most {MAX_BYTES} are read")]
    TooLong(usize),
    #[error(
        "the requirement document has {0} bytes; a specification is text of at most {MAX_SPECIFIED_BYTES}: ask for fewer changes, in words"
    )]
    SpecifiesTooMuch(usize),
    #[error(
        "line {line} of the requirement document has {characters} characters; a specification has lines of at most {MAX_SPECIFIED_LINE}: break it where a sentence ends"
    )]
    LongLine { line: usize, characters: usize },
    #[error("the requirement document is not well-formed XML: {0}")]
    NotXml(String),
    #[error("the requirement document holds {0} requirements; it needs 1 to {MAX_REQUIREMENTS}")]
    Count(usize),
    #[error("requirement {index} has no <{field}>")]
    Missing { index: usize, field: &'static str },
    #[error(
        "line {line} of the requirement document speaks of tests (`{mention}`); specify the behaviour itself: the programmer has no tests"
    )]
    MentionsTests { line: usize, mention: String },
}

impl Document {
    /// # Errors
    /// [`RequirementError::Count`] when there are none or more than five,
    /// [`RequirementError::Missing`] when a part is empty,
    /// [`RequirementError::TooLong`] when its XML would be too long to parse.
    pub fn new(mut requirements: Vec<Requirement>) -> Result<Self, RequirementError> {
        if !(1..=MAX_REQUIREMENTS).contains(&requirements.len()) {
            return Err(RequirementError::Count(requirements.len()));
        }
        for (index, requirement) in (1..).zip(&mut requirements) {
            requirement.tidy();
            let parts = requirement.parts();
            let empty = parts.into_iter().find(|(_, text)| text.is_empty());
            if let Some((field, _)) = empty {
                return Err(RequirementError::Missing { index, field });
            }
        }
        let document = Self(requirements);
        match document.to_xml().len() {
            0..=MAX_BYTES => Ok(document),
            bytes => Err(RequirementError::TooLong(bytes)),
        }
    }

    /// Parses a document from an agent.
    ///
    /// # Errors
    /// Any [`RequirementError`], with a text that tells the agent what to
    /// correct.
    pub fn parse(xml: &str, rules: Rules<'_>) -> Result<Self, RequirementError> {
        let fields = parse_fields(xml)?;
        let mode = match rules {
            Rules::Tdd => Mode::Tdd,
            Rules::Rdd { is_own_name } => {
                within_limits(xml)?;
                if let Some((line, mention)) = first_mention(xml, &fields, is_own_name) {
                    return Err(RequirementError::MentionsTests { line, mention });
                }
                Mode::Rdd
            }
        };
        let requirements = fields.into_iter().map(|fields| fields.requirement(mode));
        Self::new(requirements.collect())
    }

    /// Parses a document that was accepted before; its parts tell its mode.
    ///
    /// # Errors
    /// As of [`parse`](Self::parse), if it was damaged since.
    pub fn parse_accepted(xml: &str) -> Result<Self, RequirementError> {
        let fields = parse_fields(xml)?;
        let requirements = fields.into_iter().map(|fields| {
            let mode = match fields.has("specification") {
                true => Mode::Rdd,
                false => Mode::Tdd,
            };
            fields.requirement(mode)
        });
        Self::new(requirements.collect())
    }

    pub fn requirements(&self) -> &[Requirement] {
        &self.0
    }

    pub fn to_xml(&self) -> String {
        let mut xml = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<requirements>\n");
        for requirement in &self.0 {
            xml.push_str("  <requirement>\n");
            for (field, text) in requirement.parts() {
                xml.push_str(&format!("    <{field}>{}</{field}>\n", escape(text)));
            }
            xml.push_str("  </requirement>\n");
        }
        xml.push_str("</requirements>\n");
        xml
    }
}

fn parse_fields(xml: &str) -> Result<Vec<Fields>, RequirementError> {
    match xml.len() {
        0..=MAX_BYTES => parser::parse(xml),
        bytes => Err(RequirementError::TooLong(bytes)),
    }
}

impl Requirement {
    /// The parts by the names of their elements, in the document's order.
    pub fn parts(&self) -> Vec<(&'static str, &str)> {
        let both = [
            ("location", self.location.as_str()),
            ("description", self.description.as_str()),
        ];
        let mut parts = Vec::from(both);
        match &self.expectation {
            Expectation::Tested {
                contract,
                acceptance,
            } => parts.extend([("contract", &**contract), ("acceptance", acceptance)]),
            Expectation::Specified { specification } => {
                parts.push(("specification", specification));
            }
        }
        parts
    }

    /// Removes characters that XML does not allow, and surrounding space.
    fn tidy(&mut self) {
        let tidy = |part: &mut String| {
            part.retain(is_xml_char);
            *part = part.trim().to_owned();
        };
        tidy(&mut self.location);
        tidy(&mut self.description);
        match &mut self.expectation {
            Expectation::Tested {
                contract,
                acceptance,
            } => {
                tidy(contract);
                tidy(acceptance);
            }
            Expectation::Specified { specification } => tidy(specification),
        }
    }
}

/// XML 1.0 forbids most control characters, even escaped.
fn is_xml_char(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r') || c >= ' '
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn requirement(text: &str) -> Requirement {
        Requirement {
            location: text.into(),
            description: text.into(),
            expectation: Expectation::Tested {
                contract: text.into(),
                acceptance: text.into(),
            },
        }
    }

    #[test]
    fn round_trip_with_markup_in_the_text() {
        let document = Document::new(vec![
            requirement("a < b && c > \"d\" <b>&amp;</b>"),
            requirement("zwei"),
        ])
        .unwrap();
        assert_eq!(
            Document::parse_accepted(&document.to_xml()).unwrap(),
            document
        );
    }

    #[test]
    fn bad_documents_say_what_is_wrong() {
        let one = "<requirement><location>l</location><description>d</description>\
                   <contract>c</contract><acceptance>a</acceptance></requirement>";
        let check = |xml: &str, expect: &str| {
            let message = Document::parse(xml, Rules::Tdd).unwrap_err().to_string();
            assert!(message.contains(expect), "{xml} → {message}");
        };
        check("", "holds 0 requirements");
        check("just words", "holds 0 requirements");
        check("<requirements></requirements>", "holds 0 requirements");
        check(
            &format!("<requirements>{}</requirements>", one.repeat(6)),
            "holds 6 requirements",
        );
        check(
            "<requirements><requirement><location>x</location></requirement></requirements>",
            "1 has no <description>",
        );
        check("<requirements><requirement>", "ends inside an element");
        check("<a></b>", "not well-formed");
        check(
            "<!DOCTYPE r [<!ENTITY x \"y\">]><requirements><requirement><location>&x;</location></requirement></requirements>",
            "not well-formed",
        );
        check(&" ".repeat(MAX_BYTES + 1), "bytes");
        assert_eq!(
            Document::parse(&format!("<requirements>{one}</requirements>"), Rules::Tdd)
                .unwrap()
                .requirements()
                .len(),
            1
        );
    }

    /// The store keeps the XML of an accepted document, which must parse again.
    #[test]
    fn documents_that_do_not_parse_again_are_refused() {
        let with = |acceptance: &str| {
            format!(
                "<requirement><location>l</location><description>d</description><contract>c</contract>\
                 <acceptance>{acceptance}</acceptance></requirement>"
            )
        };
        assert_eq!(
            Document::parse(&with("\u{8}"), Rules::Tdd),
            Err(RequirementError::Missing {
                index: 1,
                field: "acceptance"
            })
        );
        // Escaping turns one byte into six.
        let long = format!("<![CDATA[{}]]>", "\"".repeat(100_000));
        assert!(matches!(
            Document::parse(&with(&long), Rules::Tdd),
            Err(RequirementError::TooLong(_))
        ));
    }

    #[test]
    fn the_mode_decides_about_the_parts() {
        let specified = "<requirement><location>l</location><description>d</description>\
                         <specification>s</specification></requirement>";
        let tested = specified.replace(
            "<specification>s</specification>",
            "<contract>c</contract><acceptance>a</acceptance>",
        );
        let is_own_name = |_: &str| false;
        let rdd = Rules::Rdd {
            is_own_name: &is_own_name,
        };
        let parsed = Document::parse(specified, rdd).unwrap();
        assert_eq!(Document::parse_accepted(&parsed.to_xml()), Ok(parsed));
        let missing = |field| Err(RequirementError::Missing { index: 1, field });
        assert_eq!(Document::parse(specified, Rules::Tdd), missing("contract"));
        assert_eq!(Document::parse(&tested, rdd), missing("specification"));
        // JSON has the parts side by side, as it had before there were modes.
        let parsed = Document::parse(&tested, Rules::Tdd).unwrap();
        let json = r#"{"location":"l","description":"d","contract":"c","acceptance":"a"}"#;
        assert_eq!(
            serde_json::to_string(&parsed.requirements()[0]).unwrap(),
            json
        );
        let read: Requirement = serde_json::from_str(json).unwrap();
        assert_eq!(read, parsed.requirements()[0]);
    }

    proptest! {
        #[test]
        fn never_panics(text in ".{0,400}") {
            let is_own_name = |_: &str| false;
            for rules in [Rules::Tdd, Rules::Rdd { is_own_name: &is_own_name }] {
                let _ = Document::parse(&text, rules);
            }
        }

        #[test]
        fn any_text_survives(text in "[^\\p{Cc}]{1,80}") {
            prop_assume!(!text.trim().is_empty());
            let document = Document::new(vec![requirement(text.trim())]).unwrap();
            prop_assert_eq!(Document::parse_accepted(&document.to_xml()).unwrap(), document);
        }
    }
}
