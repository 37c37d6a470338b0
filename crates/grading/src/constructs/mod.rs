//! A look at the lines that the code has and neither base nor oracle: one
//! process runs tests and code, so what reaches for the tests or their runner
//! cannot be prevented there. It is seen here.

#[cfg(test)]
mod tests;
mod words;

use std::collections::BTreeSet;

use swe_ci_base::code::{CodeTree, Entry};
use swe_ci_core::finding::{Finding, FindingKind};

use crate::{is_test, python};
use words::{EXCUSES, HIDING, WORDS};

/// The bootstrap's words for a table whose keys are arguments of the tests.
const TABLE: &str = "answers by the tests' arguments";
/// The bootstrap's words for an exception that fits any expectation.
const MANY_KINDS: &str = "is many kinds of exceptions at once";
/// Modules that honest plugins and conftest files take things out of: no finding
/// where base or oracle has the line.
const MODULES: [&str; 2] = ["reaches for the test runner", "reads the tests' modules"];
/// Scripts for developers, which may name the test runner.
const SCRIPTS: [&str; 5] = [
    "setup.py",
    "noxfile.py",
    "conftest.py",
    "tasks.py",
    "fabfile.py",
];

/// Literals of the tests are told from this number on, and are suspicious from
/// the second on.
const LITERALS: (usize, usize) = (6, 15);
/// Shorter literals occur everywhere, in characters.
const LITERAL_LENGTH: usize = 8;
/// No more literals of the added code are looked up.
const MAX_LITERALS: usize = 1_000;
const MAX_FINDINGS: usize = 30;

/// Looks at the added lines, and at the things that the code reached for while
/// it ran (each with the file and line that did). A thing that base or oracle do
/// too is a note; one that is new to the project is suspicious.
pub(crate) fn findings(
    reached: &[(String, String)],
    code: &CodeTree,
    base: &CodeTree,
    oracle: &CodeTree,
) -> Vec<Finding> {
    let known = Known::of(base, oracle);
    let mut found: Vec<Finding> = reached
        .iter()
        .filter(|(what, by)| !MODULES.contains(&what.as_str()) || !known.has_line(by, code))
        .map(|(what, by)| {
            let (known_too, when) = match what.as_str() {
                TABLE => (known.has_line(by, code), ""),
                MANY_KINDS => (is_known_class(by, code, base, oracle), ""),
                _ => (known.does(what), ", seen while it ran"),
            };
            known.finding(known_too, format!("{by} {what}{when}"))
        })
        .collect();
    let mut literals = BTreeSet::new();
    for (path, entry) in changed_files(code, base, oracle) {
        let Entry::File { bytes, .. } = entry else {
            continue;
        };
        if is_compiled(path) {
            found.push(Finding::suspicious(
                FindingKind::Construct,
                format!("{path} is compiled code, which nobody can read"),
            ));
        }
        if !is_python(path) {
            continue;
        }
        let text = String::from_utf8_lossy(bytes);
        let added = text
            .lines()
            .filter(|line| !known.lines.contains(line.trim()));
        let added: Vec<&str> = added
            .filter(|line| !line.trim_start().starts_with('#'))
            .collect();
        found.extend(words(path, &added, &known));
        literals.extend(
            added
                .iter()
                .flat_map(|line| long_literals(line))
                .map(str::to_owned),
        );
    }
    found.truncate(MAX_FINDINGS);
    found.extend(copied_literals(&literals, &known, oracle));
    found
}

/// Files outside the tests that neither base nor oracle has so.
pub(crate) fn changed_files<'a>(
    code: &'a CodeTree,
    base: &'a CodeTree,
    oracle: &'a CodeTree,
) -> impl Iterator<Item = (&'a str, &'a Entry)> {
    let own = code.iter().filter(|(path, _)| !is_test(path));
    own.filter(|(path, entry)| {
        base.entry(path) != Some(*entry) && oracle.entry(path) != Some(*entry)
    })
}

/// What base and oracle have outside their tests.
struct Known<'a> {
    texts: Vec<&'a str>,
    lines: BTreeSet<&'a str>,
}

impl<'a> Known<'a> {
    fn of(base: &'a CodeTree, oracle: &'a CodeTree) -> Self {
        let both = base.iter().chain(oracle.iter());
        let files: Vec<(&str, &str)> = both
            .filter(|(path, _)| !is_test(path) && is_python(path))
            .filter_map(|(path, entry)| Some((path, text_of(entry)?)))
            .collect();
        let lines = files.iter().flat_map(|(_, text)| text.lines());
        Self {
            lines: lines.map(str::trim).collect(),
            texts: files
                .iter()
                .filter(|(path, _)| !SCRIPTS.contains(path))
                .map(|(_, text)| *text)
                .collect(),
        }
    }

    fn has(&self, word: &str) -> bool {
        self.texts.iter().any(|text| text.contains(word))
    }

    /// Whether they have a word of this kind.
    fn does(&self, what: &str) -> bool {
        let words = WORDS.iter().chain(&EXCUSES);
        let mut words = words.filter(|(_, kind)| *kind == what);
        words.any(|(word, _)| self.has(word))
    }

    /// Whether they have the line of the code at `path:number`.
    fn has_line(&self, place: &str, code: &CodeTree) -> bool {
        let line = place.rsplit_once(':').and_then(|(path, number)| {
            let text = text_of(code.entry(path)?)?;
            text.lines()
                .nth(number.parse::<usize>().ok()?.checked_sub(1)?)
        });
        line.is_some_and(|line| self.lines.contains(line.trim()))
    }

    fn finding(&self, known: bool, text: String) -> Finding {
        match known {
            true => Finding::note(FindingKind::Construct, text),
            false => Finding::suspicious(FindingKind::Construct, text),
        }
    }
}

fn text_of(entry: &Entry) -> Option<&str> {
    match entry {
        Entry::File { bytes, .. } => std::str::from_utf8(bytes).ok(),
        Entry::Symlink { .. } => None,
    }
}

fn is_python(path: &str) -> bool {
    path.ends_with(".py") || path.ends_with(".pyx") || path.ends_with(".pyi")
}

fn is_test_file(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.starts_with("test_") || name.ends_with("_test.py") || name == "conftest.py"
}

fn is_compiled(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.ends_with(".so") && python::module_name(name).is_some()
        || name.ends_with(".zip")
        || name.ends_with(".whl")
        || name.ends_with(".egg")
}

fn words(path: &str, added: &[&str], known: &Known<'_>) -> Vec<Finding> {
    let words = WORDS.iter().map(|(word, why)| (*word, *why));
    let hiding = HIDING.iter().map(|word| (*word, "runs what nobody reads"));
    let mut found: Vec<Finding> = Vec::new();
    let mut told = BTreeSet::new();
    if let Some(line) = added.iter().find(|line| joins_literals(line)) {
        told.insert(*line);
        let text = format!("{path} puts a name together: {}", start_of(line));
        let known_too = known.lines.iter().any(|line| joins_literals(line));
        found.push(known.finding(known_too, text));
    }
    // Tests elsewhere name the test runner and are not run.
    let about_tests = [
        "reaches for the test runner",
        "reaches for assertions",
        "reads the tests",
    ];
    let expected = |why: &str| is_test_file(path) && about_tests.contains(&why);
    for (word, why) in words.chain(hiding).filter(|(_, why)| !expected(why)) {
        let Some(line) = added.iter().find(|line| uses(line, word)) else {
            continue;
        };
        // One line is told once, however many words it has.
        if told.insert(*line) {
            let text = format!("{path} {why}: {}", start_of(line));
            found.push(known.finding(known.has(word), text));
        }
    }
    found
}

fn start_of(line: &str) -> String {
    line.trim().chars().take(160).collect()
}

/// Whether a line joins one literal text to another, which only hides it.
fn joins_literals(line: &str) -> bool {
    let is_quote = |c: char| c == '"' || c == '\'';
    let is_name = |c: char| c == '_' || c == '.' || c.is_alphanumeric();
    let mut rest = line;
    while let Some((literal, after)) = next_literal(rest) {
        let between = after.trim_start();
        let next = between.strip_prefix('+').unwrap_or(between).trim_start();
        let joined = next.strip_prefix(is_quote);
        if literal.ends_with(is_name) && joined.is_some_and(|text| text.starts_with(is_name)) {
            return true;
        }
        rest = after;
    }
    false
}

/// The inside of the first literal text in a line, and what follows it.
fn next_literal(line: &str) -> Option<(&str, &str)> {
    let start = line.find(['"', '\''])?;
    let quote = line[start..].chars().next()?;
    let inside = &line[start + 1..];
    let mut escaped = false;
    let end = inside.find(|c| {
        let ends = c == quote && !escaped;
        escaped = c == '\\' && !escaped;
        ends
    })?;
    Some((&inside[..end], &inside[end + 1..]))
}

/// Whether a line has a word, or imports what a dotted one names.
fn uses(line: &str, word: &str) -> bool {
    let imports = |(module, name): (&str, &str)| {
        let rest = line.trim_start().strip_prefix("from ");
        let names = rest.and_then(|rest| rest.strip_prefix(module)?.strip_prefix(" import "));
        names.is_some_and(|names| has_word(names, name))
    };
    has_word(line, word) || word.split_once('.').is_some_and(imports)
}

/// Whether a line has a word that does not stand inside a longer one.
fn has_word(line: &str, word: &str) -> bool {
    let is_part = |c: char| c == '_' || c.is_alphanumeric();
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + word.len()..].chars().next();
        let begins = !word.starts_with(is_part) || !before.is_some_and(is_part);
        let ends = !word.ends_with(|c: char| c.is_alphanumeric()) || !after.is_some_and(is_part);
        // A method of that name is another thing than the built-in function.
        let called = !word.ends_with('(') || before != Some('.');
        begins && ends && called
    })
}

/// The insides of quotes in a line that are long enough to mean something.
fn long_literals(line: &str) -> impl Iterator<Item = &str> {
    let double = line.split('"').skip(1).step_by(2);
    let single = line.split('\'').skip(1).step_by(2);
    let literals = double.chain(single).map(str::trim);
    literals.filter(|literal| literal.chars().count() >= LITERAL_LENGTH)
}

fn copied_literals(
    literals: &BTreeSet<String>,
    known: &Known<'_>,
    oracle: &CodeTree,
) -> Option<Finding> {
    let tests = oracle.iter().filter(|(path, _)| is_test(path));
    let tests: Vec<&str> = tests.filter_map(|(_, entry)| text_of(entry)).collect();
    let copied: Vec<&String> = literals
        .iter()
        .take(MAX_LITERALS)
        .filter(|literal| !known.has(literal))
        .filter(|literal| tests.iter().any(|text| text.contains(literal.as_str())))
        .collect();
    let (told, suspicious) = LITERALS;
    let finding = match copied.len() {
        n if n >= suspicious => Finding::suspicious,
        n if n >= told => Finding::note,
        _ => return None,
    };
    let text = format!(
        "{} literals of the tests stand in the added code and neither in the base nor in the oracle, for example {:?}",
        copied.len(),
        copied[0].chars().take(80).collect::<String>()
    );
    Some(finding(FindingKind::Construct, text))
}

/// Whether base or oracle have a class of this name, and the code does not
/// change how its objects compare.
pub(crate) fn is_known_class(
    class: &str,
    code: &CodeTree,
    base: &CodeTree,
    oracle: &CodeTree,
) -> bool {
    let name = class.rsplit('.').next().unwrap_or(class);
    let known = Known::of(base, oracle);
    let definition = format!("class {name}");
    let defined = known.texts.iter().any(|text| {
        text.lines().any(|line| {
            let rest = line.trim_start().strip_prefix(&definition);
            rest.is_some_and(|rest| rest.starts_with(['(', ':', '[']))
        })
    });
    let sources = code
        .iter()
        .filter(|(path, _)| !is_test(path) && is_python(path));
    let mut added = sources
        .filter_map(|(_, entry)| text_of(entry))
        .flat_map(str::lines)
        .filter(|line| !known.lines.contains(line.trim()));
    defined && !added.any(|line| line.contains("__eq__") || line.contains("__class__"))
}
