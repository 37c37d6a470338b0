//! JSON bodies: an object, and in plain words where it is not what it should be.

use axum::http::{HeaderMap, header};
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::error::Category;

use crate::problem::Problem;

/// The largest number of characters of a body that an error repeats.
const MAX_SHOWN: usize = 300;

/// Whether the sender says that the body is JSON. A page of another site cannot say
/// so without being asked first.
pub(crate) fn is_announced(headers: &HeaderMap) -> bool {
    let given = headers.get(header::CONTENT_TYPE);
    let given = given.and_then(|given| given.to_str().ok());
    let media_type = given.unwrap_or_default().split(';').next();
    let media_type = media_type.unwrap_or_default().trim().to_ascii_lowercase();
    let Some(kind) = media_type.strip_prefix("application/") else {
        return false;
    };
    kind == "json" || kind.ends_with("+json")
}

/// A JSON object parsed as `T`.
pub(crate) fn read<T: DeserializeOwned>(body: &[u8]) -> Result<T, Problem> {
    // Arrays would count as objects without names.
    if !body.trim_ascii_start().starts_with(b"{") {
        return Err(match serde_json::from_slice::<IgnoredAny>(body) {
            Ok(_) => Problem::unreadable("the body must be a JSON object, `{…}`".to_owned()),
            Err(error) => no_json(&error),
        });
    }
    let mut reader = serde_json::Deserializer::from_slice(body);
    let read = serde_path_to_error::deserialize(&mut reader).map_err(|error| {
        let path = error.path().to_string();
        let error = error.into_inner();
        match error.classify() {
            Category::Data => misplaced(&path, &error),
            Category::Io | Category::Syntax | Category::Eof => no_json(&error),
        }
    })?;
    reader.end().map_err(|error| no_json(&error))?;
    Ok(read)
}

fn no_json(error: &serde_json::Error) -> Problem {
    Problem::unreadable(format!("the body is not JSON: {error}"))
}

fn misplaced(path: &str, error: &serde_json::Error) -> Problem {
    let message = error.to_string();
    let position = format!(" at line {} column {}", error.line(), error.column());
    let message = message.strip_suffix(&position).unwrap_or(&message);
    let missing = message
        .strip_prefix("missing field `")
        .and_then(|name| name.strip_suffix('`'));
    match (path, missing) {
        (".", None) => Problem::unreadable(shown(&in_plain_words(message))),
        (".", Some(name)) => Problem::in_body(&shown(name), "it is missing"),
        (path, None) => Problem::in_body(&shown(path), &shown(&in_plain_words(message))),
        (path, Some(name)) => Problem::in_body(&shown(&format!("{path}.{name}")), "it is missing"),
    }
}

/// Without the names of this program's types.
fn in_plain_words(message: &str) -> String {
    let Some((found, expected)) = message.rsplit_once(", expected ") else {
        return message.to_owned();
    };
    let expected = match expected {
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number from 0",
        "i8" | "i16" | "i32" | "i64" | "isize" => "a whole number",
        "f32" | "f64" => "a number",
        "a sequence" => "an array",
        "a map" => "an object",
        of_type if of_type.starts_with("struct ") => "an object",
        of_type if of_type.starts_with("internally tagged enum ") => "an object",
        words => words,
    };
    format!("{found}, expected {expected}")
}

fn shown(text: &str) -> String {
    text.chars().take(MAX_SHOWN).collect()
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Outer {
        count: u32,
        inner: Option<Inner>,
        #[serde(default)]
        list: Vec<String>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Inner {
        name: String,
    }

    #[test]
    fn errors_name_the_place() {
        let check = |body: &str, parameter: Option<&str>, expect: &str| {
            let problem = read::<Outer>(body.as_bytes()).unwrap_err();
            assert_eq!(problem.named(), (parameter, expect), "{body}");
        };
        let object = "the body must be a JSON object, `{…}`";
        check("[1, null, []]", None, object);
        check("5", None, object);
        let empty = "the body is not JSON: EOF while parsing a value at line 1 column 0";
        check("", None, empty);
        let cut = "the body is not JSON: EOF while parsing an object at line 1 column 1";
        check("{", None, cut);
        let more = "the body is not JSON: trailing characters at line 1 column 14";
        check(r#"{"count": 1} {}"#, None, more);
        check("{}", Some("count"), "`count`: it is missing");
        check(
            r#"{"count": 1, "inner": {}}"#,
            Some("inner.name"),
            "`inner.name`: it is missing",
        );
        check(
            r#"{"count": 1, "inner": "x"}"#,
            Some("inner"),
            "`inner`: invalid type: string \"x\", expected an object",
        );
        check(
            r#"{"count": -1}"#,
            Some("count"),
            "`count`: invalid value: integer `-1`, expected a whole number from 0",
        );
        check(
            r#"{"count": 1, "list": ["a", 5]}"#,
            Some("list[1]"),
            "`list[1]`: invalid type: integer `5`, expected a string",
        );
        check(
            r#"{"kind": 1}"#,
            Some("kind"),
            "`kind`: unknown field `kind`, expected one of `count`, `inner`, `list`",
        );
        let read: Outer = read(br#" {"count": 1, "inner": {"name": "a"}} "#).unwrap();
        assert_eq!((read.count, read.list.len()), (1, 0));
        assert_eq!(read.inner.unwrap().name, "a");
    }

    #[test]
    fn media_types_of_json() {
        let check = |given: Option<&'static str>, expect: bool| {
            let mut headers = HeaderMap::new();
            if let Some(given) = given {
                headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(given));
            }
            assert_eq!(is_announced(&headers), expect, "{given:?}");
        };
        check(Some("application/json"), true);
        check(Some("Application/JSON; charset=utf-8"), true);
        check(Some("application/merge-patch+json"), true);
        check(Some("text/plain"), false);
        check(Some("application/x-www-form-urlencoded"), false);
        check(None, false);
    }
}
