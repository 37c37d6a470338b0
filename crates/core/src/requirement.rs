//! The requirement document, which the architect hands to the programmer.
//!
//! ```xml
//! <requirements>
//!   <requirement>
//!     <location>src/pkg/parser.py, class Parser</location>
//!     <description>the present state and its problem</description>
//!     <contract>the expected behaviour</contract>
//!     <acceptance>how to tell that it is done</acceptance>
//!   </requirement>
//! </requirements>
//! ```
//!
//! One to five requirements (the paper, section 3.2, "Incremental").

use quick_xml::Reader;
use quick_xml::escape::escape;
use quick_xml::events::Event;
use serde::{Deserialize, Serialize};

pub const MAX_REQUIREMENTS: usize = 5;
pub const MAX_BYTES: usize = 256 * 1024;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Requirement {
    /// Source file and the class or function in it.
    pub location: String,
    /// The present state and its problem.
    pub description: String,
    /// The expected behaviour.
    pub contract: String,
    /// How to tell that the change succeeded.
    pub acceptance: String,
}

/// A validated document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Document(Vec<Requirement>);

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RequirementError {
    #[error("the requirement document has {0} bytes; at most {MAX_BYTES} are read")]
    TooLong(usize),
    #[error("the requirement document is not well-formed XML: {0}")]
    NotXml(String),
    #[error("the requirement document holds {0} requirements; it needs 1 to {MAX_REQUIREMENTS}")]
    Count(usize),
    #[error("requirement {index} has no <{field}>")]
    Missing { index: usize, field: &'static str },
}

impl Document {
    /// # Errors
    /// [`RequirementError::Count`] when there are none or more than five,
    /// [`RequirementError::Missing`] when one of the four parts is empty,
    /// [`RequirementError::TooLong`] when its XML would be too long to parse.
    pub fn new(mut requirements: Vec<Requirement>) -> Result<Self, RequirementError> {
        if !(1..=MAX_REQUIREMENTS).contains(&requirements.len()) {
            return Err(RequirementError::Count(requirements.len()));
        }
        for (index, requirement) in (1..).zip(&mut requirements) {
            requirement.tidy();
            let empty = requirement.parts().into_iter().find(|(_, t)| t.is_empty());
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
    pub fn parse(xml: &str) -> Result<Self, RequirementError> {
        if xml.len() > MAX_BYTES {
            return Err(RequirementError::TooLong(xml.len()));
        }
        Self::new(parse_requirements(xml)?)
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

impl Requirement {
    fn parts(&self) -> [(&'static str, &str); 4] {
        [
            ("location", &self.location),
            ("description", &self.description),
            ("contract", &self.contract),
            ("acceptance", &self.acceptance),
        ]
    }

    fn parts_mut(&mut self) -> [(&'static str, &mut String); 4] {
        [
            ("location", &mut self.location),
            ("description", &mut self.description),
            ("contract", &mut self.contract),
            ("acceptance", &mut self.acceptance),
        ]
    }

    /// Removes characters that XML does not allow, and surrounding space.
    fn tidy(&mut self) {
        for (_, part) in self.parts_mut() {
            part.retain(is_xml_char);
            *part = part.trim().to_owned();
        }
    }

    fn part_mut(&mut self, field: &str) -> Option<&mut String> {
        let mut parts = self.parts_mut().into_iter();
        parts.find_map(|(name, part)| (name == field).then_some(part))
    }
}

/// Walks the document once. Text belongs to the innermost of the four parts
/// around it; unknown elements are ignored, but their text counts. The only
/// entities are XML's own five and character references, so an expansion
/// attack is impossible.
fn parse_requirements(xml: &str) -> Result<Vec<Requirement>, RequirementError> {
    let not_xml = |message: String| RequirementError::NotXml(message);
    let mut reader = Reader::from_str(xml);
    let mut requirements: Vec<Requirement> = Vec::new();
    let mut inside = false;
    let mut part: Option<String> = None;
    let mut open = 0usize;
    loop {
        let event = reader
            .read_event()
            .map_err(|e| not_xml(format!("{e} at byte {}", reader.error_position())))?;
        let text = match event {
            Event::Start(tag) => {
                open += 1;
                let name = tag.local_name().as_ref().to_owned();
                if name == "requirement" {
                    requirements.push(Requirement::default());
                    inside = true;
                } else if inside && Requirement::default().part_mut(&name).is_some() {
                    part = Some(name);
                }
                continue;
            }
            Event::End(tag) => {
                open = open.saturating_sub(1);
                let name = tag.local_name().as_ref().to_owned();
                if name == "requirement" {
                    inside = false;
                }
                if part.as_deref() == Some(&name) {
                    part = None;
                }
                continue;
            }
            Event::Text(text) => text.to_string(),
            Event::CData(text) => text.to_string(),
            Event::GeneralRef(entity) => quick_xml::escape::unescape(&format!("&{};", &*entity))
                .map_err(|e| not_xml(e.to_string()))?
                .into_owned(),
            Event::Eof if open > 0 => return Err(not_xml("it ends inside an element".into())),
            Event::Eof => return Ok(requirements),
            _ => continue,
        };
        if let (Some(field), Some(requirement)) = (&part, requirements.last_mut())
            && let Some(slot) = requirement.part_mut(field)
        {
            slot.push_str(&text);
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
            contract: text.into(),
            acceptance: text.into(),
        }
    }

    #[test]
    fn round_trip_with_markup_in_the_text() {
        let document = Document::new(vec![
            requirement("a < b && c > \"d\" <b>&amp;</b>"),
            requirement("zwei"),
        ])
        .unwrap();
        assert_eq!(Document::parse(&document.to_xml()).unwrap(), document);
    }

    #[test]
    fn bad_documents_say_what_is_wrong() {
        let one = "<requirement><location>l</location><description>d</description>\
                   <contract>c</contract><acceptance>a</acceptance></requirement>";
        let check = |xml: &str, expect: &str| {
            let message = Document::parse(xml).unwrap_err().to_string();
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
            Document::parse(&format!("<requirements>{one}</requirements>"))
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
            Document::parse(&with("\u{8}")),
            Err(RequirementError::Missing {
                index: 1,
                field: "acceptance"
            })
        );
        // Escaping turns one byte into six.
        let long = format!("<![CDATA[{}]]>", "\"".repeat(100_000));
        assert!(matches!(
            Document::parse(&with(&long)),
            Err(RequirementError::TooLong(_))
        ));
    }

    proptest! {
        #[test]
        fn never_panics(text in ".{0,400}") {
            let _ = Document::parse(&text);
        }

        #[test]
        fn any_text_survives(text in "[^\\p{Cc}]{1,80}") {
            prop_assume!(!text.trim().is_empty());
            let document = Document::new(vec![requirement(text.trim())]).unwrap();
            prop_assert_eq!(Document::parse(&document.to_xml()).unwrap(), document);
        }
    }
}
