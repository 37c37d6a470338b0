//! One style sheet out of `style/main.css` and what it imports, without comments and
//! the spaces that only readers of the source need.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, anyhow, bail};
use cssparser::{ParseError, Parser, Token};

/// Reads `entry` with everything it imports: each `@import "file.css";`, on a line of
/// its own, is replaced by what it names.
pub fn bundle(entry: &Path) -> Result<String> {
    flatten(entry, &mut Vec::new())
}

fn flatten(file: &Path, importers: &mut Vec<PathBuf>) -> Result<String> {
    if importers.iter().any(|importer| importer == file) {
        bail!("{} imports itself", file.display());
    }
    let text =
        fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    importers.push(file.to_owned());
    let mut flat = String::with_capacity(text.len());
    // Lines keep their numbers, for errors.
    let mut own = String::with_capacity(text.len());
    for (index, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("@import") {
            let place = || format!("{}:{}", file.display(), index + 1);
            let name = imported(line).with_context(place)?;
            let imported = flatten(&file.with_file_name(name), importers)
                .with_context(|| format!("imported at {}", place()))?;
            flat.push_str(&imported);
        } else {
            own.push_str(line);
        }
        own.push('\n');
    }
    importers.pop();
    // The rules of a sheet stand behind its imports; CSS knows no other order.
    flat.push_str(&minify(file, &own)?);
    Ok(flat)
}

fn imported(line: &str) -> Result<&str> {
    let name = || {
        let rest = line.trim().strip_prefix("@import")?.trim();
        rest.strip_prefix('"')?.strip_suffix("\";")
    };
    name().with_context(|| format!("want `@import \"file.css\";`, not `{}`", line.trim()))
}

/// Each file by itself: a mistake is named by file and line, and cannot swallow the
/// rules of the next file.
fn minify(file: &Path, text: &str) -> Result<String> {
    let mut small = String::with_capacity(text.len());
    print(&mut Parser::new(text), &mut small)
        .map_err(|e| anyhow!("{}:{}", file.display(), e.kind))?;
    Ok(small)
}

/// Writes the tokens up to the end of the file or block.
fn print(parser: &mut Parser<'_>, small: &mut String) -> Result<(), ParseError<String>> {
    loop {
        let start = parser.position();
        let line = parser.current_source_location().line + 1;
        let mistake = |what: &str| ParseError::custom(format!("{line}: {what}"));
        let Ok(token) = parser.next_including_whitespace_and_comments() else {
            return Ok(());
        };
        let closing = match token {
            Token::Comment(_) => continue,
            Token::WhiteSpace(_) => {
                if !small.is_empty() && !small.ends_with(['{', '}', ';', ',', ':', ' ']) {
                    small.push(' ');
                }
                continue;
            }
            Token::Function(_) | Token::ParenthesisBlock => ')',
            Token::SquareBracketBlock => ']',
            Token::CurlyBracketBlock => '}',
            token if token.is_parse_error() => {
                return Err(mistake(
                    "a string, address or bracket without its other end",
                ));
            }
            _ => {
                small.push_str(parser.slice_from(start));
                continue;
            }
        };
        if closing == '}' && small.ends_with(' ') {
            small.pop();
        }
        small.push_str(parser.slice_from(start));
        let mut end = start;
        parser.parse_nested_block(|inside| {
            print(inside, small)?;
            end = inside.position();
            Ok(())
        })?;
        // A block that the end of the file closes.
        if parser.position() == end {
            return Err(mistake("a bracket that nothing closes"));
        }
        if closing == '}' {
            small.truncate(small.trim_end_matches([' ', ';']).len());
        }
        small.push(closing);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes the files, bundles the first, returns the sheet or the error.
    fn bundled(files: &[(&str, &str)]) -> Result<String, String> {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in files {
            fs::write(dir.path().join(name), text).unwrap();
        }
        let result = bundle(&dir.path().join(files[0].0));
        let root = format!("{}/", dir.path().display());
        result.map_err(|e| format!("{e:#}").replace(&root, ""))
    }

    #[test]
    fn imports_are_replaced_in_order() {
        let css = bundled(&[
            (
                "main.css",
                "@import \"tokens.css\";\n@import \"nav.css\";\na { color: red }\n",
            ),
            ("tokens.css", ":root { --gap: 4px; }\n"),
            ("nav.css", "@import \"link.css\";\nnav { margin: 0 1px }"),
            ("link.css", "/* Links. */\nnav a { top: 0 }"),
        ]);
        assert_eq!(
            css.unwrap(),
            ":root{--gap:4px}nav a{top:0}nav{margin:0 1px}a{color:red}"
        );
    }

    #[test]
    fn what_means_something_stays_as_written() {
        for (css, small) in [
            (
                "main { color: light-dark(#fff, #000); & a { top: 0 } }",
                "main{color:light-dark(#fff,#000);& a{top:0}}",
            ),
            (
                "a :hover > b { top: calc(1px + 2px) }",
                "a :hover > b{top:calc(1px + 2px)}",
            ),
            (
                "@media (width < 40rem) { a::after { content: \"/* ; } */ \" } }",
                "@media (width < 40rem){a::after{content:\"/* ; } */ \"}}",
            ),
        ] {
            assert_eq!(bundled(&[("main.css", css)]).unwrap(), small);
        }
    }

    #[test]
    fn mistakes_are_named_by_file_and_line() {
        let check = |files: &[(&str, &str)], expect: &str| {
            let error = bundled(files).unwrap_err();
            assert!(error.contains(expect), "{error}");
        };
        check(
            &[("main.css", "\n@import \"gone.css\";")],
            "main.css:2: cannot read gone.css",
        );
        check(
            &[("main.css", "@import url(x.css);")],
            "main.css:1: want `@import \"file.css\";`",
        );
        check(
            &[
                ("main.css", "@import \"a.css\";"),
                ("a.css", "a { top: 0 }\nb { }}\n"),
            ],
            "a.css:2:",
        );
        check(&[("main.css", "a {\n b { top: 0 }\n")], "main.css:1:");
        check(
            &[("main.css", "@import \"main.css\";")],
            "main.css imports itself",
        );
    }
}
