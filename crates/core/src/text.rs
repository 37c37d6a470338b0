//! Makes untrusted text safe to show.

use std::borrow::Cow;

/// The text with a visible mark in place of each character that would control
/// a terminal or change the writing direction.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            c if !is_hidden(c) => shown.push(c),
            // Unicode has a symbol for each of these.
            '\0'..='\x1f' => shown.extend(char::from_u32(0x2400 + u32::from(c))),
            '\x7f' => shown.push('\u{2421}'),
            c => shown.push_str(&format!("[U+{:04X}]", u32::from(c))),
        }
    }
    Cow::Owned(shown)
}

fn is_hidden(c: char) -> bool {
    let invisible = matches!(
        c,
        '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}'
    );
    invisible || (c.is_control() && !matches!(c, '\n' | '\t'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_shown_as_marks() {
        let check = |text: &str, expect: &str| assert_eq!(visible(text), expect);
        check("a\n\tb é", "a\n\tb é");
        check("\x1b[31mred\x07", "␛[31mred␇");
        check("a\0b\r\x7f", "a␀b␍␡");
        check("x\u{202e}y\u{200b}\u{85}", "x[U+202E]y[U+200B][U+0085]");
    }
}
