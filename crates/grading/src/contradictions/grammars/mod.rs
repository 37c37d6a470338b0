//! Contradictions in languages that a grammar of tree-sitter parses. Each language is a
//! query for its tests and what they expect, and the words of its constants. A file of
//! tests comes out in pieces as Python's do; which results of a run belong to a piece is
//! found by experiment.

mod changes;
mod expectations;
mod found;
mod literals;
mod places;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use tree_sitter::{Language, ParseOptions, ParseState, Parser, Query, Tree};

use super::{Contradiction, Forms, Piece};
use changes::Unit;
use places::Leaves;

/// The largest file of tests that is parsed, in bytes.
const MOST_BYTES: usize = 1 << 20;
const MOST_DEEP: usize = 500;
const TIME_LIMIT: Duration = Duration::from_secs(5);

/// What is known of a language.
pub(crate) struct Grammar {
    /// How its files end.
    endings: &'static [&'static str],
    language: fn() -> Language,
    /// Its captures: `@test` with its `@name` and `@body`; at a place (`@at`) the `@sides`
    /// of an equality, a value that is `@expected`, `@truths`, or a truth that `@fails` the
    /// test with a `@message`; `@panics` is what the test must end in, with a text;
    /// a `@local` name and its `@value`; and a loop `@through` which statements are reached,
    /// `@over` a table with names for its columns in a `@row`.
    query: &'static str,
    /// Nodes that are one constant.
    literals: &'static [&'static str],
    /// Of them, those that hold one character.
    one: &'static [&'static str],
    /// Names that make constants of constants.
    words: &'static [&'static str],
    /// Literals of tables.
    tables: &'static [&'static str],
    /// The sign of equality.
    equal: &'static [&'static str],
    /// Statements within which all others are reached.
    open: &'static [&'static str],
}

const RUST: Grammar = Grammar {
    endings: &["rs"],
    language: || tree_sitter_rust::LANGUAGE.into(),
    query: include_str!("rust.scm"),
    literals: &[
        "integer_literal",
        "float_literal",
        "string_literal",
        "raw_string_literal",
        "char_literal",
        "boolean_literal",
    ],
    one: &["char_literal"],
    words: &[
        "Some",
        "Ok",
        "Err",
        "None",
        "vec",
        "String",
        "from",
        "to_string",
        "to_owned",
        "into",
        "Box",
        "Vec",
        "Cow",
        "Borrowed",
        "as_bytes",
    ],
    tables: &["array_expression"],
    equal: &["=="],
    open: &["block", "expression_statement", "unsafe_block"],
};

const JAVASCRIPT: Grammar = Grammar {
    endings: &["js", "mjs", "cjs", "jsx", "tsx"],
    language: || tree_sitter_typescript::LANGUAGE_TSX.into(),
    query: include_str!("javascript.scm"),
    literals: &[
        "number",
        "string",
        "template_string",
        "true",
        "false",
        "null",
        "undefined",
        "regex",
    ],
    one: &[],
    words: &["BigInt", "Date", "new", "Set", "Map", "as", "const"],
    tables: &["array"],
    equal: &["===", "=="],
    open: &[
        "statement_block",
        "expression_statement",
        "await_expression",
        "return_statement",
    ],
};

const GO: Grammar = Grammar {
    endings: &["go"],
    language: || tree_sitter_go::LANGUAGE.into(),
    query: include_str!("go.scm"),
    literals: &[
        "int_literal",
        "float_literal",
        "interpreted_string_literal",
        "raw_string_literal",
        "rune_literal",
        "true",
        "false",
    ],
    one: &["rune_literal"],
    words: &[
        "int", "int8", "int16", "int32", "int64", "uint", "uint8", "uint16", "uint32", "uint64",
        "byte", "rune", "float32", "float64", "string", "map", "nil",
    ],
    tables: &["composite_literal"],
    equal: &["!="],
    open: &["block", "statement_list", "expression_statement"],
};

/// As the grammar of its kin, which takes `<T>x` for an element.
const TYPESCRIPT: Grammar = Grammar {
    endings: &["ts", "mts", "cts"],
    language: || tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
    ..JAVASCRIPT
};

const GRAMMARS: [Grammar; 4] = [RUST, JAVASCRIPT, TYPESCRIPT, GO];

/// Reads files of tests; it keeps the queries, which take longer than a file.
#[derive(Default)]
pub(crate) struct Reader(BTreeMap<usize, Query>);

impl Reader {
    /// A file of tests in pieces; `None` for a file in none of the languages, inside is
    /// why it cannot be read.
    pub fn pieces(&mut self, path: &str, text: &str) -> Option<Result<Vec<Piece>, String>> {
        let ending = path.rsplit_once('.')?.1;
        let is_its = |grammar: &Grammar| grammar.endings.contains(&ending);
        let number = GRAMMARS.iter().position(is_its)?;
        Some(self.read(number, path, text))
    }

    fn read(&mut self, number: usize, path: &str, text: &str) -> Result<Vec<Piece>, String> {
        if text.len() > MOST_BYTES {
            return Err(format!("it has more than {MOST_BYTES} bytes"));
        }
        let grammar = &GRAMMARS[number];
        let language = (grammar.language)();
        let query = match self.0.entry(number) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => {
                new.insert(Query::new(&language, grammar.query).map_err(|e| e.to_string())?)
            }
        };
        let tree = parsed(&language, text)?;
        let leaves = Leaves::of(grammar, tree.root_node(), text);
        let (mut pieces, mut at) = (Vec::new(), 0);
        for unit in expectations::units(grammar, query, tree.root_node(), &leaves) {
            let forms = forms(path, text, &unit, &leaves);
            if !forms.contradictions.is_empty() {
                pieces.push(Piece::Fixed(text[at..unit.range.start].to_owned()));
                at = unit.range.end;
                pieces.push(Piece::Test(forms));
            }
        }
        pieces.push(Piece::Fixed(text[at..].to_owned()));
        Ok(pieces)
    }
}

/// Brackets in brackets without an end take time by their square, and the parser looks
/// at the clock rarely.
fn parsed(language: &Language, text: &str) -> Result<Tree, String> {
    let depths = text.bytes().scan(0_usize, |depth, byte| {
        match byte {
            b'(' | b'[' | b'{' => *depth += 1,
            b')' | b']' | b'}' => *depth = depth.saturating_sub(1),
            _ => {}
        }
        Some(*depth)
    });
    if depths.max() > Some(MOST_DEEP) {
        return Err(format!(
            "it has more than {MOST_DEEP} brackets in one another"
        ));
    }
    let mut parser = Parser::new();
    parser.set_language(language).map_err(|e| e.to_string())?;
    let began = Instant::now();
    let mut in_time = |_: &ParseState| match began.elapsed() < TIME_LIMIT {
        true => ControlFlow::Continue(()),
        false => ControlFlow::Break(()),
    };
    let options = ParseOptions::new().progress_callback(&mut in_time);
    let mut rest = |at: usize, _| text.as_bytes().get(at..).unwrap_or_default();
    let tree = parser.parse_with_options(&mut rest, None, Some(options));
    tree.ok_or_else(|| format!("it cannot be parsed within {} s", TIME_LIMIT.as_secs()))
}

fn forms(path: &str, text: &str, unit: &Unit, leaves: &Leaves<'_>) -> Forms {
    let as_written = text[unit.range.clone()].to_owned();
    let changes = unit.changes(path, leaves).into_iter();
    let contradictions = changes.map(|(kind, mut edits)| {
        edits.sort_by_key(|(range, _)| std::cmp::Reverse(range.start));
        let mut text = as_written.clone();
        for (range, new) in edits {
            let start = unit.range.start;
            text.replace_range(range.start - start..range.end - start, &new);
        }
        Contradiction {
            kind,
            natural: true,
            text,
        }
    });
    Forms {
        test: unit.name.clone(),
        contradictions: contradictions.collect(),
        as_written,
    }
}
