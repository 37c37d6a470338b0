//! Files that a run gives its agents: instructions, skills, a server of tools.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::problems::Problems;

/// The most files of a run.
const MOST: usize = 50;
/// The most bytes of all of them, paths included: every list of runs has them.
const MOST_BYTES: usize = 64 << 10;
/// The most characters of a path, and the most folders of one.
const LONGEST: usize = 200;
const DEEPEST: usize = 10;
/// Names that every step has in its working folder.
const TAKEN: [&str; 5] = ["code", "harness", "non-passed", "requirement.xml", "tests"];

/// Texts by their paths below `/app`, the folder in which agents start. On a form
/// they are one text, each file below a line with its path: `-- AGENTS.md --`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(transparent)]
pub struct AgentFiles(BTreeMap<String, String>);

impl AgentFiles {
    /// Instructions that most agent programs read by themselves.
    pub const INSTRUCTIONS: &str = "AGENTS.md";

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        let files = self.0.iter();
        files.map(|(path, text)| (path.as_str(), text.as_str()))
    }

    pub fn insert(&mut self, path: impl Into<String>, text: impl Into<String>) {
        self.0.insert(path.into(), text.into());
    }

    pub fn instructions(&self) -> Option<&str> {
        self.0.get(Self::INSTRUCTIONS).map(String::as_str)
    }

    pub(crate) fn validate(&self, field: &str, problems: &mut Problems) {
        let problem = self.problem();
        problems.ensure(field, problem.is_none(), || problem.unwrap_or_default());
    }

    fn problem(&self) -> Option<String> {
        let bytes: usize = self
            .iter()
            .map(|(path, text)| path.len() + text.len())
            .sum();
        if self.0.len() > MOST || bytes > MOST_BYTES {
            let files = self.0.len();
            return Some(format!(
                "{files} files with {bytes} bytes; {MOST} with {MOST_BYTES} bytes are the most"
            ));
        }
        self.0.keys().find_map(|path| {
            let why = self.problem_of(path)?;
            Some(format!("`{}` {why}", path.escape_debug()))
        })
    }

    fn problem_of(&self, path: &str) -> Option<String> {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
        let parts: Vec<&str> = path.split('/').collect();
        let is_safe = |part: &&str| !matches!(*part, "" | "." | "..");
        if !path.chars().all(plain) || !parts.iter().all(is_safe) {
            return Some("is not a relative path of letters, digits and - _ . /".into());
        }
        if path.len() > LONGEST || parts.len() > DEEPEST {
            return Some(format!(
                "is longer than {LONGEST} characters or {DEEPEST} folders"
            ));
        }
        if let Some(taken) = TAKEN
            .iter()
            .find(|name| name.eq_ignore_ascii_case(parts[0]))
        {
            return Some(format!("is below `/app/{taken}`, which is the step's own"));
        }
        let mut above = path.match_indices('/').map(|(at, _)| &path[..at]);
        let file = above.find(|folder| self.0.contains_key(*folder))?;
        Some(format!("is below `{file}`, which is a file"))
    }
}

impl fmt::Display for AgentFiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.iter()
            .try_for_each(|(path, text)| write!(f, "-- {path} --\n{text}\n"))
    }
}

impl FromStr for AgentFiles {
    type Err = String;

    /// A text without a path is the [instructions](Self::INSTRUCTIONS).
    fn from_str(text: &str) -> Result<Self, String> {
        let mut files = Self::default();
        let mut lines: Vec<&str> = Vec::new();
        let mut current: Option<&str> = None;
        let mut put = |path: Option<&str>, lines: &mut Vec<&str>| {
            let text = std::mem::take(lines).join("\n");
            if path.is_none() && text.trim().is_empty() {
                return Ok(());
            }
            let path = path.unwrap_or(Self::INSTRUCTIONS);
            match files.0.insert(path.to_owned(), text) {
                None => Ok(()),
                Some(_) => Err(format!("`{path}` appears more than once")),
            }
        };
        // Browsers send \r\n.
        let text = text.replace("\r\n", "\n");
        for line in text.strip_suffix('\n').unwrap_or(&text).split('\n') {
            match path_in(line) {
                Some(path) => put(current.replace(path), &mut lines)?,
                None => lines.push(line),
            }
        }
        put(current, &mut lines)?;
        Ok(files)
    }
}

/// The path in the line above a file.
fn path_in(line: &str) -> Option<&str> {
    let path = line.trim_end().strip_prefix("-- ")?.strip_suffix(" --")?;
    Some(path.trim())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn problem(files: &[(&str, &str)]) -> Option<String> {
        let mut all = AgentFiles::default();
        files
            .iter()
            .for_each(|(path, text)| all.insert(*path, *text));
        all.problem()
    }

    #[test]
    fn paths_stay_in_their_folder() {
        for good in ["AGENTS.md", ".claude/skills/a/SKILL.md", "tools/server.py"] {
            assert_eq!(problem(&[(good, "x")]), None);
        }
        for (bad, part) in [
            ("", "relative path"),
            ("/etc/passwd", "relative path"),
            ("../x", "relative path"),
            ("a/../../x", "relative path"),
            ("a//b", "relative path"),
            ("a b", "relative path"),
            ("a\0b", "relative path"),
            ("code/tiny.py", "the step's own"),
            ("Code/tiny.py", "the step's own"),
            ("harness/home/x", "the step's own"),
            ("requirement.xml", "the step's own"),
            (&"a/".repeat(10), "relative path"),
            (&format!("{}b", "a/".repeat(10)), "10 folders"),
            (&"a".repeat(201), "200 characters"),
        ] {
            let why = problem(&[(bad, "x")]).unwrap();
            assert!(why.contains(part), "{why}");
        }
        let why = problem(&[("a", "x"), ("a/b", "y")]).unwrap();
        assert!(why.contains("below `a`"), "{why}");
    }

    #[test]
    fn there_is_a_limit() {
        let long = "x".repeat(MOST_BYTES);
        assert!(problem(&[("a", &long)]).unwrap().contains("65537 bytes"));
        assert_eq!(problem(&[("a", &long[1..])]), None);
        let names: Vec<String> = (0..51).map(|n| format!("f{n}")).collect();
        let files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "")).collect();
        assert!(problem(&files).unwrap().contains("51 files"));
        assert_eq!(problem(&files[1..]), None);
    }

    #[test]
    fn one_text_of_all_files() {
        let check = |text: &str, expect: &[(&str, &str)]| {
            let files: AgentFiles = text.parse().unwrap();
            assert_eq!(files.iter().collect::<Vec<_>>(), expect);
        };
        check("", &[]);
        check("  \r\n", &[]);
        check("Be brief.\r\nTest.", &[("AGENTS.md", "Be brief.\nTest.")]);
        check("-- a --\nx\n-- b/c --\n", &[("a", "x"), ("b/c", "")]);
        check("\n-- a --\nx\n\n", &[("a", "x\n")]);
        let twice = "x\n-- AGENTS.md --\ny".parse::<AgentFiles>();
        assert!(twice.unwrap_err().contains("more than once"));
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(files in proptest::collection::btree_map("[a-z]{1,3}(/[a-z.]{1,3})?", "[a-z\n -]{0,20}", 0..5)) {
            let plain = files.values().flat_map(|text| text.split('\n')).all(|line| path_in(line).is_none());
            prop_assume!(plain);
            let files = AgentFiles(files);
            prop_assert_eq!(files.to_string().parse::<AgentFiles>().unwrap(), files);
        }
    }
}
