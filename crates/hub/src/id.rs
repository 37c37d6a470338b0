//! Ids of datasets, revisions and commits.

use std::fmt;
use std::str::FromStr;

use super::checksum::is_hex;

/// A dataset's id at the hub: `owner/name`, or `name` for the oldest ones.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct DatasetId(String);

/// Why a text is no dataset id, revision or commit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not {what}: {rule}")]
pub struct IdError {
    text: String,
    what: &'static str,
    rule: &'static str,
}

impl IdError {
    fn new(text: &str, what: &'static str, rule: &'static str) -> Self {
        let text = text.to_owned();
        Self { text, what, rule }
    }
}

/// The most characters of a name or an owner's name.
const MAX_NAME: usize = 96;
const MAX_REVISION: usize = 255;

impl DatasetId {
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The owner, if any, and the name.
    pub(super) fn parts(&self) -> impl Iterator<Item = &str> {
        self.0.split('/')
    }
}

impl FromStr for DatasetId {
    type Err = IdError;

    /// Follows the hub's own rules for names.
    fn from_str(text: &str) -> Result<Self, IdError> {
        match name_problem(text) {
            None => Ok(Self(text.to_owned())),
            Some(rule) => Err(IdError::new(text, "the id of a dataset (owner/name)", rule)),
        }
    }
}

fn name_problem(text: &str) -> Option<&'static str> {
    let is_name_char = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let is_edge_char = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let parts: Vec<&str> = text.split('/').collect();
    if parts.len() > 2 || parts.contains(&"") {
        Some("it is a name, or an owner and a name with one `/` between them")
    } else if parts.iter().any(|part| part.len() > MAX_NAME) {
        Some("a name has at most 96 characters")
    } else if !parts.iter().all(|part| part.chars().all(is_name_char)) {
        Some("names are made of letters and digits of ASCII, `-`, `_` and `.`")
    } else if !parts
        .iter()
        .all(|part| part.starts_with(is_edge_char) && part.ends_with(is_edge_char))
    {
        Some("a name starts and ends with a letter, a digit or `_`")
    } else if text.contains("--") || text.contains("..") {
        Some("names have no `--` and no `..`")
    } else if text.ends_with(".git") {
        Some("a name does not end in `.git`")
    } else {
        None
    }
}

impl fmt::Display for DatasetId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A branch, a tag or a commit; `main` by default.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Revision(String);

impl Revision {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Default for Revision {
    fn default() -> Self {
        Self("main".into())
    }
}

impl FromStr for Revision {
    type Err = IdError;

    /// Accepts slightly less than git does.
    fn from_str(text: &str) -> Result<Self, IdError> {
        let is_revision_char = |c: char| c.is_ascii_alphanumeric() || "-_./+".contains(c);
        let is_valid = (1..=MAX_REVISION).contains(&text.len())
            && text.chars().all(is_revision_char)
            && !text.contains("..")
            && text
                .split('/')
                .all(|part| !part.is_empty() && !part.starts_with(['.', '-']));
        let rule = "it is the name of a branch or a tag, or a commit";
        is_valid
            .then(|| Self(text.to_owned()))
            .ok_or_else(|| IdError::new(text, "a revision", rule))
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A dataset at one commit, which cannot change.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Pinned {
    id: DatasetId,
    commit: String,
}

impl Pinned {
    /// From a known commit: 40 hexadecimal digits.
    pub fn new(id: DatasetId, commit: &str) -> Result<Self, IdError> {
        if is_hex(commit, 40) {
            let commit = commit.to_ascii_lowercase();
            Ok(Self { id, commit })
        } else {
            let rule = "it has 40 hexadecimal digits";
            Err(IdError::new(commit, "a commit", rule))
        }
    }

    pub fn id(&self) -> &DatasetId {
        &self.id
    }

    /// 40 hexadecimal digits, lowercase.
    pub fn commit(&self) -> &str {
        &self.commit
    }
}

impl fmt::Display for Pinned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {}", self.id, &self.commit[..12])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_by_the_rules_of_the_hub() {
        let check = |text: &str, good: bool| {
            let parsed = text.parse::<DatasetId>();
            assert_eq!(parsed.is_ok(), good, "{text}: {parsed:?}");
        };
        check("squad", true);
        check("owner/SWE-CI_1.0", true);
        check("_owner/name_", true);
        check(&format!("o/{}", "n".repeat(96)), true);
        check(&format!("o/{}", "n".repeat(97)), false);
        for bad in [
            "", "/", "a/", "/a", "a/b/c", "a b", "a/..", "../a", ".a", "a.", "-a/b", "a-/b",
            "a--b", "a..b", "a/b.git", "a/é", "a/b?c", "a/b%2f", "a\\b", "a/b\n",
        ] {
            check(bad, false);
        }
    }

    #[test]
    fn revisions_and_commits() {
        let check = |text: &str, good: bool| {
            assert_eq!(text.parse::<Revision>().is_ok(), good, "{text}");
        };
        check(Revision::default().as_str(), true);
        check("refs/pr/1", true);
        check("v1.0+x", true);
        for bad in [
            "", "..", "a/../b", ".", "/a", "a/", "a b", "-x", "a?b", "a\nb",
        ] {
            check(bad, false);
        }
        let id: DatasetId = "o/n".parse().unwrap();
        let pinned = Pinned::new(id.clone(), &"AB".repeat(20)).unwrap();
        assert_eq!(pinned.commit(), "ab".repeat(20));
        assert_eq!(pinned.to_string(), "o/n at abababababab");
        assert!(Pinned::new(id.clone(), "main").is_err());
        assert!(Pinned::new(id, &"g".repeat(40)).is_err());
    }
}
