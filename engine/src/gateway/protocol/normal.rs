//! Requests without what varies from run to run for no reason: ids, dates, how
//! long a command took, where an object lay in memory.

use serde_json::Value;

/// What is written in place of whatever looks like it: `#` is a digit, `@` one
/// of a hexadecimal number, `+` and `*` are several of these, `M` is a month,
/// a space is one or more.
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

/// Lines that harnesses write anew each time: the day in words, and a check sum
/// over the account.
const LINES: [&str; 2] = ["oday's date", "x-anthropic-billing-header"];

/// `varying` are paths of fields; a `*` in them stands for each of a list.
pub fn normalised(mut body: Value, varying: &[&str]) -> Value {
    for path in varying {
        remove(&mut body, path);
    }
    blur(&mut body);
    body.sort_all_objects();
    body
}

fn remove(value: &mut Value, path: &str) {
    let (step, rest) = path.split_once('.').unwrap_or((path, ""));
    match value {
        Value::Array(items) if step == "*" => {
            for item in items {
                remove(item, rest);
            }
        }
        Value::Object(fields) if rest.is_empty() => {
            fields.remove(step);
        }
        Value::Object(fields) => {
            if let Some(value) = fields.get_mut(step) {
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
        match LINES.iter().find(|mark| line.contains(**mark)) {
            Some(mark) => {
                blurred.push_str(mark);
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
            .find_map(|shape| Some((shape, taken(shape, rest.as_bytes())?)));
        let taken = match found {
            Some((shape, taken)) => {
                into.push_str(shape);
                taken
            }
            None => {
                into.push(next);
                next.len_utf8()
            }
        };
        in_word = found.is_some() || next.is_alphanumeric();
        rest = &rest[taken..];
    }
}

/// How many bytes at the beginning of `text` have this shape; only whole words
/// do, but for the `Z` of a time.
fn taken(shape: &str, text: &[u8]) -> Option<usize> {
    let mut at = 0;
    for sign in shape.bytes() {
        let rest = &text[at..];
        let one = |fits: fn(&u8) -> bool| usize::from(rest.first().is_some_and(fits));
        let run = |fits: fn(&u8) -> bool| rest.iter().take_while(|&byte| fits(byte)).count();
        let step = match sign {
            b'#' => one(u8::is_ascii_digit),
            b'@' => one(u8::is_ascii_hexdigit),
            b'+' => run(u8::is_ascii_digit),
            b'*' => run(u8::is_ascii_hexdigit),
            b' ' => run(|&byte| byte == b' '),
            b'M' => MONTHS
                .iter()
                .find(|month| rest.starts_with(month.as_bytes()))
                .map_or(0, |month| month.len()),
            sign => usize::from(rest.first() == Some(&sign)),
        };
        if step == 0 {
            return None;
        }
        at += step;
    }
    let goes_on = |byte: &u8| byte.is_ascii_alphanumeric() && *byte != b'Z';
    (!text.get(at).is_some_and(goes_on)).then_some(at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_varies_is_blurred_and_nothing_else() {
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
        for kept in [
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
            check(kept, kept);
        }
    }

    #[test]
    fn fields_are_taken_out_where_the_path_leads() {
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
