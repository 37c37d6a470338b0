//! Reads TOML, or a value of another format, and names everything that is wrong with
//! it at once, in TOML each with its line: whoever writes a long file by hand mends it
//! in one go.

use serde::de::DeserializeOwned;
use serde_json::Value;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// More are not looked for.
const MOST: usize = 20;

/// Parses a text. `example` is a valid value with as many fields as there may be:
/// it stands in for what is wrong, so that the rest can be read. `check` finds what
/// is wrong with a value, from what was given and what was understood; each problem
/// begins with its field.
///
/// # Errors
/// All problems, one a line.
pub fn read<T: DeserializeOwned>(
    text: &str,
    example: &str,
    check: impl Fn(&Value, &T) -> Vec<String>,
) -> Result<T, String> {
    let (document, errors) = DeTable::parse_recoverable(text);
    if !errors.is_empty() {
        let place = |error: &toml::de::Error| error.span().map(|span| span.start);
        let lines = errors.iter().take(MOST);
        return Err(joined(lines.map(|error| match place(error) {
            Some(at) => format!(
                "line {}: {}\n{}",
                line(text, at),
                error.message(),
                shown(text, at)
            ),
            None => error.message().to_owned(),
        })));
    }
    let given = toml::from_str(text).map_err(|error| error.to_string())?;
    let problems = match understand(given, example, check) {
        Ok(value) => return Ok(value),
        Err(problems) => problems,
    };
    let placed = problems.into_iter().map(|problem| {
        let field = problem.split([':', ' ']).next().unwrap_or_default();
        match position(&document, field).map(|at| line(text, at)) {
            Some(line) => (line, format!("line {line}, {problem}")),
            None => (usize::MAX, problem),
        }
    });
    let mut placed: Vec<(usize, String)> = placed.collect();
    placed.sort_by_key(|(line, _)| *line);
    Err(joined(placed.into_iter().map(|(_, problem)| problem)))
}

/// As [`read`], of a value that may come from any format.
///
/// # Errors
/// All problems, each of which begins with its field and `: `.
pub fn understand<T: DeserializeOwned>(
    given: Value,
    example: &str,
    check: impl Fn(&Value, &T) -> Vec<String>,
) -> Result<T, Vec<String>> {
    let example = toml::from_str(example).map_err(|error| vec![error.to_string()])?;
    let mut reading = Reading {
        given,
        problems: Vec::new(),
        is_itself: true,
    };
    let value = reading.value::<T>(&example);
    let mut problems = reading.problems;
    if let Some(value) = value.as_ref().filter(|_| reading.is_itself) {
        problems.extend(check(&reading.given, value));
    }
    match value.filter(|_| problems.is_empty()) {
        Some(value) => Ok(value),
        None => Err(problems),
    }
}

/// The line of a place, and a caret below the place.
fn shown(text: &str, at: usize) -> String {
    let begin = text[..at].rfind('\n').map_or(0, |end| end + 1);
    let line = text[begin..].lines().next().unwrap_or_default();
    let before = text[begin..at].chars().count();
    format!("  {line}\n  {:before$}^", "")
}

struct Reading {
    given: Value,
    /// Each begins with its field.
    problems: Vec<String>,
    /// Only single values were replaced: the rest is what was written.
    is_itself: bool,
}

impl Reading {
    /// The value with the example's parts in place of those that are wrong.
    fn value<T: DeserializeOwned>(&mut self, example: &Value) -> Option<T> {
        while self.problems.len() < MOST {
            let error = match serde_path_to_error::deserialize::<_, T>(&self.given) {
                Ok(value) => return Some(value),
                Err(error) => error,
            };
            let mut path: Vec<String> = Vec::new();
            for segment in error.path() {
                match segment {
                    serde_path_to_error::Segment::Map { key } => path.push(key.clone()),
                    serde_path_to_error::Segment::Seq { index } => path.push(index.to_string()),
                    _ => {}
                }
            }
            let why = error.inner().to_string();
            let is_mended = self.mend(path, &why, example);
            if !is_mended {
                return None;
            }
        }
        None
    }

    fn mend(&mut self, mut path: Vec<String>, why: &str, example: &Value) -> bool {
        let named = |what: &str| {
            let rest = why.strip_prefix(what)?;
            Some(rest.split('`').next().unwrap_or_default().to_owned())
        };
        let unknown = named("unknown field `");
        if let Some(name) = unknown.clone().or_else(|| named("missing field `"))
            && path.last() != Some(&name)
        {
            path.push(name);
        }
        let told = match &unknown {
            Some(_) => "there is no such field",
            None => why,
        };
        self.problems.push(format!("{}: {told}", path.join(".")));
        let (Some(name), stand_in) = (path.pop(), at(example, &path)) else {
            return false;
        };
        let stand_in = stand_in.and_then(|parent| child(parent, &name));
        let stand_in = stand_in.filter(|_| unknown.is_none());
        self.is_itself &= !stand_in.is_some_and(|value| value.is_object() || value.is_array());
        let Some(parent) = at_mut(&mut self.given, &path) else {
            return false;
        };
        match (parent, stand_in) {
            (Value::Object(fields), Some(value)) => {
                fields.insert(name, value.clone()).as_ref() != Some(value)
            }
            (Value::Object(fields), None) => fields.remove(&name).is_some(),
            (Value::Array(items), Some(value)) => {
                let item = name.parse().ok().and_then(|n: usize| items.get_mut(n));
                item.is_some_and(|item| std::mem::replace(item, value.clone()) != *value)
            }
            _ => false,
        }
    }
}

fn at<'a>(value: &'a Value, path: &[String]) -> Option<&'a Value> {
    path.iter()
        .try_fold(value, |value, name| child(value, name))
}

/// An example has one item for all.
fn child<'a>(value: &'a Value, name: &str) -> Option<&'a Value> {
    match value {
        Value::Array(items) => items.first(),
        _ => value.get(name),
    }
}

fn at_mut<'a>(value: &'a mut Value, path: &[String]) -> Option<&'a mut Value> {
    path.iter().try_fold(value, |value, name| match value {
        Value::Array(items) => items.get_mut(name.parse::<usize>().ok()?),
        _ => value.get_mut(name),
    })
}

/// Where a field stands, or the innermost table around it.
fn position(document: &Spanned<DeTable<'_>>, field: &str) -> Option<usize> {
    let (mut found, mut inner) = (None, Inner::Table(document.get_ref()));
    for name in field.split('.') {
        let value = match inner {
            Inner::Table(table) => {
                let mut entries = table.iter();
                let Some((key, value)) = entries.find(|(key, _)| key.get_ref() == name) else {
                    return found;
                };
                found = Some(key.span().start);
                value.get_ref()
            }
            Inner::Array(items) => {
                let item = name.parse().ok().and_then(|n: usize| items.get(n));
                let Some(item) = item else { return found };
                found = Some(item.span().start);
                item.get_ref()
            }
        };
        inner = match value {
            DeValue::Table(table) => Inner::Table(table),
            DeValue::Array(items) => Inner::Array(items),
            _ => return found,
        };
    }
    found
}

enum Inner<'a, 'b> {
    Table(&'a DeTable<'b>),
    Array(&'a toml::de::DeArray<'b>),
}

fn line(text: &str, at: usize) -> usize {
    let before = text.as_bytes().iter().take(at);
    before.filter(|byte| **byte == b'\n').count() + 1
}

fn joined(lines: impl Iterator<Item = String>) -> String {
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use serde::{Deserialize, Serialize};

    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Plan {
        name: String,
        #[serde(default)]
        most: u32,
        #[serde(default)]
        source: Vec<Source>,
    }

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Source {
        git: String,
        #[serde(default)]
        days: f64,
    }

    fn check(text: &str, expect: &[&str]) {
        let small = |_: &Value, plan: &Plan| match plan.most {
            0..10 => Vec::new(),
            most => vec![format!("most: {most} is above 9")],
        };
        let found = read(text, "name = 'p'\nsource = [{ git = 'g' }]", small).err();
        let found = found.unwrap_or_default();
        assert_eq!(found.lines().collect::<Vec<_>>(), expect, "{text}");
    }

    #[test]
    fn all_problems_are_named_with_their_lines() {
        check("name = 'a'", &[]);
        check("name = 'a'\nmost = 10", &["line 2, most: 10 is above 9"]);
        check(
            "name = 3\nmost = 10\nmots = 1\n\n[[source]]\ngit = 'a'\ndays = 'x'\n[[source]]\nhub = 1\n",
            &[
                "line 1, name: invalid type: integer `3`, expected a string",
                "line 2, most: 10 is above 9",
                "line 3, mots: there is no such field",
                "line 7, source.0.days: invalid type: string \"x\", expected f64",
                "line 8, source.1.git: missing field `git`",
                "line 9, source.1.hub: there is no such field",
            ],
        );
        check(
            "most = -1",
            &[
                "line 1, most: invalid value: integer `-1`, expected u32",
                "name: missing field `name`",
            ],
        );
        check(
            "name = \nmost = \n",
            &[
                "line 1: string values must be quoted, expected literal string",
                "  name = ",
                "         ^",
                "line 2: string values must be quoted, expected literal string",
                "  most = ",
                "         ^",
            ],
        );
    }
}
