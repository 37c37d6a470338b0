//! Decodes text of unknown encoding, and reads the tables of this crate.

use std::borrow::Cow;

/// Names, each with its values.
pub(crate) type Table = Vec<(String, Vec<&'static str>)>;

/// Reads lines of `values: names`, which all have one blank between them.
pub(crate) fn table(text: &'static str) -> Table {
    let lines = text.lines().filter_map(|line| line.trim().split_once(": "));
    let rows = lines.flat_map(|(values, names)| {
        let row = move |name: &str| (name.to_owned(), values.split(' ').collect());
        names.split(' ').map(row)
    });
    rows.collect()
}

/// Decodes UTF-16 with a byte order mark, else UTF-8, else Latin-1. The mark is
/// not part of the text. Never fails.
pub(crate) fn decoded(bytes: &[u8]) -> Cow<'_, str> {
    let wide = |rest: &[u8], unit: fn([u8; 2]) -> u16| {
        let pairs = rest.chunks_exact(2).map(|pair| unit([pair[0], pair[1]]));
        let text = char::decode_utf16(pairs).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER));
        Cow::Owned(text.collect())
    };
    match bytes {
        [0xff, 0xfe, rest @ ..] => wide(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => wide(rest, u16::from_be_bytes),
        _ => {
            let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
            match str::from_utf8(bytes) {
                Ok(text) => text.into(),
                Err(_) => bytes.iter().map(|byte| char::from(*byte)).collect(),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_encoding_is_some_text() {
        let check = |bytes: &[u8], expect: &str| assert_eq!(decoded(bytes), expect, "{bytes:?}");
        check(b"", "");
        check(b"caf\xc3\xa9", "café");
        check(b"caf\xe9", "café");
        check(b"\xef\xbb\xbfa", "a");
        check(b"\xff\xfea\0\xe9\0", "aé");
        check(b"\xfe\xff\0a\0\xe9!", "aé");
        check(b"\xff\xfe\0\xd8", "\u{fffd}");
        check(b"\xff", "ÿ");
    }
}
