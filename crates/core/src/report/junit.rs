//! Reports in JUnit's XML, which has no standard: test runners write dialects of
//! it. What they share is read: suites in suites, cases with a name and perhaps a
//! class, and within a case what kept it from passing.
//!
//! The code under test could have written the report. So nothing recurses, entities
//! are XML's own, and everything that grows has a limit.

use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};

use super::Outcome;
use super::written::{BadReport, Case, Cases};

/// The deepest nesting of elements.
const MAX_DEPTH: usize = 100;

/// Adds the cases of a report, which may hold several documents, one behind the other.
pub(super) fn read(text: &str, cases: &mut Cases) -> Result<(), BadReport> {
    let mut reader = Reader::from_str(text);
    let mut open: Vec<Element> = Vec::new();
    let mut has_root = false;
    loop {
        let at = reader.buffer_position();
        let line = || {
            1 + text.as_bytes()[..at as usize]
                .iter()
                .filter(|b| **b == b'\n')
                .count()
        };
        let event = reader.read_event();
        match event.map_err(|error| BadReport::Xml(line(), error.to_string()))? {
            Event::Start(tag) => {
                let element =
                    Element::of(&tag, &open).map_err(|why| BadReport::Xml(line(), why))?;
                has_root = true;
                open.push(element);
                if open.len() > MAX_DEPTH {
                    return Err(BadReport::Xml(
                        line(),
                        format!("elements are nested more than {MAX_DEPTH} deep"),
                    ));
                }
            }
            Event::Empty(tag) => {
                let element =
                    Element::of(&tag, &open).map_err(|why| BadReport::Xml(line(), why))?;
                has_root = true;
                element.close(&mut open, cases)?;
            }
            Event::End(_) => {
                if let Some(element) = open.pop() {
                    element.close(&mut open, cases)?;
                }
            }
            Event::Text(words) => add_text(&mut open, &words),
            Event::CData(words) => add_text(&mut open, &words),
            Event::GeneralRef(entity) => {
                let word = quick_xml::escape::unescape(&format!("&{};", &*entity))
                    .map_err(|error| BadReport::Xml(line(), error.to_string()))?
                    .into_owned();
                add_text(&mut open, &word);
            }
            Event::DocType(_) => {
                return Err(BadReport::Xml(
                    line(),
                    "a document type is not allowed".into(),
                ));
            }
            Event::Eof => match open.last() {
                Some(element) => {
                    return Err(BadReport::Xml(
                        line(),
                        format!("it ends within <{}>", element.tag),
                    ));
                }
                None if !has_root => {
                    return Err(BadReport::Xml(line(), "it has no element".into()));
                }
                None => return Ok(()),
            },
            Event::Comment(_) | Event::Decl(_) | Event::PI(_) => {}
        }
    }
}

/// An element whose end has not come.
struct Element {
    tag: String,
    kind: Kind,
    /// Its text, which may explain why its case did not pass.
    text: String,
}

enum Kind {
    Suites,
    /// With its name.
    Suite(String),
    Case(Case),
    /// Why a case did not pass, or, in a suite, what went wrong outside of cases.
    Problem(Outcome),
    /// Output of a case. It explains a failure that has no words of its own.
    Output,
    /// Properties, tries that did not count.
    Other,
}

impl Element {
    fn of(tag: &BytesStart<'_>, open: &[Self]) -> Result<Self, String> {
        let attribute = |name: &str| -> Result<String, String> {
            let found = tag
                .try_get_attribute(name)
                .map_err(|error| error.to_string())?;
            let value = found.map(|found| found.normalized_value(XmlVersion::Implicit1_0));
            let value = value.transpose().map_err(|error| error.to_string())?;
            Ok(value.unwrap_or_default().trim().to_owned())
        };
        let name = tag.local_name().as_ref().to_owned();
        let parent = open.last().map(|parent| &parent.kind);
        let within = matches!(parent, Some(Kind::Suite(_) | Kind::Suites | Kind::Case(_)));
        let kind = match (name.as_str(), parent) {
            ("testsuites", None) => Kind::Suites,
            ("testsuite", None | Some(Kind::Suites | Kind::Suite(_))) => {
                Kind::Suite(attribute("name")?)
            }
            ("testcase", Some(Kind::Suites | Kind::Suite(_))) => {
                let suites = open.iter().filter_map(|element| match &element.kind {
                    Kind::Suite(name) => Some(name.clone()),
                    _ => None,
                });
                let parts = suites.chain([attribute("classname")?, attribute("name")?]);
                // Dialects of C++ have no element for this.
                let is_skipped =
                    ["status", "result"]
                        .into_iter()
                        .try_fold(false, |skipped, name| {
                            let value = attribute(name)?;
                            Ok::<_, String>(
                                skipped
                                    || matches!(
                                        value.as_str(),
                                        "notrun" | "disabled" | "skipped" | "suppressed"
                                    ),
                            )
                        })?;
                let outcome = if is_skipped {
                    Outcome::Skipped
                } else {
                    Outcome::Passed
                };
                let seconds = attribute("time")?.replace(',', "").parse().unwrap_or(0.0);
                Kind::Case(Case::new(parts, outcome, seconds))
            }
            ("failure", _) if within => Kind::Problem(Outcome::Failed),
            ("error", _) if within => Kind::Problem(Outcome::Error),
            ("system-out" | "system-err", Some(Kind::Case(_))) => Kind::Output,
            ("skipped", Some(Kind::Case(_))) => Kind::Problem(Outcome::Skipped),
            (_, None) => return Err(format!("<{name}> is no element of JUnit's")),
            _ => Kind::Other,
        };
        let text = match kind {
            Kind::Problem(_) => attribute("message")?,
            _ => String::new(),
        };
        Ok(Self {
            tag: name,
            kind,
            text,
        })
    }

    /// Takes effect on what it stands in.
    fn close(self, open: &mut [Self], cases: &mut Cases) -> Result<(), BadReport> {
        match (self.kind, open.last_mut().map(|parent| &mut parent.kind)) {
            (Kind::Case(case), _) => cases.add(case),
            (Kind::Problem(outcome), Some(Kind::Case(case))) => {
                case.spoil(outcome, &self.text);
                Ok(())
            }
            (Kind::Output, Some(Kind::Case(case))) => {
                case.explain(&self.text);
                Ok(())
            }
            (Kind::Problem(outcome), Some(Kind::Suite(name))) => {
                let parts = [name.clone(), "outside of tests".into()];
                let mut case = Case::new(parts.into_iter(), Outcome::Passed, 0.0);
                case.spoil(outcome, &self.text);
                cases.add(case)
            }
            _ => Ok(()),
        }
    }
}

/// Text elsewhere says nothing.
fn add_text(open: &mut [Element], text: &str) {
    if let Some(Element {
        kind: Kind::Problem(_) | Kind::Output,
        text: said,
        ..
    }) = open.last_mut()
    {
        let text = text.trim_matches('\n');
        if text.starts_with(said.as_str()) {
            said.clear(); // the message again, and the rest
        } else if !said.is_empty() && !said.ends_with('\n') && text.len() > 1 {
            said.push('\n');
        }
        if said.len() < super::MESSAGE_LIMIT * 4 {
            said.push_str(text);
        }
    }
}
