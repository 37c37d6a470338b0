//! Case-insensitive search in a transcript.

use std::ops::Range;

/// The occurrences of `q` in `text`, ignoring case, in order and without
/// overlap. An empty `q` has none.
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
        return next_ascii_hit(text.as_bytes(), q.as_bytes(), from);
    }
    let mut starts = text[from..].char_indices().map(|(at, _)| from + at);
    starts.find_map(|start| Some(start..start + length_of_hit(&text[start..], q)?))
}

/// The next hit of an ASCII text. An ASCII byte is always a whole character in
/// UTF-8, so it can compare bytes.
fn next_ascii_hit(text: &[u8], q: &[u8], from: usize) -> Option<Range<usize>> {
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

/// The number of bytes of `text` that match `q`, if it starts with `q`.
fn length_of_hit(text: &str, q: &str) -> Option<usize> {
    let mut expected = q.chars().flat_map(char::to_lowercase);
    let mut next = expected.next()?;
    for (at, c) in text.char_indices() {
        for small in c.to_lowercase() {
            if small != next {
                return None;
            }
            match expected.next() {
                Some(c) => next = c,
                None => return Some(at + c.len_utf8()),
            }
        }
    }
    None
}
