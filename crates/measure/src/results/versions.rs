//! The results of the tools that measure versions beside each other.

use serde::Deserialize;

use super::{checked_problem, is_python, parse};
use crate::Mode;
use crate::call::{COMPLEXIPY, GRIFFE, VULTURE};

/// A tool's number for a version, which may be undefined; or why it did not
/// finish.
pub type VersionFigure = Result<Option<f64>, String>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Output {
    tools: Tools,
    versions: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Tools {
    python: String,
    complexipy: Option<String>,
    vulture: Option<String>,
    griffe: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Entry {
    Value(Option<f64>),
    Problem(String),
}

/// Reads what complexipy, Vulture or griffe found in this many versions, in the
/// order of the request.
///
/// # Errors
/// The first fault in it.
pub fn read_versions(
    mode: Mode,
    json: &[u8],
    versions: usize,
) -> Result<Vec<VersionFigure>, String> {
    let Output {
        tools,
        versions: entries,
    } = parse(mode, json)?;
    let name = mode.name();
    let (found, wanted, most) = match mode {
        Mode::Complexipy => (tools.complexipy, COMPLEXIPY, f64::INFINITY),
        // A share of all lines, in percent.
        Mode::Vulture => (tools.vulture, VULTURE, 100.0),
        Mode::Griffe => (tools.griffe, GRIFFE, f64::INFINITY),
        Mode::Radon | Mode::Pylint => return Err(format!("{name} does not compare versions")),
    };
    if found.as_deref() != Some(wanted) {
        let found = found.unwrap_or_else(|| "missing".to_owned());
        return Err(format!("{name} is {found} instead of {wanted}"));
    }
    is_python(&tools.python)?;
    if entries.len() != versions {
        let found = entries.len();
        return Err(format!("{name} measured {found} versions of {versions}"));
    }
    let checked = entries.into_iter().map(|entry| match entry {
        Entry::Value(Some(value)) if !(0.0..=most).contains(&value) => {
            Err(format!("{name} measured {value}, not 0 to {most}"))
        }
        Entry::Value(value) => Ok(Ok(value)),
        Entry::Problem(text) => checked_problem(text).map(|why| Err(format!("{name}: {why}"))),
    });
    checked.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(mode: Mode, tools: &str, versions: &str) -> Result<Vec<VersionFigure>, String> {
        let json = format!(r#"{{"tools":{{"python":"3.11.2",{tools}}},"versions":[{versions}]}}"#);
        read_versions(mode, json.as_bytes(), 2)
    }

    #[test]
    fn every_version_has_a_number_or_a_problem() {
        let found = read(
            Mode::Vulture,
            r#""vulture":"2.16""#,
            r#"{"value":12.5},{"problem":"it took over 300 s"}"#,
        );
        let problem = Err("Vulture: it took over 300 s".to_owned());
        assert_eq!(found, Ok(vec![Ok(Some(12.5)), problem]));
        let none = read(
            Mode::Griffe,
            r#""griffe":"2.4.1""#,
            r#"{"value":null},{"value":200}"#,
        );
        assert_eq!(none, Ok(vec![Ok(None), Ok(Some(200.0))]));
    }

    #[test]
    fn impossible_results_are_refused() {
        let check = |mode, tools: &str, versions: &str, expect: &str| {
            let error = read(mode, tools, versions).unwrap_err();
            assert!(error.contains(expect), "{error}");
        };
        let vulture = r#""vulture":"2.16""#;
        let two = r#"{"value":1},{"value":1}"#;
        check(Mode::Vulture, vulture, r#"{"value":1}"#, "1 versions of 2");
        check(
            Mode::Vulture,
            vulture,
            r#"{"value":1},{"value":101}"#,
            "101, not 0 to 100",
        );
        check(
            Mode::Vulture,
            vulture,
            r#"{"value":1},{"value":-1}"#,
            "-1, not 0",
        );
        check(
            Mode::Vulture,
            vulture,
            r#"{"value":1},{"problem":""}"#,
            "its problem is not",
        );
        check(
            Mode::Vulture,
            vulture,
            r#"{"value":1},{"other":1}"#,
            "unknown variant",
        );
        check(
            Mode::Vulture,
            r#""vulture":"2.15""#,
            two,
            "Vulture is 2.15 instead of 2.16",
        );
        check(Mode::Griffe, vulture, two, "griffe is missing");
        check(Mode::Radon, vulture, two, "radon does not compare");
    }
}
