//! Splits the hunks of a file into lines for a page: with the line numbers of
//! both sides, the changed words, the syntax, and visible control characters.

use super::tokens::{Coloured, Token};
use crate::text::visible;

const MAX_LINE: usize = 1_000;

/// The changed words within the lines of hunks: ranges of bytes of their text,
/// in order.
pub type Words = Vec<(u32, u32)>;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hunk {
    /// `@@ -1,3 +1,4 @@`
    pub head: String,
    pub lines: Vec<Line>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    pub sign: Sign,
    /// Its number before and after, from 1; none on the side without it.
    pub old: Option<u32>,
    pub new: Option<u32>,
    pub pieces: Vec<Piece>,
    /// Omitted characters of a line that is too long.
    pub more: u32,
    /// It is the last line of the file and has no newline.
    pub unended: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sign {
    Added,
    Removed,
    Same,
}

/// Part of a line, with visible marks for control characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    pub text: String,
    pub marked: bool,
    /// Its syntax; none without a colour.
    pub token: Option<Token>,
}

/// An old line and its replacement; either may be missing.
pub type Pair<'a> = (Option<&'a Line>, Option<&'a Line>);

/// The hunks of [`super::Body::Text`].
pub fn hunks(text: &str, words: &[(u32, u32)], tokens: &[Coloured]) -> Vec<Hunk> {
    let mut hunks: Vec<Hunk> = Vec::new();
    let (mut old, mut new) = (0, 0);
    let mut start = 0;
    for ended in text.split_inclusive('\n') {
        let at = start;
        start += ended.len();
        let line = ended.strip_suffix('\n').unwrap_or(ended);
        let sign = match line.bytes().next() {
            Some(b'@') => {
                (old, new) = start_lines(line);
                hunks.push(Hunk {
                    head: line.to_owned(),
                    lines: Vec::new(),
                });
                continue;
            }
            Some(b'+') => Sign::Added,
            Some(b'-') => Sign::Removed,
            Some(b' ') => Sign::Same,
            _ => {
                let last = hunks.last_mut().and_then(|hunk| hunk.lines.last_mut());
                if let Some(last) = last {
                    last.unended = true;
                }
                continue;
            }
        };
        let (pieces, more) = pieces(&line[1..], at + 1, words, tokens);
        let line = Line {
            sign,
            old: (sign != Sign::Added).then(|| take_number(&mut old)),
            new: (sign != Sign::Removed).then(|| take_number(&mut new)),
            pieces,
            more,
            unended: false,
        };
        if let Some(hunk) = hunks.last_mut() {
            hunk.lines.push(line);
        }
    }
    hunks
}

fn take_number(next: &mut u32) -> u32 {
    let number = *next;
    *next = number.saturating_add(1);
    number
}

/// The first line numbers of a hunk on both sides, from its head.
fn start_lines(head: &str) -> (u32, u32) {
    let mut words = head.split(' ').skip(1);
    let mut start = || {
        let range = words.next()?.get(1..)?;
        range.split(',').next()?.parse().ok()
    };
    (start().unwrap_or(0), start().unwrap_or(0))
}

/// The pieces of a line that starts at byte `at` of the hunks, and the number
/// of omitted characters.
fn pieces(line: &str, at: usize, words: &[(u32, u32)], tokens: &[Coloured]) -> (Vec<Piece>, u32) {
    let cut = line.char_indices().nth(MAX_LINE).map(|(end, _)| end);
    let (shown, beyond) = line.split_at(cut.unwrap_or(line.len()));
    let mut pieces: Vec<Piece> = Vec::new();
    let mut done = 0;
    while done < shown.len() {
        let (word, word_end) = range_at(words, |word| *word, at + done);
        let (token, token_end) = range_at(tokens, |word| (word.from, word.to), at + done);
        let end = word_end.min(token_end) - at;
        // Ranges that belong to another text may end within a character.
        let end = shown.ceil_char_boundary(end.min(shown.len()));
        let text = visible(&shown[done..end]);
        let (marked, token) = (word.is_some(), token.map(|word| word.token));
        match pieces.last_mut() {
            Some(last) if (last.marked, last.token) == (marked, token) => last.text += &text,
            _ => pieces.push(Piece {
                text: text.into_owned(),
                marked,
                token,
            }),
        }
        done = end;
    }
    let more = u32::try_from(beyond.chars().count()).unwrap_or(u32::MAX);
    (pieces, more)
}

/// The range that contains a byte, if any, and the end of that range or of the
/// space before the next one.
fn range_at<T>(ranges: &[T], range: fn(&T) -> (u32, u32), byte: usize) -> (Option<&T>, usize) {
    let next = ranges.partition_point(|it| range(it).1 as usize <= byte);
    let next = ranges.get(next).map(|it| (it, range(it)));
    match next {
        Some((_, (from, _))) if from as usize > byte => (None, from as usize),
        Some((it, (_, to))) if to as usize > byte => (Some(it), to as usize),
        _ => (None, usize::MAX),
    }
}

impl Hunk {
    /// Its lines side by side: in a changed section, the first removed line is
    /// beside the first added one, and so on.
    pub fn pairs(&self) -> Vec<Pair<'_>> {
        let mut pairs = Vec::new();
        for section in self.lines.chunk_by(|a, b| !is_boundary(a.sign, b.sign)) {
            if section[0].sign == Sign::Same {
                pairs.extend(section.iter().map(|line| (Some(line), Some(line))));
                continue;
            }
            let with = |sign| section.iter().filter(move |line| line.sign == sign);
            let (mut before, mut after) = (with(Sign::Removed), with(Sign::Added));
            loop {
                match (before.next(), after.next()) {
                    (None, None) => break,
                    pair => pairs.push(pair),
                }
            }
        }
        pairs
    }
}

/// Whether a section of a hunk ends between two lines.
fn is_boundary(before: Sign, after: Sign) -> bool {
    let changed = |sign| sign != Sign::Same;
    changed(before) != changed(after) || (before, after) == (Sign::Added, Sign::Removed)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A line as `3 4 =text`, with the changed words in brackets.
    fn render(line: &Line) -> String {
        let number = |n: Option<u32>| n.map_or("-".to_owned(), |n| n.to_string());
        let sign = match line.sign {
            Sign::Added => '+',
            Sign::Removed => '-',
            Sign::Same => '=',
        };
        let piece = |piece: &Piece| {
            let text = match piece.token {
                Some(token) => format!("<{} {}>", &token.name()[..1], piece.text),
                None => piece.text.clone(),
            };
            match piece.marked {
                true => format!("[{text}]"),
                false => text,
            }
        };
        let text: String = line.pieces.iter().map(piece).collect();
        let end = if line.unended { "$" } else { "" };
        format!(
            "{} {} {sign}{text}{end}",
            number(line.old),
            number(line.new)
        )
    }

    const TWO: &str = "@@ -3,4 +3,3 @@\n a\n-b c\n-d\n+b e\n f\n@@ -20 +19,2 @@\n-@x\n\\ No newline at end of file\n+y\r\n+z\n";

    #[test]
    fn numbered_on_both_sides() {
        let parsed = hunks(TWO, &[(25, 26), (32, 33)], &[]);
        let heads: Vec<&str> = parsed.iter().map(|hunk| hunk.head.as_str()).collect();
        assert_eq!(heads, ["@@ -3,4 +3,3 @@", "@@ -20 +19,2 @@"]);
        let lines: Vec<Vec<String>> = parsed
            .iter()
            .map(|hunk| hunk.lines.iter().map(render).collect())
            .collect();
        let expect = [
            &["3 3 =a", "4 - -b c", "5 - -d", "- 4 +b e", "6 5 =f"][..],
            // A carriage return is visible.
            &["20 - -@x$", "- 19 +y␍", "- 20 +z"],
        ];
        // The marks do not change the text.
        let plain = |lines: &[String]| -> Vec<String> {
            let plain = |line: &String| line.replace(['[', ']'], "");
            lines.iter().map(plain).collect()
        };
        assert_eq!(plain(&lines[0]), expect[0]);
        assert_eq!(lines[1], expect[1]);
        assert!(hunks("", &[], &[]).is_empty());
    }

    #[test]
    fn words_that_changed_are_marked() {
        let text = "@@ -1 +1 @@\n-let café = 1;\n+let tea = 1;\n";
        let range = |word: &str| {
            let at = text.find(word).unwrap();
            (at as u32, (at + word.len()) as u32)
        };
        let parsed = hunks(text, &[range("café"), range("tea")], &[]);
        let lines: Vec<String> = parsed[0].lines.iter().map(render).collect();
        assert_eq!(lines, ["1 - -let [café] = 1;", "- 1 +let [tea] = 1;"]);
        // Ranges that belong to another text are harmless.
        let lines = hunks(text, &[(2, 5), (18, 19), (400, 401)], &[]);
        assert_eq!(lines[0].lines.len(), 2);
    }

    #[test]
    fn changed_words_and_tokens_overlap() {
        use Token::{Comment, Keyword, String};
        let check = |line: &str, words: &[(u32, u32)], tokens: &[(u32, u32, Token)], expect| {
            let text = format!("@@ -0,0 +1 @@\n+{line}\n");
            let at = 15;
            let words: Vec<_> = words.iter().map(|(a, b)| (a + at, b + at)).collect();
            let colour = |(from, to, token): &(u32, u32, Token)| Coloured {
                from: from + at,
                to: to + at,
                token: *token,
            };
            let tokens: Vec<_> = tokens.iter().map(colour).collect();
            let line = &hunks(&text, &words, &tokens)[0].lines[0];
            assert_eq!(render(line), format!("- 1 +{expect}"));
            let same =
                |pair: &[Piece]| (pair[0].marked, pair[0].token) == (pair[1].marked, pair[1].token);
            assert!(!line.pieces.windows(2).any(same), "{line:?}");
        };
        check("abcd", &[], &[], "abcd");
        check("abcd", &[], &[(1, 3, Keyword)], "a<k bc>d");
        check("abcd", &[(1, 3)], &[(1, 3, Keyword)], "a[<k bc>]d");
        // One inside the other, and one across the edge of the other.
        check("abcd", &[(1, 2)], &[(0, 4, String)], "<s a>[<s b>]<s cd>");
        check("abcd", &[(0, 4)], &[(1, 2, String)], "[a][<s b>][cd]");
        check("abcd", &[(0, 2)], &[(1, 3, String)], "[a][<s b>]<s c>d");
        check("abcd", &[(2, 4)], &[(1, 3, String)], "a<s b>[<s c>][d]");
        // Side by side, alike or not.
        check(
            "abcd",
            &[],
            &[(0, 2, String), (2, 4, Comment)],
            "<s ab><c cd>",
        );
        check(
            "abcd",
            &[(0, 1), (1, 2)],
            &[(0, 1, String), (1, 3, String)],
            "[<s ab>]<s c>d",
        );
        check("äöü", &[(2, 4)], &[(0, 4, String)], "<s ä>[<s ö>]ü");
        check("a\u{1b}b", &[], &[(1, 3, String)], "a<s ␛b>");
        // Ranges of another text, or invalid ones: the text is complete.
        check("äöü", &[(1, 3)], &[(3, 99, String)], "ä[ö]<s ü>");
        check("abcd", &[(3, 1), (2, 2)], &[(3, 1, String)], "abcd");
    }

    #[test]
    fn side_by_side() {
        let parsed = hunks(TWO, &[], &[]);
        let pairs: Vec<[String; 2]> = parsed
            .iter()
            .flat_map(Hunk::pairs)
            .map(|(a, b)| [a, b].map(|line| line.map_or(String::new(), render)))
            .collect();
        let expect = [
            ["3 3 =a", "3 3 =a"],
            ["4 - -b c", "- 4 +b e"],
            ["5 - -d", ""],
            ["6 5 =f", "6 5 =f"],
            ["20 - -@x$", "- 19 +y␍"],
            ["", "- 20 +z"],
        ];
        assert_eq!(pairs, expect);
    }

    #[test]
    fn long_lines_are_cut_and_control_characters_are_visible() {
        let text = format!("@@ -0,0 +1 @@\n+{}\u{202e}\n", "ä".repeat(MAX_LINE));
        let parsed = hunks(&text, &[], &[]);
        let line = &parsed[0].lines[0];
        assert_eq!((line.more, line.new), (1, Some(1)));
        assert_eq!(line.pieces[0].text.chars().count(), MAX_LINE);
        let parsed = hunks("@@ -0,0 +1 @@\n+a\u{202e}b\u{1b}[0m\n", &[], &[]);
        assert_eq!(render(&parsed[0].lines[0]), "- 1 +a[U+202E]b␛[0m");
    }
}
