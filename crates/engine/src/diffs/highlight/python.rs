//! A scanner for Python's tokens: one pass over the bytes, without nesting. The
//! code comes from an agent, and a full grammar could be made to run very long
//! or to crash the process.
//!
//! Tokens that need a grammar stay plain: types of annotations, and the braces
//! of an f-string.

use swe_ci_core::diff::Token;

use super::Word;

const KEYWORDS: [&str; 32] = [
    "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del", "elif",
    "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is", "lambda",
    "nonlocal", "not", "or", "pass", "raise", "return", "try", "while", "with", "yield",
];
const VALUES: [&str; 3] = ["False", "None", "True"];
/// Prefixes of a string's quotes, in any case.
const PREFIXES: [&str; 10] = ["r", "u", "b", "f", "t", "br", "rb", "fr", "rf", "tr"];

/// The tokens of a file, in order.
pub(super) fn words(text: &str) -> Vec<Word> {
    let mut scanner = Scanner {
        text,
        at: 0,
        begins: true,
        after: Before::Nothing,
    };
    std::iter::from_fn(|| scanner.next()).collect()
}

/// The token before a name, as far as it decides the name's kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Before {
    Nothing,
    Def,
    Class,
    /// A name after a dot is no keyword.
    Dot,
}

struct Scanner<'a> {
    text: &'a str,
    at: usize,
    /// Only blanks so far on this line.
    begins: bool,
    after: Before,
}

impl Scanner<'_> {
    fn next(&mut self) -> Option<Word> {
        loop {
            let from = self.at;
            let first = self.rest().chars().next()?;
            let begins = std::mem::replace(&mut self.begins, false);
            let after = std::mem::replace(&mut self.after, Before::Nothing);
            let token = match first {
                '\n' | '\r' => {
                    self.begins = true;
                    self.at += 1;
                    None
                }
                _ if first.is_whitespace() || first == '\u{feff}' => {
                    (self.begins, self.after) = (begins, after);
                    self.at += first.len_utf8();
                    None
                }
                '#' => {
                    self.take_while(|c| !matches!(c, '\n' | '\r'));
                    Some(Token::Comment)
                }
                '\'' | '"' => self.string(),
                '0'..='9' => Some(self.number()),
                '.' if self.byte_at(from + 1).is_some_and(|b| b.is_ascii_digit()) => {
                    Some(self.number())
                }
                '.' => {
                    self.after = Before::Dot;
                    self.at += 1;
                    None
                }
                '@' if begins => self.decorator(),
                _ if is_of_name(first) => self.name(begins, after),
                _ => {
                    self.at += first.len_utf8();
                    None
                }
            };
            if let Some(token) = token {
                return Some((from, self.at, token));
            }
        }
    }

    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn byte_at(&self, at: usize) -> Option<u8> {
        self.text.as_bytes().get(at).copied()
    }

    fn take_while(&mut self, wanted: impl Fn(char) -> bool) {
        let rest = self.rest();
        self.at += rest.find(|c| !wanted(c)).unwrap_or(rest.len());
    }

    /// From a quote to its match. Without a match the string ends with its
    /// line, or a triple-quoted one with the file.
    fn string(&mut self) -> Option<Token> {
        let bytes = self.text.as_bytes();
        let quote = bytes[self.at];
        let long = bytes[self.at..].starts_with(&[quote; 3]);
        self.at += if long { 3 } else { 1 };
        while let Some(byte) = self.byte_at(self.at) {
            match byte {
                // Any escaped character; a line's end may have two bytes.
                b'\\' => {
                    self.at += 1;
                    let escaped = self.rest().chars().next();
                    self.at += escaped.map_or(0, char::len_utf8);
                    if escaped == Some('\r') && self.byte_at(self.at) == Some(b'\n') {
                        self.at += 1;
                    }
                }
                b'\n' | b'\r' if !long => break,
                _ if byte == quote && !long => {
                    self.at += 1;
                    break;
                }
                _ if byte == quote && bytes[self.at..].starts_with(&[quote; 3]) => {
                    self.at += 3;
                    break;
                }
                _ => self.at += 1,
            }
        }
        Some(Token::String)
    }

    fn number(&mut self) -> Token {
        let hexadecimal = self.rest().starts_with("0x") || self.rest().starts_with("0X");
        let mut last = '0';
        while let Some(next) = self.rest().chars().next() {
            let signs = matches!(next, '+' | '-') && matches!(last, 'e' | 'E') && !hexadecimal;
            if !(signs || next == '.' || is_of_name(next)) {
                break;
            }
            last = next;
            self.at += next.len_utf8();
        }
        Token::Constant
    }

    /// `@a.b.c`; before a blank, `@` multiplies matrices.
    fn decorator(&mut self) -> Option<Token> {
        self.at += 1;
        let named = self.rest().chars().next().is_some_and(is_of_name);
        self.take_while(|c| is_of_name(c) || c == '.');
        named.then_some(Token::Function)
    }

    fn name(&mut self, begins: bool, after: Before) -> Option<Token> {
        let from = self.at;
        self.take_while(is_of_name);
        let name = &self.text[from..self.at];
        let quoted = matches!(self.byte_at(self.at), Some(b'\'' | b'"'));
        let is_prefix = |known: &&str| name.eq_ignore_ascii_case(known);
        if quoted && PREFIXES.iter().any(is_prefix) {
            return self.string();
        }
        match after {
            Before::Def => return Some(Token::Function),
            Before::Class => return Some(Token::Type),
            Before::Dot => return None,
            Before::Nothing => {}
        }
        self.after = match name {
            "def" => Before::Def,
            "class" => Before::Class,
            _ => Before::Nothing,
        };
        if VALUES.contains(&name) {
            return Some(Token::Constant);
        }
        let soft = begins && matches!(name, "match" | "case") && self.opens_a_block();
        (soft || KEYWORDS.contains(&name)).then_some(Token::Keyword)
    }

    /// Whether a subject and a colon seem to follow: `match` and `case` can be
    /// names as well.
    fn opens_a_block(&self) -> bool {
        let line = self.rest().split(['\n', '\r']).next().unwrap_or_default();
        let line = line.split('#').next().unwrap_or_default();
        let subject = line.trim_start();
        line.contains(':') && !subject.starts_with(['=', '.', ',', ':', ')', ']'])
    }
}

fn is_of_name(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}
