//! How the tests of a task in any language are run: its commands, the report that
//! they write, and which paths mean what. [`defaults`] has those of each language.

mod defaults;

use serde::{Deserialize, Serialize};

pub use defaults::LANGUAGES;

/// The name of Python, whose tests the guarded pytest runs.
pub const PYTHON: &str = "python";
/// The most seconds for the build, and for one test run.
const MAX_SECONDS: u32 = 24 * 3_600;
/// The most bytes of a plan's text, and the most patterns of one kind.
const MAX_TEXT: usize = 16 * 1024;
const MAX_PATTERNS: usize = 100;

/// How the tests of a task are run that is not Python's. Patterns are of paths below
/// the code's folder: `*` is any part of a name, `**` any number of folders.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TestPlan {
    /// In lower case, such as `rust`. Decides nothing here but how its code is shown
    /// and audited.
    pub language: String,
    /// Runs in a shell, in the code's folder, before the tests. When it fails, the code
    /// has collapsed, and the end of its output says why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub build: Option<String>,
    /// Runs in a shell, in the code's folder, and writes the report. It ends with 0 if
    /// every test passed.
    pub test: String,
    pub report: ReportFiles,
    /// The files that are the tests: the target's versions replace the code's. Tests
    /// within source files are not supported: they belong to the code.
    pub tests: Vec<String>,
    /// The files that configure the test runner. The target's versions replace the
    /// code's here too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub settings: Vec<String>,
    /// Folders with what builds leave behind. They are no part of the code.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub caches: Vec<String>,
    /// The most seconds that the build may take; what the run allows if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub build_seconds: Option<u32>,
    /// The most seconds that the tests may take; what the run allows if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test_seconds: Option<u32>,
}

/// The reports that the test command writes, as patterns of files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReportFiles {
    /// Reports in any dialect of JUnit's XML.
    Junit(Vec<String>),
    /// Reports in the Common Test Report Format, in JSON.
    Ctrf(Vec<String>),
}

impl ReportFiles {
    pub fn patterns(&self) -> &[String] {
        let (Self::Junit(patterns) | Self::Ctrf(patterns)) = self;
        patterns
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("this is no test plan: {0}")]
pub struct BadPlan(String);

impl TestPlan {
    /// The plan that a language usually has; none for a language without defaults,
    /// and for Python.
    pub fn of_language(language: &str) -> Option<Self> {
        defaults::of(language)
    }

    /// Reads a plan in JSON. What it does not say is as the language's defaults say.
    ///
    /// # Errors
    /// [`BadPlan`] says which field is wrong, and how.
    pub fn parse(text: &str) -> Result<Self, BadPlan> {
        if text.len() > MAX_TEXT {
            return Err(BadPlan(format!("it has more than {MAX_TEXT} bytes")));
        }
        let bad = |error: serde_json::Error| BadPlan(error.to_string());
        let said: serde_json::Map<_, _> = serde_json::from_str(text).map_err(bad)?;
        let language = said.get("language").and_then(|name| name.as_str());
        let defaults = language.and_then(Self::of_language);
        let mut all = match defaults
            .map(serde_json::to_value)
            .transpose()
            .map_err(bad)?
        {
            Some(serde_json::Value::Object(all)) => all,
            _ => serde_json::Map::new(),
        };
        all.extend(said);
        let plan: Self = serde_json::from_value(all.into()).map_err(bad)?;
        plan.checked()
    }

    fn checked(self) -> Result<Self, BadPlan> {
        let wrong = |what: String| Err(BadPlan(what));
        let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "+#-".contains(c);
        if self.language.is_empty()
            || self.language.len() > 40
            || !self.language.chars().all(is_name)
        {
            return wrong(format!(
                "`language`: `{}` is not 1 to 40 of a–z, 0–9, +, # and -",
                self.language
            ));
        }
        if self.language == PYTHON {
            return wrong("`language`: Python's tests are run by pytest, with `platform`".into());
        }
        if self.test.trim().is_empty() {
            return wrong("`test`: the command is empty".into());
        }
        let lists = [
            ("report", self.report.patterns(), 1),
            ("tests", &self.tests, 1),
            ("settings", &self.settings, 0),
            ("caches", &self.caches, 0),
        ];
        for (name, patterns, fewest) in lists {
            if !(fewest..=MAX_PATTERNS).contains(&patterns.len()) {
                return wrong(format!(
                    "`{name}`: {fewest} to {MAX_PATTERNS} paths are allowed"
                ));
            }
            if let Some(pattern) = patterns.iter().find(|pattern| !is_inside(pattern)) {
                return wrong(format!(
                    "`{name}`: `{pattern}` is no path below the code's folder"
                ));
            }
        }
        for (name, seconds) in [
            ("build_seconds", self.build_seconds),
            ("test_seconds", self.test_seconds),
        ] {
            if seconds.is_some_and(|seconds| !(1..=MAX_SECONDS).contains(&seconds)) {
                return wrong(format!("`{name}`: 1 to {MAX_SECONDS} seconds are allowed"));
            }
        }
        Ok(self)
    }

    /// Whether a path belongs to the tests.
    pub fn is_test(&self, path: &str) -> bool {
        matches_any(&self.tests, path)
    }

    /// Whether the target's version of a path is graded with.
    pub fn is_oracles(&self, path: &str) -> bool {
        self.is_test(path) || matches_any(&self.settings, path)
    }
}

fn is_inside(pattern: &str) -> bool {
    let parts = pattern.split('/');
    !pattern.is_empty()
        && !pattern.contains('\\')
        && parts.clone().all(|part| !matches!(part, "" | "." | ".."))
}

pub fn matches_any(patterns: &[String], path: &str) -> bool {
    patterns.iter().any(|pattern| matches(pattern, path))
}

/// Whether a path matches a pattern. A pattern takes a path's length times its own at
/// most: bad luck costs no more.
fn matches(pattern: &str, path: &str) -> bool {
    let pattern: Vec<&str> = pattern.split('/').collect();
    let path: Vec<&str> = path.split('/').collect();
    let is_any = |part: &&str| *part == "**";
    wildcard(&pattern, &path, is_any, |pattern, name| {
        let (pattern, name): (Vec<char>, Vec<char>) =
            (pattern.chars().collect(), name.chars().collect());
        wildcard(&pattern, &name, |c| *c == '*', |p, c| p == c)
    })
}

/// Matches items against a pattern in which some items stand for any number of others.
fn wildcard<T>(
    pattern: &[T],
    items: &[T],
    is_any: impl Fn(&T) -> bool,
    same: impl Fn(&T, &T) -> bool,
) -> bool {
    // The places in the pattern that the items so far can have led to.
    let mut reached = vec![false; pattern.len() + 1];
    reached[0] = true;
    let skip = |reached: &mut Vec<bool>| {
        for (at, item) in pattern.iter().enumerate() {
            reached[at + 1] |= reached[at] && is_any(item);
        }
    };
    skip(&mut reached);
    for item in items {
        let mut next = vec![false; pattern.len() + 1];
        for (at, expected) in pattern.iter().enumerate().filter(|(at, _)| reached[*at]) {
            match is_any(expected) {
                true => next[at] = true,
                false => next[at + 1] |= same(expected, item),
            }
        }
        skip(&mut next);
        reached = next;
    }
    reached[pattern.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_of_paths() {
        for (pattern, path, expect) in [
            ("tests/**", "tests/a.rs", true),
            ("tests/**", "tests/a/b.rs", true),
            ("tests/**", "src/tests/b.rs", false),
            ("**/*_test.go", "a_test.go", true),
            ("**/*_test.go", "a/b/c_test.go", true),
            ("**/*_test.go", "a/b/c_tests.go", false),
            ("**/test/**/*.js", "test/a.js", true),
            ("**/test/**/*.js", "a/test/b/c.js", true),
            ("package.json", "package.json", true),
            ("package.json", "a/package.json", false),
            ("*", "a/b", false),
            ("a*b*c", "aXbYbZc", true),
            ("a*b*c", "aXbYbZ", false),
        ] {
            assert_eq!(matches(pattern, path), expect, "{pattern} {path}");
        }
        // Neither takes for ever.
        let stars = "*a".repeat(60);
        assert!(!matches(
            &stars,
            &"a".repeat(10_000)[..9_999].replace('a', "b")
        ));
    }

    #[test]
    fn every_language_has_a_plan_that_reads_back() {
        for language in LANGUAGES.iter().filter(|language| **language != PYTHON) {
            let plan = TestPlan::of_language(language).unwrap();
            assert_eq!(plan.language, *language);
            let text = serde_json::to_string(&plan).unwrap();
            assert_eq!(TestPlan::parse(&text), Ok(plan));
        }
    }

    #[test]
    fn what_a_plan_leaves_out_is_the_languages() {
        let plan = TestPlan::parse(r#"{"language":"go","test":"make test"}"#).unwrap();
        let defaults = TestPlan::of_language("go").unwrap();
        assert_eq!(
            plan,
            TestPlan {
                test: "make test".into(),
                ..defaults
            }
        );
    }

    #[test]
    fn bad_plans_say_what_is_wrong() {
        let bad = |text: &str, expect: &str| {
            let why = TestPlan::parse(text).unwrap_err().to_string();
            assert!(why.contains(expect), "{text}: {why}");
        };
        bad("", "EOF");
        bad("[]", "expected a map");
        bad(r#"{"language":"perl"}"#, "missing field `test`");
        bad(r#"{"language":"Go","test":"x"}"#, "missing field `report`");
        bad(
            r#"{"language":"go","test":" "}"#,
            "`test`: the command is empty",
        );
        bad(r#"{"language":"go","tests":[]}"#, "`tests`: 1 to 100 paths");
        bad(
            r#"{"language":"go","tests":["../x"]}"#,
            "`tests`: `../x` is no path",
        );
        bad(
            r#"{"language":"go","report":{"junit":["/x"]}}"#,
            "`report`: `/x` is no path",
        );
        bad(
            r#"{"language":"go","report":{"tap":["x"]}}"#,
            "unknown variant `tap`",
        );
        bad(
            r#"{"language":"go","test_seconds":0}"#,
            "`test_seconds`: 1 to",
        );
        bad(
            r#"{"language":"go","verbose":true}"#,
            "unknown field `verbose`",
        );
        bad(
            r#"{"language":"python","test":"x","report":{"junit":["x"]},"tests":["x"]}"#,
            "run by pytest",
        );
    }
}
