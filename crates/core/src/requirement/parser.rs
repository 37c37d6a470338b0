//! Parses the XML of a requirement document into the texts of its parts.

use std::collections::BTreeMap;

use quick_xml::Reader;
use quick_xml::events::Event;

use super::{Expectation, Mode, Requirement, RequirementError};

/// The elements with text, of all modes.
const FIELDS: [&str; 5] = [
    "location",
    "description",
    "contract",
    "acceptance",
    "specification",
];

/// The texts of one requirement.
#[derive(Debug, Default)]
pub(super) struct Fields(BTreeMap<&'static str, Field>);

#[derive(Debug)]
struct Field {
    /// Where it begins in the XML.
    byte: usize,
    text: String,
}

impl Fields {
    pub fn has(&self, field: &str) -> bool {
        self.0.contains_key(field)
    }

    /// The parts that the mode has; missing ones are empty.
    pub fn requirement(mut self, mode: Mode) -> Requirement {
        let mut text = |field| self.0.remove(field).map_or_else(String::new, |f| f.text);
        Requirement {
            location: text("location"),
            description: text("description"),
            expectation: match mode {
                Mode::Tdd | Mode::Impossible => Expectation::Tested {
                    contract: text("contract"),
                    acceptance: text("acceptance"),
                },
                Mode::Rdd => Expectation::Specified {
                    specification: text("specification"),
                },
            },
        }
    }

    /// The texts with the byte at which each begins, in the document's order.
    pub fn texts(&self) -> impl Iterator<Item = (usize, &str)> {
        let mut fields: Vec<&Field> = self.0.values().collect();
        fields.sort_by_key(|field| field.byte);
        let texts = fields.into_iter();
        texts.map(|field| (field.byte, field.text.as_str()))
    }
}

/// Walks the document once. Text belongs to the innermost known part around it;
/// unknown elements are ignored, but their text counts. The only entities are
/// XML's own five and character references, so an expansion attack is
/// impossible.
pub(super) fn parse(xml: &str) -> Result<Vec<Fields>, RequirementError> {
    let not_xml = |message: String| RequirementError::NotXml(message);
    let mut reader = Reader::from_str(xml);
    let mut requirements: Vec<Fields> = Vec::new();
    let mut inside = false;
    let mut part: Option<&'static str> = None;
    let mut open = 0usize;
    loop {
        let event = reader
            .read_event()
            .map_err(|e| not_xml(format!("{e} at byte {}", reader.error_position())))?;
        let text = match event {
            Event::Start(tag) => {
                open += 1;
                let name = tag.local_name();
                let field = FIELDS.into_iter().find(|field| *field == name.as_ref());
                if name.as_ref() == "requirement" {
                    requirements.push(Fields::default());
                    inside = true;
                } else if inside && field.is_some() {
                    part = field;
                }
                continue;
            }
            Event::End(tag) => {
                open = open.saturating_sub(1);
                let name = tag.local_name();
                if name.as_ref() == "requirement" {
                    inside = false;
                }
                if part == Some(name.as_ref()) {
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
        if let (Some(part), Some(Fields(fields))) = (part, requirements.last_mut()) {
            let end = usize::try_from(reader.buffer_position()).unwrap_or(usize::MAX);
            let byte = end.saturating_sub(text.len());
            let field = fields.entry(part).or_insert_with(|| Field {
                byte,
                text: String::new(),
            });
            field.text.push_str(&text);
        }
    }
}
