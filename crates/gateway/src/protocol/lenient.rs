//! JSON as it is met: halves of surrogate pairs, control characters, escapes of other
//! languages, numbers in other forms or without bounds, any depth.

use std::borrow::Cow;

use serde_json::{Number, Value};

/// Levels of nesting that are read. Parsers refuse more than 128, and a value stands
/// in others.
const MAX_DEPTH: usize = 100;
/// Stands for a part below them.
const TOO_DEEP: &str = r#""[nested too deeply to be shown]""#;

/// Reads JSON as models and providers write it; `None` if it cannot be mended.
pub fn read_json(bytes: &[u8]) -> Option<Value> {
    let strict = serde_json::from_slice(bytes).ok();
    strict.or_else(|| read_mended(&mended(&String::from_utf8_lossy(bytes))))
}

fn read_mended(text: &str) -> Option<Value> {
    serde_json::from_str(&shallow(text)).ok()
}

/// The text of a value without the parts below [`MAX_DEPTH`].
pub fn shallow(text: &str) -> Cow<'_, str> {
    let (mut depth, mut quoted, mut escaped) = (0_usize, false, false);
    // The end of what was taken, and where the present part below begins.
    let (mut shallow, mut taken, mut below) = (String::new(), 0, None);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            _ if quoted => {}
            b'{' | b'[' => {
                depth += 1;
                if depth > MAX_DEPTH {
                    below.get_or_insert(at);
                }
            }
            b'}' | b']' => {
                if depth == MAX_DEPTH + 1
                    && let Some(begin) = below.take()
                {
                    shallow.push_str(&text[taken..begin]);
                    shallow.push_str(TOO_DEEP);
                    taken = at + 1;
                }
                depth = depth.saturating_sub(1);
            }
            _ => {}
        }
    }
    match taken {
        0 => text.into(),
        _ => (shallow + &text[taken..]).into(),
    }
}

/// The bytes, or what everybody can read in their place.
pub fn readable(bytes: Vec<u8>) -> Vec<u8> {
    if serde_json::from_slice::<Value>(&bytes).is_ok() {
        return bytes;
    }
    let mended = mended(&String::from_utf8_lossy(&bytes));
    match read_mended(&mended) {
        Some(_) => mended.into_bytes(),
        None => bytes,
    }
}

/// The events of an answer that is a list of what a stream would have told.
pub fn events_of_list(bytes: &[u8]) -> Option<Vec<u8>> {
    let Some(Value::Array(parts)) = read_json(bytes) else {
        return None;
    };
    let events = parts.iter().map(|part| format!("data: {part}\n\n"));
    Some(events.collect::<String>().into_bytes())
}

/// Halves of pairs become U+FFFD; what is no number becomes null.
pub fn mended(text: &str) -> String {
    let (mut mended, mut rest, mut quoted) = (String::with_capacity(text.len()), text, false);
    while let Some(first) = rest.chars().next() {
        let mut taken = first.len_utf8();
        match first {
            '"' => {
                quoted = !quoted;
                mended.push('"');
            }
            '\\' if quoted => {
                taken = escape_len(rest);
                match surrogate(rest) {
                    Some(0xd800..0xdc00) if is_low(&rest[taken..]) => {
                        taken += 6;
                        mended.push_str(&rest[..taken]);
                    }
                    Some(0xd800..0xe000) => mended.push('\u{fffd}'),
                    None if !is_escape(&rest[..taken]) => {
                        taken = 1;
                        mended.push_str(r"\\");
                    }
                    _ => mended.push_str(&rest[..taken]),
                }
            }
            '\0'..' ' if quoted => mended.push_str(&format!("\\u{:04x}", u32::from(first))),
            '-' | '+' | '.' | '0'..='9' | 'N' | 'I' if !quoted => {
                let ends = |c: char| !c.is_ascii_alphanumeric() && !"+-.".contains(c);
                taken = rest.find(ends).unwrap_or(rest.len());
                mended.push_str(&number(&rest[..taken]));
            }
            _ => mended.push(first),
        }
        rest = &rest[taken..];
    }
    mended
}

/// As JSON writes it; some write `+1`, `01` or `.5`.
fn number(text: &str) -> String {
    let strict = serde_json::from_str::<Number>(text).map(|_| text.to_owned());
    let whole = || text.parse::<i64>().ok().map(|n| n.to_string());
    let finite = || Number::from_f64(text.parse().ok()?).map(|n| n.to_string());
    let found = strict.ok().or_else(whole).or_else(finite);
    found.unwrap_or_else(|| "null".to_owned())
}

fn is_escape(text: &str) -> bool {
    matches!(
        text.as_bytes(),
        [_, b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't']
    ) || surrogate(text).is_some()
}

/// The bytes of the escape that a text begins with.
fn escape_len(text: &str) -> usize {
    let len = if text[1..].starts_with('u') { 6 } else { 2 };
    text.ceil_char_boundary(len).min(text.len())
}

/// The code unit of `\uXXXX` at the beginning.
fn surrogate(text: &str) -> Option<u32> {
    u32::from_str_radix(text.strip_prefix("\\u")?.get(..4)?, 16).ok()
}

fn is_low(text: &str) -> bool {
    surrogate(text).is_some_and(|unit| (0xdc00..0xe000).contains(&unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_parts_below_the_limit_are_left_out() {
        let nested = |depth: usize, inside: &str| {
            format!("{}{inside}{}", "[".repeat(depth), "]".repeat(depth))
        };
        for whole in [r#"{"a":"[[","b":"\"]"}"#, "", "]]", &nested(100, "1")] {
            assert_eq!(shallow(whole), whole);
        }
        let deep = format!(r#"{{"a":{},"b":"\\"}}"#, nested(50_000, r#""]""#));
        let expect = format!(r#"{{"a":{},"b":"\\"}}"#, nested(99, TOO_DEEP));
        assert_eq!(shallow(&deep), expect);
        assert_eq!(read_json(deep.as_bytes()).unwrap()["b"], "\\");
        assert_eq!(readable(deep.clone().into_bytes()), deep.into_bytes());
        // Unfinished, and so no JSON.
        assert_eq!(read_json("[".repeat(200).as_bytes()), None);
    }
}
