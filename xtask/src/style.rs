//! One minified style sheet out of `style/main.css` and what it imports.
//!
//! Lightning CSS has a bundler of its own, at the price of twenty more crates;
//! our style sheets need only `@import "file.css";` and
//! `@import "file.css" layer(name);`, each on a line of its own.

use std::{fs, path::Path};

use anyhow::{Context, Result, anyhow, bail};
use lightningcss::{
    stylesheet::{MinifyOptions, ParserOptions, PrinterOptions, StyleSheet},
    targets::{Browsers, Targets},
};

/// The oldest browsers with everything the pages use as it is written (nesting,
/// layers, `light-dark()`): newer syntax is lowered to what these understand.
const OLDEST: Browsers = Browsers {
    chrome: Some(version(123)),
    edge: Some(version(123)),
    firefox: Some(version(121)),
    safari: Some(version(17) | 5 << 8),
    ios_saf: Some(version(17) | 5 << 8),
    android: None,
    ie: None,
    opera: None,
    samsung: None,
};

const fn version(major: u32) -> u32 {
    major << 16
}

/// Reads `entry` with everything it imports and returns it minified.
pub fn bundle(entry: &Path) -> Result<String> {
    minify(&flatten(entry, &mut Vec::new())?)
}

/// The text of a style sheet, its imports replaced by what they name.
fn flatten(file: &Path, importers: &mut Vec<std::path::PathBuf>) -> Result<String> {
    if importers.iter().any(|importer| importer == file) {
        bail!("{} imports itself", file.display());
    }
    let text =
        fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    check(file, &text)?;
    importers.push(file.to_owned());
    let mut flat = String::with_capacity(text.len());
    for (index, line) in text.lines().enumerate() {
        let place = || format!("{}:{}", file.display(), index + 1);
        if line.trim_start().starts_with("@import") {
            let import = Import::parse(line).with_context(place)?;
            let imported = flatten(&file.with_file_name(import.file), importers)
                .with_context(|| format!("imported at {}", place()))?;
            flat.push_str(&import.wrap(imported));
        } else {
            flat.push_str(line);
        }
        flat.push('\n');
    }
    importers.pop();
    Ok(flat)
}

/// Each file is parsed alone as well: a mistake is named by file and line, and
/// cannot swallow the rules of the next file.
fn check(file: &Path, text: &str) -> Result<()> {
    let options = ParserOptions {
        filename: file.display().to_string(),
        ..ParserOptions::default()
    };
    StyleSheet::parse(text, options)
        .map(drop)
        .map_err(|e| anyhow!("{e}"))
}

struct Import<'a> {
    file: &'a str,
    layer: Option<&'a str>,
}

impl<'a> Import<'a> {
    fn parse(line: &'a str) -> Result<Self> {
        let known = || {
            let rest = line
                .trim()
                .strip_prefix("@import")?
                .trim()
                .strip_suffix(';')?;
            let (file, rest) = rest.strip_prefix('"')?.split_once('"')?;
            let layer = match rest.trim() {
                "" => None,
                rest => Some(rest.strip_prefix("layer(")?.strip_suffix(')')?),
            };
            Some(Self { file, layer })
        };
        known().with_context(|| {
            format!(
                "want `@import \"file.css\";`, perhaps with layer(name), not `{}`",
                line.trim()
            )
        })
    }

    fn wrap(&self, css: String) -> String {
        match self.layer {
            Some(layer) => format!("@layer {layer} {{\n{css}}}"),
            None => css,
        }
    }
}

fn minify(css: &str) -> Result<String> {
    let targets = Targets::from(OLDEST);
    let mut sheet = StyleSheet::parse(css, ParserOptions::default()).map_err(|e| anyhow!("{e}"))?;
    sheet
        .minify(MinifyOptions {
            targets,
            ..MinifyOptions::default()
        })
        .map_err(|e| anyhow!("{e}"))?;
    let printed = sheet.to_css(PrinterOptions {
        minify: true,
        targets,
        ..PrinterOptions::default()
    })?;
    Ok(printed.code)
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
    fn imports_are_replaced_in_order_and_layered() {
        let css = bundled(&[
            (
                "main.css",
                "@layer base, parts;\n@import \"tokens.css\" layer(base);\n@import \"nav.css\" layer(parts);\na { color: red }\n",
            ),
            ("tokens.css", ":root { --gap: 4px }\n"),
            ("nav.css", "@import \"link.css\";\nnav { margin: 0px 0px }"),
            ("link.css", "nav a { top: 0px }"),
        ]);
        assert_eq!(
            css.unwrap(),
            "@layer base{:root{--gap:4px}}@layer parts{nav a{top:0}nav{margin:0}}a{color:red}"
        );
    }

    #[test]
    fn modern_syntax_stays_as_written() {
        let css = "main { color: light-dark(#fff, #000); & a { top: 0 } }";
        assert_eq!(
            bundled(&[("main.css", css)]).unwrap(),
            "main{color:light-dark(#fff,#000);& a{top:0}}"
        );
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
        check(
            &[("main.css", "@import \"main.css\";")],
            "main.css imports itself",
        );
    }
}
