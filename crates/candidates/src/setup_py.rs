//! Reads literal arguments of `setup(…)` from `setup.py` without running it.
//! Computed values stay unknown.

use std::cell::Cell;

/// A literal: a string, a list, or a dictionary of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Literal {
    Text(String),
    List(Vec<Literal>),
    Map(Vec<(String, Literal)>),
}

impl Literal {
    /// All strings in order, without the keys of dictionaries.
    pub(crate) fn strings(&self) -> Vec<String> {
        self.collected(false)
    }

    pub(crate) fn strings_and_keys(&self) -> Vec<String> {
        self.collected(true)
    }

    fn collected(&self, keys: bool) -> Vec<String> {
        match self {
            Self::Text(text) => vec![text.clone()],
            Self::List(items) => items.iter().flat_map(|item| item.collected(keys)).collect(),
            Self::Map(items) => {
                let strings = |(key, value): &(String, Self)| {
                    let key = keys.then(|| key.clone());
                    key.into_iter().chain(value.collected(keys))
                };
                items.iter().flat_map(strings).collect()
            }
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Computed;

/// When a name may be replaced by its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Names {
    /// If it is used only once. For comparisons, where different values must
    /// never look equal.
    UsedOnce,
    /// If no visible use changes it. For guesses that are tried out.
    Unchanged,
}

/// An argument of the `setup` call, written there or assigned to names above;
/// none if absent.
pub(crate) fn argument(text: &str, name: &str, names: Names) -> Result<Option<Literal>, Computed> {
    argument_in(&File::new(text, names), name)
}

fn argument_in(file: &File<'_>, name: &str) -> Result<Option<Literal>, Computed> {
    let Some(behind) = assigned(file.text, name) else {
        return Ok(None);
    };
    match value(file, behind, DEEPEST) {
        Some((found, behind)) if ends(behind) => Ok(Some(found)),
        _ => Err(Computed),
    }
}

/// The value of a name that is assigned once and never changed.
fn constant(file: &File<'_>, name: &str, deep: usize) -> Option<Literal> {
    let text = file.text;
    file.lookups.set(file.lookups.get().checked_sub(1)?);
    let (mut given, mut uses) = (0, 0);
    for (at, word) in words(text).filter(|(_, word)| *word == name) {
        let behind = text[at + word.len()..].trim_start_matches([' ', '\t']);
        let is_given = behind.starts_with('=') && !behind.starts_with("==");
        given += usize::from(is_given);
        uses += usize::from(!is_given);
        if !is_given && !ends(behind) && !behind.starts_with([']', '}', ':']) {
            return None;
        }
    }
    if given != 1 || (file.names == Names::UsedOnce && uses > 1) {
        return None;
    }
    let behind = assigned(text, name)?;
    let (found, rest) = value(file, behind, deep)?;
    ends(rest).then_some(found)
}

/// Whether a value ends here. If an operator follows on this line or the next,
/// the program computes it.
fn ends(behind: &str) -> bool {
    let behind = behind.trim_start_matches([' ', '\t']);
    let is_over = behind.is_empty() || behind.starts_with([',', ')', '\n', '\r', '#', ';']);
    let goes_on = ['+', '-', '*', '/', '%', '|', '&', '.'];
    is_over && !past_blanks(behind).starts_with(goes_on)
}

/// The text after the last `name =`.
pub(crate) fn assigned<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let found = words(text).filter(|(_, word)| *word == name);
    let behind = found.filter_map(|(at, word)| {
        let rest = text[at + word.len()..].trim_start().strip_prefix('=')?;
        (!rest.starts_with('=')).then_some(rest)
    });
    behind.last()
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Identifiers in the text with their offsets, without those in strings and
/// comments.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let rest = &text[at..];
            let first = rest.chars().next()?;
            let start = at;
            if is_word(first) && !first.is_numeric() {
                let end = rest.find(|c: char| !is_word(c)).unwrap_or(rest.len());
                at += end;
                return Some((start, &rest[..end]));
            }
            at += match first {
                '#' => rest.find('\n').unwrap_or(rest.len()),
                // An unterminated string takes the rest, because otherwise
                // scanning would restart at each quote in it.
                '\'' | '"' => string(rest).map_or_else(|| unended(rest), |(_, length)| length),
                _ => first.len_utf8(),
            };
        }
    })
}

/// The string literal at the start of the text, and its length with quotes.
pub(crate) fn string(text: &str) -> Option<(String, usize)> {
    let quote = text.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
    let long_mark = quote.to_string().repeat(3);
    let long = text.starts_with(&long_mark);
    let mark = if long { &long_mark } else { &text[..1] };
    let mut content = String::new();
    let mut rest = text[mark.len()..].char_indices();
    while let Some((at, c)) = rest.next() {
        if text[mark.len() + at..].starts_with(mark) {
            return Some((content, at + 2 * mark.len()));
        }
        match c {
            '\\' => content.extend(rest.next().map(|(_, c)| c)),
            '\n' if !long => return None,
            c => content.push(c),
        }
    }
    None
}

/// Where to give up an unterminated string: a short one at the end of its line.
fn unended(text: &str) -> usize {
    let long = text.starts_with("'''") || text.starts_with("\"\"\"");
    let line = text.find('\n').filter(|_| !long);
    line.unwrap_or(text.len())
}

/// Skips blanks and comments.
fn past_blanks(mut text: &str) -> &str {
    loop {
        text = text.trim_start();
        if !text.starts_with('#') {
            return text;
        }
        text = &text[text.find('\n').unwrap_or(text.len())..];
    }
}

/// Maximum nesting of lists.
const DEEPEST: usize = 8;

/// Maximum number of names looked up for one argument.
const MAX_LOOKUPS: usize = 100;

/// Maximum number of bytes scanned for names, each of which is looked for in
/// the whole text.
const MAX_SCANNED: usize = 64 << 20;

/// The whole text, and how many more names may be looked up in it.
struct File<'a> {
    text: &'a str,
    names: Names,
    lookups: Cell<usize>,
}

impl<'a> File<'a> {
    fn new(text: &'a str, names: Names) -> Self {
        let lookups = (MAX_SCANNED / text.len().max(1)).clamp(1, MAX_LOOKUPS);
        Self {
            text,
            names,
            lookups: Cell::new(lookups),
        }
    }
}

/// The literal at the start of the text, and the text after it; none if the
/// program computes it.
fn value<'a>(file: &File<'_>, text: &'a str, deep: usize) -> Option<(Literal, &'a str)> {
    let text = past_blanks(text);
    let first = text.chars().next().filter(|_| deep > 0)?;
    let close = match first {
        '\'' | '"' => {
            let (mut content, length) = string(text)?;
            let mut rest = &text[length..];
            // Python concatenates adjacent strings.
            while deep < DEEPEST
                && let Some((more, length)) = string(past_blanks(rest))
            {
                content += &more;
                rest = &past_blanks(rest)[length..];
            }
            return Some((Literal::Text(content), rest));
        }
        '[' => ']',
        '(' => ')',
        '{' => '}',
        first if is_word(first) => {
            let end = text.find(|c: char| !is_word(c)).unwrap_or(text.len());
            let (name, rest) = text.split_at(end);
            return Some((constant(file, name, deep - 1)?, rest));
        }
        _ => return None,
    };
    let (mut items, mut map) = (Vec::new(), Vec::new());
    let mut rest = past_blanks(&text[1..]);
    while !rest.starts_with(close) {
        let (item, behind) = value(file, rest, deep - 1)?;
        rest = past_blanks(behind);
        match (item, rest.strip_prefix(':')) {
            (Literal::Text(key), Some(behind)) if first == '{' => {
                let (item, behind) = value(file, behind, deep - 1)?;
                map.push((key, item));
                rest = past_blanks(behind);
            }
            (item, None) => items.push(item),
            _ => return None,
        }
        match rest.strip_prefix(',') {
            Some(behind) => rest = past_blanks(behind),
            None if rest.starts_with(close) => {}
            None => return None,
        }
    }
    let found = if map.is_empty() {
        Literal::List(items)
    } else {
        Literal::Map(map)
    };
    Some((found, &rest[1..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_of_setup() {
        let check = |text: &str, expect: Option<&[&str]>| {
            let found = argument(text, "install_requires", Names::Unchanged);
            let found = found.ok().flatten().map(|literal| literal.strings());
            let expect = expect.map(|all| all.iter().map(|s| (*s).to_owned()).collect());
            assert_eq!(found, expect, "{text}");
        };
        check("setup(name='a')", None);
        check(
            "setup(install_requires=['a', \"b>=1\",])",
            Some(&["a", "b>=1"]),
        );
        check(
            "setup(\n  install_requires = [ # two\n 'a', # 'no'\n 'b'],\n)",
            Some(&["a", "b"]),
        );
        check("setup(install_requires=('a',), x=1)", Some(&["a"]));
        check("R = ['a']\nsetup(install_requires=R)", Some(&["a"]));
        check(
            "A = ['a']\nB = ['b']\nsetup(install_requires=[A, B], x=A)",
            Some(&["a", "b"]),
        );
        check(
            "A = ['a']\nA.append('b')\nsetup(install_requires=[A])",
            None,
        );
        check("A = A\nsetup(install_requires=A)", None);
        check("setup(install_requires='a')", Some(&["a"]));
        check("setup(install_requires=['a' \n '>=1'])", Some(&["a>=1"]));
        check(
            "# install_requires=['a']\ns = \"install_requires=['b']\"",
            None,
        );
        // Computed.
        check("setup(install_requires=open('r.txt').read().split())", None);
        check("setup(install_requires=['a'] + more)", None);
        check("setup(install_requires=['a', b])", None);
        check("R = ['a']\nR += ['b']\nsetup(install_requires=R)", None);
        check("setup(install_requires='a' + b)", None);
        check("setup(install_requires=['a']\n  + more)", None);
        check("setup(install_requires=[", None);
        check("install_requires == ['a']", None);
        check(
            &format!("setup(install_requires={}", "[".repeat(9_000)),
            None,
        );
    }

    #[test]
    fn dictionaries_keep_their_keys() {
        let text = "setup(extras_require={'test': ['a', 'b'], 'doc': ()})";
        let list =
            |all: &[&str]| Literal::List(all.iter().map(|s| Literal::Text((*s).into())).collect());
        let expect = vec![
            ("test".into(), list(&["a", "b"])),
            ("doc".into(), list(&[])),
        ];
        let found = argument(text, "extras_require", Names::UsedOnce);
        assert_eq!(found, Ok(Some(Literal::Map(expect))));
    }

    #[test]
    fn names_that_are_used_elsewhere() {
        let text = "R = ['a']\nadd(R)\nsetup(install_requires=[R])";
        let found = |names| argument(text, "install_requires", names);
        assert_eq!(found(Names::UsedOnce), Err(Computed));
        assert!(found(Names::Unchanged).is_ok());
        assert_eq!(argument(text, "extras_require", Names::UsedOnce), Ok(None));
    }

    /// Each name expands to two of the next.
    #[test]
    fn names_of_names_take_no_time() {
        let names = (0..20).map(|n| format!("A{n} = [A{0}, A{0}]\n", n + 1));
        let text = names.collect::<String>() + &"# \n".repeat(1 << 20) + "x(install_requires=A0)";
        let file = File::new(&text, Names::Unchanged);
        let allowed = file.lookups.get();
        assert!(argument_in(&file, "install_requires").is_err());
        let used = allowed - file.lookups.get();
        assert!(used > 0);
        assert!(used * text.len() <= MAX_SCANNED, "{used} lookups");
    }
}
