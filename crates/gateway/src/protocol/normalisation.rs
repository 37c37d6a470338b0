//! Removes incidental differences from requests, so that a request can be
//! compared with a recorded one: ids, dates, durations, memory addresses.

use serde_json::Value;

/// Text that matches a shape is replaced with it. `#` is a digit, `@` a
/// hexadecimal digit, `+` and `*` are several of these, `M` is a month, a space
/// is one or more.
const SHAPES: [&str; 8] = [
    "@@@@@@@@-@@@@-@@@@-@@@@-@@@@@@@@@@@@",
    "####-##-##T##:##:##.+",
    "####-##-##T##:##:##",
    "####-##-##",
    "##:##:##",
    "M + ##:##",
    "+.+s",
    "0x*",
];

const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];

/// Lines that differ each time: the day in words, and a checksum of the account.
const LINES: [&str; 2] = ["oday's date", "x-anthropic-billing-header"];

/// `varying` are paths of fields to remove; `*` stands for each of a list.
pub fn normalised(mut body: Value, varying: &[&str]) -> Value {
    for path in varying {
        remove(&mut body, path);
    }
    blur(&mut body);
    body.sort_all_objects();
    body
}

fn remove(value: &mut Value, path: &str) {
    let (field, rest) = path.split_once('.').unwrap_or((path, ""));
    match value {
        Value::Array(items) if field == "*" => {
            for item in items {
                remove(item, rest);
            }
        }
        Value::Object(fields) if rest.is_empty() => {
            fields.remove(field);
        }
        Value::Object(fields) => {
            if let Some(value) = fields.get_mut(field) {
                remove(value, rest);
            }
        }
        _ => {}
    }
}

fn blur(value: &mut Value) {
    match value {
        Value::String(text) => *text = blurred(text),
        Value::Array(items) => items.iter_mut().for_each(blur),
        Value::Object(fields) => fields.values_mut().for_each(blur),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn blurred(text: &str) -> String {
    let mut blurred = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        match LINES.iter().find(|pattern| line.contains(**pattern)) {
            Some(pattern) => {
                blurred.push_str(pattern);
                blurred.push('\n');
            }
            None => blur_line(line, &mut blurred),
        }
    }
    blurred
}

fn blur_line(line: &str, into: &mut String) {
    let mut rest = line;
    let mut in_word = false;
    while let Some(next) = rest.chars().next() {
        let found = SHAPES
            .iter()
            .filter(|_| !in_word)
            .find_map(|shape| Some((shape, matched_length(shape, rest.as_bytes())?)));
        let length = match found {
            Some((shape, length)) => {
                into.push_str(shape);
                length
            }
            None => {
                into.push(next);
                next.len_utf8()
            }
        };
        in_word = found.is_some() || next.is_alphanumeric();
        rest = &rest[length..];
    }
}

/// How many bytes at the beginning of `text` match this shape. Only whole words
/// match, except for the `Z` after a time.
fn matched_length(shape: &str, text: &[u8]) -> Option<usize> {
    let mut at = 0;
    for symbol in shape.bytes() {
        let rest = &text[at..];
        let one = |fits: fn(&u8) -> bool| usize::from(rest.first().is_some_and(fits));
        let run = |fits: fn(&u8) -> bool| rest.iter().take_while(|&byte| fits(byte)).count();
        let length = match symbol {
            b'#' => one(u8::is_ascii_digit),
            b'@' => one(u8::is_ascii_hexdigit),
            b'+' => run(u8::is_ascii_digit),
            b'*' => run(u8::is_ascii_hexdigit),
            b' ' => run(|&byte| byte == b' '),
            b'M' => MONTHS
                .iter()
                .find(|month| rest.starts_with(month.as_bytes()))
                .map_or(0, |month| month.len()),
            literal => usize::from(rest.first() == Some(&literal)),
        };
        if length == 0 {
            return None;
        }
        at += length;
    }
    let continues = |byte: &u8| byte.is_ascii_alphanumeric() && *byte != b'Z';
    (!text.get(at).is_some_and(continues)).then_some(at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_varying_text_is_blurred() {
        let check = |text: &str, expect: &str| assert_eq!(blurred(text), expect, "{text}");
        let id = "@@@@@@@@-@@@@-@@@@-@@@@-@@@@@@@@@@@@";
        check(
            "/tmp/0198f2a1-7b3c-7def-8123-456789abcdef/scratch",
            &format!("/tmp/{id}/scratch"),
        );
        check("2026-11-21T18:50:03Z", "####-##-##T##:##:##Z");
        check("2026-11-21T18:50:03.123456 x", "####-##-##T##:##:##.+ x");
        check("2026-11-21 18:50:03.", "####-##-## ##:##:##.");
        check("== 3 passed in 0.12s ==", "== 3 passed in +.+s ==");
        check("<Box at 0x7f31c0de>", "<Box at 0x*>");
        check("root 12 Nov  9 18:50 a.py", "root 12 M + ##:## a.py");
        check("a\nToday's date: Sat Nov 21 2026\nb", "a\noday's date\nb");
        for same in [
            "1.2.3",
            "v0.12s",
            "a2026-11-21",
            "2026-11-211",
            "12:34",
            "x = 0x",
            "1.5",
            "Nov",
            "M + ##:##",
            "ä0.5sä",
            "",
            "MM + 1",
            "src/a.py:10:15",
        ] {
            check(same, same);
        }
    }

    #[test]
    fn fields_at_the_path_are_removed() {
        let check = |path: &str, expect: Value| {
            let body = json!({"a": [{"id": 1, "b": {"id": 2}}, 3, {"b": [4]}], "id": 5});
            assert_eq!(normalised(body, &[path]), expect);
        };
        check(
            "id",
            json!({"a": [{"id": 1, "b": {"id": 2}}, 3, {"b": [4]}]}),
        );
        check(
            "a.*.id",
            json!({"a": [{"b": {"id": 2}}, 3, {"b": [4]}], "id": 5}),
        );
        check(
            "a.*.b.id",
            json!({"a": [{"id": 1, "b": {}}, 3, {"b": [4]}], "id": 5}),
        );
        check("a.*.b", json!({"a": [{"id": 1}, 3, {}], "id": 5}));
        check(
            "none.*.x",
            json!({"a": [{"id": 1, "b": {"id": 2}}, 3, {"b": [4]}], "id": 5}),
        );
    }
}
