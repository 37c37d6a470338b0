//! Helpers for both kinds of XML.

use std::borrow::Cow;
use std::io;

use axum::http::header;
use axum::response::{IntoResponse, Response};
use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesText, Event};

use crate::problem::Problem;

/// A document in memory, to which writing cannot fail.
pub(super) type Xml = Writer<Vec<u8>>;

/// A document with its declaration.
pub(super) fn document(fill: impl FnOnce(&mut Xml) -> io::Result<()>) -> io::Result<Vec<u8>> {
    let mut xml = Writer::new_with_indent(Vec::new(), b' ', 2);
    xml.write_event(Event::Decl(BytesDecl::new("1.0", Some("utf-8"), None)))?;
    fill(&mut xml)?;
    Ok(xml.into_inner())
}

/// `<name>text</name>`
pub(super) fn element(xml: &mut Xml, name: &str, text: &str) -> io::Result<()> {
    let text = BytesText::new(&readable(text)).into_owned();
    xml.create_element(name).write_text_content(text)?;
    Ok(())
}

/// Removes the characters XML forbids in any form: a name with one of them
/// would make the whole document unreadable.
fn readable(text: &str) -> Cow<'_, str> {
    let allowed = |c: char| matches!(c, '\t' | '\n' | '\r' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..);
    if text.chars().all(allowed) {
        return Cow::Borrowed(text);
    }
    let instead = |c| if allowed(c) { c } else { '\u{fffd}' };
    Cow::Owned(text.chars().map(instead).collect())
}

pub(super) fn respond(media_type: &str, written: io::Result<Vec<u8>>) -> Response {
    match written {
        Ok(bytes) => {
            let content_type = format!("{media_type}; charset=utf-8");
            ([(header::CONTENT_TYPE, content_type)], bytes).into_response()
        }
        Err(error) => {
            tracing::error!(%error, "a feed could not be written");
            Problem::internal().into_response()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_escaped() {
        let check = |text: &str, expect: &str| {
            let written = document(|xml| element(xml, "n", text)).unwrap();
            let written = String::from_utf8(written).unwrap();
            let (_, content) = written.split_once("<n>").unwrap();
            assert_eq!(content, format!("{expect}</n>"), "{text:?}");
        };
        check("plain γ", "plain γ");
        check("a & <b>", "a &amp; &lt;b&gt;");
        check("]]>", "]]&gt;");
        check("a\0b\u{b}\u{fffe}", "a\u{fffd}b\u{fffd}\u{fffd}");
    }
}
