//! The hunks of a file, read line by line for a page: with the numbers of both
//! sides, with the words that changed, with what words are, and safe to look at.

use super::tokens::{Coloured, Token};
use crate::conversation::visible;

/// Longer lines are shown this far, in characters.
const LONGEST: usize = 1_000;

/// Where words changed within the lines of hunks: bytes of their text, from
/// and to, in order.
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
    /// Its number before and after, from 1; none where it is not there.
    pub old: Option<u32>,
    pub new: Option<u32>,
    pub pieces: Vec<Piece>,
    /// Characters that are not shown because it is too long.
    pub more: u32,
    /// It is the last line, and does not end as lines do.
    pub unended: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sign {
    Added,
    Removed,
    Same,
}

/// Part of a line; what would steer or turn the text around it is a mark.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    pub text: String,
    /// Whether it is what changed in the line.
    pub marked: bool,
    /// What it is; none where it is nothing with a colour.
    pub token: Option<Token>,
}

/// A line before and what stands in its place after; either may be missing.
pub type Pair<'a> = (Option<&'a Line>, Option<&'a Line>);

/// The hunks of [`super::Body::Text`].
#[must_use]
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
                (old, new) = starts(line);
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
            old: (sign != Sign::Added).then(|| counted(&mut old)),
            new: (sign != Sign::Removed).then(|| counted(&mut new)),
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

fn counted(next: &mut u32) -> u32 {
    let number = *next;
    *next = number.saturating_add(1);
    number
}

/// The first lines of a hunk on both sides, as its head says.
fn starts(head: &str) -> (u32, u32) {
    let mut words = head.split(' ').skip(1);
    let mut start = || {
        let range = words.next()?.get(1..)?;
        range.split(',').next()?.parse().ok()
    };
    (start().unwrap_or(0), start().unwrap_or(0))
}

/// A line that begins at this byte of the hunks, in pieces, and how many of
/// its characters are left out.
fn pieces(line: &str, at: usize, words: &[(u32, u32)], tokens: &[Coloured]) -> (Vec<Piece>, u32) {
    let cut = line.char_indices().nth(LONGEST).map(|(end, _)| end);
    let (shown, beyond) = line.split_at(cut.unwrap_or(line.len()));
    let mut pieces: Vec<Piece> = Vec::new();
    let mut done = 0;
    while done < shown.len() {
        let (word, word_ends) = of_byte(words, |word| *word, at + done);
        let (token, token_ends) = of_byte(tokens, |word| (word.from, word.to), at + done);
        let end = word_ends.min(token_ends) - at;
        // Ranges of another text may end anywhere.
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

/// Which of the ranges a byte is in, if any, and where that ends.
fn of_byte<T>(ranges: &[T], range: fn(&T) -> (u32, u32), byte: usize) -> (Option<&T>, usize) {
    let next = ranges.partition_point(|it| range(it).1 as usize <= byte);
    let next = ranges.get(next).map(|it| (it, range(it)));
    match next {
        Some((_, (from, _))) if from as usize > byte => (None, from as usize),
        Some((it, (_, to))) if to as usize > byte => (Some(it), to as usize),
        _ => (None, usize::MAX),
    }
}

impl Hunk {
    /// Its lines side by side: of a stretch that was changed, the first line
    /// that went beside the first that came, and so on.
    #[must_use]
    pub fn pairs(&self) -> Vec<Pair<'_>> {
        let mut pairs = Vec::new();
        for part in self.lines.chunk_by(|a, b| !parts(a.sign, b.sign)) {
            if part[0].sign == Sign::Same {
                pairs.extend(part.iter().map(|line| (Some(line), Some(line))));
                continue;
            }
            let of = |sign| part.iter().filter(move |line| line.sign == sign);
            let (mut before, mut after) = (of(Sign::Removed), of(Sign::Added));
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

/// Whether a stretch of a hunk ends between two lines.
fn parts(before: Sign, after: Sign) -> bool {
    let changed = |sign| sign != Sign::Same;
    changed(before) != changed(after) || (before, after) == (Sign::Added, Sign::Removed)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A line as `3 4 =text`, with what changed in brackets.
    fn told(line: &Line) -> String {
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
        let found = hunks(TWO, &[(25, 26), (32, 33)], &[]);
        let heads: Vec<&str> = found.iter().map(|hunk| hunk.head.as_str()).collect();
        assert_eq!(heads, ["@@ -3,4 +3,3 @@", "@@ -20 +19,2 @@"]);
        let lines: Vec<Vec<String>> = found
            .iter()
            .map(|hunk| hunk.lines.iter().map(told).collect())
            .collect();
        let expect = [
            &["3 3 =a", "4 - -b c", "5 - -d", "- 4 +b e", "6 5 =f"][..],
            // What ends a line elsewhere is seen.
            &["20 - -@x$", "- 19 +y␍", "- 20 +z"],
        ];
        // Only the words are marked.
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
        let found = hunks(text, &[range("café"), range("tea")], &[]);
        let lines: Vec<String> = found[0].lines.iter().map(told).collect();
        assert_eq!(lines, ["1 - -let [café] = 1;", "- 1 +let [tea] = 1;"]);
        // Marks that are not of this text break nothing.
        let lines = hunks(text, &[(2, 5), (18, 19), (400, 401)], &[]);
        assert_eq!(lines[0].lines.len(), 2);
    }

    #[test]
    fn what_changed_and_what_it_is() {
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
            assert_eq!(told(line), format!("- 1 +{expect}"));
            let same =
                |pair: &[Piece]| (pair[0].marked, pair[0].token) == (pair[1].marked, pair[1].token);
            assert!(!line.pieces.windows(2).any(same), "{line:?}");
        };
        check("abcd", &[], &[], "abcd");
        check("abcd", &[], &[(1, 3, Keyword)], "a<k bc>d");
        check("abcd", &[(1, 3)], &[(1, 3, Keyword)], "a[<k bc>]d");
        // One within the other, and one across the edge of the other.
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
        // Of another text, or none at all: nothing is lost.
        check("äöü", &[(1, 3)], &[(3, 99, String)], "ä[ö]<s ü>");
        check("abcd", &[(3, 1), (2, 2)], &[(3, 1, String)], "abcd");
    }

    #[test]
    fn side_by_side() {
        let found = hunks(TWO, &[], &[]);
        let pairs: Vec<[String; 2]> = found
            .iter()
            .flat_map(Hunk::pairs)
            .map(|(a, b)| [a, b].map(|line| line.map_or(String::new(), told)))
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
    fn long_lines_are_cut_and_nothing_hides() {
        let text = format!("@@ -0,0 +1 @@\n+{}\u{202e}\n", "ä".repeat(LONGEST));
        let found = hunks(&text, &[], &[]);
        let line = &found[0].lines[0];
        assert_eq!((line.more, line.new), (1, Some(1)));
        assert_eq!(line.pieces[0].text.chars().count(), LONGEST);
        let found = hunks("@@ -0,0 +1 @@\n+a\u{202e}b\u{1b}[0m\n", &[], &[]);
        assert_eq!(told(&found[0].lines[0]), "- 1 +a[U+202E]b␛[0m");
    }
}
