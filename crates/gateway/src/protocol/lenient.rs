//! JSON as it is met: halves of surrogate pairs, NaN and infinity, numbers without
//! bounds, a byte order mark.

use axum::body::Bytes;
use serde_json::Value;

/// `None` if it cannot be mended.
pub fn read_json(bytes: &[u8]) -> Option<Value> {
    let strict = serde_json::from_slice(bytes).ok();
    strict.or_else(|| serde_json::from_str(&mended(&String::from_utf8_lossy(bytes))).ok())
}

/// The bytes, or what everybody can read in their place.
pub fn readable(bytes: Vec<u8>) -> Vec<u8> {
    if serde_json::from_slice::<Value>(&bytes).is_ok() {
        return bytes;
    }
    let mended = mended(&String::from_utf8_lossy(&bytes));
    match serde_json::from_str::<Value>(&mended) {
        Ok(_) => mended.into_bytes(),
        Err(_) => bytes,
    }
}

/// The beginning of an answer without a byte order mark.
pub fn without_mark(piece: Bytes) -> Bytes {
    match piece.starts_with(b"\xef\xbb\xbf") {
        true => piece.slice(3..),
        false => piece,
    }
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
                    _ => mended.push_str(&rest[..taken]),
                }
            }
            '-' | '+' | '0'..='9' | 'N' | 'I' if !quoted => {
                let ends = |c: char| !c.is_ascii_alphanumeric() && !"+-.".contains(c);
                taken = rest.find(ends).unwrap_or(rest.len());
                let number = rest[..taken].parse::<f64>().is_ok_and(f64::is_finite);
                mended.push_str(if number { &rest[..taken] } else { "null" });
            }
            _ => mended.push(first),
        }
        rest = &rest[taken..];
    }
    mended
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
