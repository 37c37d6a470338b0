//! Lines of text of approximate width. The picture is drawn without its final
//! font, so widths are those of a wide face: a line may end early but does not
//! overflow.

use crate::canvas::{Lettering, PLAIN};
use crate::format;

/// The width of plain letters beside bold ones.
const FACE: f64 = 0.95;

/// At most this many lines, broken between words if possible; the last ends in
/// an ellipsis if the text was cut.
pub(crate) fn fit(text: &str, lettering: Lettering, width: f64, lines: usize) -> Vec<String> {
    let face = if lettering.bold { 1.0 } else { FACE };
    let most = width / (lettering.size * face);
    let mut fitted: Vec<String> = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() && fitted.len() < lines {
        if breadth(rest) <= most {
            fitted.push(rest.to_owned());
            break;
        }
        let whole = characters(rest, most);
        if fitted.len() + 1 == lines {
            fitted.push(format::clip(rest, whole.max(1)));
            break;
        }
        let (line, after) = rest.split_at(break_at(rest, whole.max(1)));
        fitted.push(line.trim_end().to_owned());
        rest = after.trim_start();
    }
    fitted
}

/// A text of plain letters, cut to this many pixels. The font of a browser may be
/// as wide as bold letters are here.
pub(crate) fn line(text: &str, room: f64) -> String {
    fit(text, PLAIN, room * FACE, 1).pop().unwrap_or_default()
}

/// The width of plain letters, in pixels.
pub(crate) fn width(text: &str) -> f64 {
    breadth(text) * PLAIN.size * FACE
}

/// How many characters fit, in ems.
fn characters(text: &str, most: f64) -> usize {
    let mut so_far = 0.0;
    text.chars()
        .take_while(|c| {
            so_far += em(*c);
            so_far <= most
        })
        .count()
}

/// Where a line of this many characters ends, in bytes: at the last space, else
/// after the last character that joins names, else anywhere.
fn break_at(text: &str, characters: usize) -> usize {
    let end = text
        .char_indices()
        .nth(characters)
        .map_or(text.len(), |(at, _)| at);
    let line = &text[..end];
    let next = text[end..].chars().next();
    // Not at a no-break space.
    if next.is_none_or(|c| c == ' ') {
        return end;
    }
    // A break that leaves most of the line empty is worse than one within a
    // word.
    let far = |at: &usize| *at * 3 >= end;
    let space = line.rfind(' ').filter(far);
    let joint = || {
        let at = line.rfind(['-', '/', '_', '.', ':', ','])?;
        Some(at + 1).filter(far)
    };
    space.or_else(joint).unwrap_or(end)
}

/// The width of a text, in ems.
fn breadth(text: &str) -> f64 {
    text.chars().map(em).sum()
}

/// The width of a character in a bold, wide face.
fn em(c: char) -> f64 {
    match c {
        ' ' | '\u{a0}' | '\u{202f}' => 0.28,
        'i' | 'j' | 'l' | 'I' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' | '·' => 0.31,
        'f' | 'r' | 't' | '(' | ')' | '[' | ']' | '/' | '-' | '"' => 0.43,
        'm' | 'M' | 'w' | 'W' | '@' | '%' | '…' | '—' => 0.98,
        'a'..='z' => 0.63,
        '0'..='9' | '_' | '?' | '*' | '–' | '−' => 0.69,
        ' '..='~' => 0.77,
        '\u{a1}'..='\u{24f}' | '\u{370}'..='\u{4ff}' => 0.82,
        // Characters the font may lack appear as a box.
        _ => 1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str, ems: f64, lines: usize) -> Vec<String> {
        fit(text, Lettering::of(10.0).bold(), ems * 10.0, lines)
    }

    #[test]
    fn between_words() {
        assert_eq!(lines("one two three", 20.0, 3), ["one two three"]);
        assert_eq!(lines("one two three", 5.0, 3), ["one two", "three"]);
        assert_eq!(lines("one two three four", 5.0, 1), ["one two…"]);
        assert_eq!(lines("one 95\u{a0}%", 4.0, 3), ["one", "95\u{a0}%"]);
        assert_eq!(lines("  ", 5.0, 3), Vec::<String>::new());
        assert_eq!(lines("one", 5.0, 0), Vec::<String>::new());
    }

    #[test]
    fn long_names_break_at_their_joints_or_anywhere() {
        assert_eq!(
            lines("sqlparse-0.4.4-0.5.3", 8.0, 3),
            ["sqlparse-0.4.", "4-0.5.3"]
        );
        let long = "x".repeat(100);
        let wrapped = lines(&long, 7.0, 2);
        assert_eq!(wrapped.len(), 2);
        assert!(wrapped.iter().all(|line| breadth(line) <= 7.0 + 1.0));
        assert!(wrapped[1].ends_with('…'));
    }

    #[test]
    fn any_script() {
        let wrapped = lines("漢字".repeat(40).as_str(), 10.0, 2);
        assert_eq!(wrapped[0].chars().count(), 10);
        assert_eq!(wrapped.len(), 2);
    }

    #[test]
    fn a_name_keeps_to_its_room() {
        assert_eq!(line("short", 200.0), "short");
        for name in ["W".repeat(30), "illicit millilitres, still".repeat(2)] {
            let cut = line(&name, 100.0);
            assert!(cut.ends_with('…') && width(&cut) <= 106.0, "{cut}");
        }
    }

    /// Terminates for every width.
    #[test]
    fn no_room() {
        assert_eq!(lines("wide", 0.1, 2), ["w", "…"]);
    }
}
