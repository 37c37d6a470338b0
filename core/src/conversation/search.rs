//! Looking for a text, and showing what cannot be seen.

use std::borrow::Cow;
use std::ops::Range;

/// Where `q` occurs in `text`, whatever the case of either; one after the
/// other, none inside another. An empty `q` occurs nowhere.
pub fn hits<'a>(text: &'a str, q: &'a str) -> impl Iterator<Item = Range<usize>> + 'a {
    let mut from = 0;
    std::iter::from_fn(move || {
        let hit = next_hit(text, q, from)?;
        from = hit.end;
        Some(hit)
    })
}

fn next_hit(text: &str, q: &str, from: usize) -> Option<Range<usize>> {
    if q.is_ascii() {
        return next_plain(text.as_bytes(), q.as_bytes(), from);
    }
    let mut starts = text[from..].char_indices().map(|(at, _)| from + at);
    starts.find_map(|start| Some(start..start + length_of_hit(&text[start..], q)?))
}

/// Bytes of ASCII stand for themselves wherever they are, so letters beside
/// them need not be read.
fn next_plain(text: &[u8], q: &[u8], from: usize) -> Option<Range<usize>> {
    let first = q.first()?;
    let last = text.len().checked_sub(q.len())?;
    let (small, large) = (first.to_ascii_lowercase(), first.to_ascii_uppercase());
    let mut at = from;
    while at <= last {
        let rest = &text[at..=last];
        at += rest.iter().position(|b| *b == small || *b == large)?;
        if text[at..at + q.len()].eq_ignore_ascii_case(q) {
            return Some(at..at + q.len());
        }
        at += 1;
    }
    None
}

/// How many bytes of `text` are `q`, when it begins with it.
fn length_of_hit(text: &str, q: &str) -> Option<usize> {
    let mut wanted = q.chars().flat_map(char::to_lowercase);
    let mut next = wanted.next()?;
    for (at, c) in text.char_indices() {
        for small in c.to_lowercase() {
            if small != next {
                return None;
            }
            match wanted.next() {
                Some(c) => next = c,
                None => return Some(at + c.len_utf8()),
            }
        }
    }
    None
}

/// A text in which what steers a terminal or turns the direction of writing is
/// a mark that can be seen, instead of doing it.
#[must_use]
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            c if !is_hidden(c) => shown.push(c),
            // Unicode has a picture for each of these.
            '\0'..='\x1f' => shown.extend(char::from_u32(0x2400 + u32::from(c))),
            '\x7f' => shown.push('\u{2421}'),
            c => shown.push_str(&format!("[U+{:04X}]", u32::from(c))),
        }
    }
    Cow::Owned(shown)
}

fn is_hidden(c: char) -> bool {
    let turns_or_hides = matches!(
        c,
        '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}'
    );
    turns_or_hides || (c.is_control() && !matches!(c, '\n' | '\t'))
}
