//! A repository as the search describes it, checked for plain names and
//! addresses.

use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::error::sanitized;

/// A repository as GitHub describes it, also under its names of the fields. Owner and name are plain, and the clone
/// address consists of them and the host of the same GitHub.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RepositoryHit {
    /// `owner/name`.
    pub full_name: String,
    /// Always HTTPS.
    pub clone_url: String,
    #[serde(alias = "stargazers_count")]
    pub stars: u64,
    /// GitHub's key of the licence; `other` for an unknown one, None without a
    /// licence.
    #[serde(default, alias = "license", deserialize_with = "licence_key")]
    pub licence: Option<String>,
    pub created_at: Timestamp,
    /// The last push to any branch.
    pub pushed_at: Timestamp,
    pub default_branch: String,
    /// In KiB, as GitHub stores it; a clone may be larger.
    #[serde(alias = "size")]
    pub size_kb: u64,
    pub archived: bool,
    pub fork: bool,
}

/// A repository that the search skipped.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Skipped {
    /// GitHub's name for it without control characters; for display only.
    pub name: String,
    pub why: String,
}

fn licence_key<'de, D: Deserializer<'de>>(source: D) -> Result<Option<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Licence {
        Key(String),
        Described { key: String },
    }
    let licence = Option::<Licence>::deserialize(source)?;
    Ok(licence.map(|(Licence::Key(key) | Licence::Described { key })| sanitized(&key)))
}

/// In characters; GitHub's own limits are 39 (plus a company suffix) and 100.
const LONGEST_PART: usize = 100;
/// The longest file name, and so the longest ref, on common file systems.
const LONGEST_BRANCH: usize = 255;

impl RepositoryHit {
    /// `web` is the prefix of all clone addresses at this GitHub.
    ///
    /// # Errors
    /// If the description is incomplete or unusable; says why.
    pub(super) fn new(value: &Value, web: &str) -> Result<Self, Skipped> {
        let name = value["full_name"].as_str();
        let skipped = |why: String| Skipped {
            name: sanitized(name.unwrap_or("a repository without a name")),
            why,
        };
        let hit = Self::deserialize(value).map_err(|error| {
            let why = sanitized(&error.to_string());
            skipped(format!("its description is incomplete: {why}"))
        })?;
        let is_public = matches!(value["private"], Value::Null | Value::Bool(false));
        match problem(&hit, is_public, web) {
            Some(why) => Err(skipped(why)),
            None => Ok(hit),
        }
    }

    pub(super) fn has_licence(&self, key: &str) -> bool {
        let licence = self.licence.as_deref();
        licence.is_some_and(|licence| licence.eq_ignore_ascii_case(key))
    }
}

fn problem(hit: &RepositoryHit, is_public: bool, web: &str) -> Option<String> {
    if parts(&hit.full_name).is_none() {
        Some("its name is not of the form owner/name".to_owned())
    } else if hit.clone_url != format!("{web}/{}.git", hit.full_name) {
        let url = sanitized(&hit.clone_url);
        Some(format!(
            "its address `{url}` does not consist of {web}/ and its name"
        ))
    } else if !is_branch(&hit.default_branch) {
        Some("the name of its default branch is invalid".to_owned())
    } else if !is_public {
        Some("it is private".to_owned())
    } else {
        None
    }
}

/// The owner and the name, if both are plain: they become parts of addresses
/// and paths.
pub(super) fn parts(full_name: &str) -> Option<(&str, &str)> {
    let (owner, name) = full_name.split_once('/')?;
    (is_part(owner) && is_part(name)).then_some((owner, name))
}

fn is_part(part: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    !part.is_empty()
        && part.len() <= LONGEST_PART
        && part.bytes().all(plain)
        && ![".", ".."].contains(&part)
        // A program would read it as an option.
        && !part.starts_with('-')
}

/// Checks most of git's rules for branch names.
fn is_branch(name: &str) -> bool {
    let wrong =
        |letter: char| letter.is_control() || letter.is_whitespace() || "~^:?*[\\".contains(letter);
    !name.is_empty()
        && name.len() <= LONGEST_BRANCH
        && !name.contains(wrong)
        && !name.contains("..")
        && !name.contains("@{")
        && !name.starts_with(['-', '/'])
        && !name.ends_with(['.', '/'])
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn repositories_are_accepted_or_skipped() {
        let check = |field: &str, value: Value, expect: Option<&str>| {
            let mut repository = json!({
                "full_name": "o/n", "clone_url": "https://github.com/o/n.git",
                "stargazers_count": 7, "license": {"key": "mit", "spdx_id": "MIT"},
                "created_at": "2020-01-01T00:00:00Z", "pushed_at": "2025-01-01T00:00:00Z",
                "default_branch": "main", "size": 12, "archived": false, "fork": false,
                "private": false, "something": "else",
            });
            repository[field] = value.clone();
            if field == "full_name"
                && let Some(name) = value.as_str()
            {
                repository["clone_url"] = format!("https://github.com/{name}.git").into();
            }
            let hit = RepositoryHit::new(&repository, "https://github.com");
            match (&hit, expect) {
                (Ok(hit), None) => assert_eq!((hit.stars, hit.size_kb), (7, 12)),
                (Err(skipped), Some(expect)) => {
                    assert!(skipped.why.contains(expect), "{field} {skipped:?}");
                    assert!(!skipped.name.contains('\n') && skipped.name.len() <= 200);
                }
                _ => panic!("{field} {value} → {hit:?}"),
            }
        };
        check("size", 12.into(), None);
        check("license", Value::Null, None);
        check("default_branch", "feature/x.y".into(), None);
        check("full_name", "a_b.c-d/.github".into(), None);
        let name = |name: &str| check("full_name", name.into(), Some("form owner/name"));
        name("o");
        name("o/");
        name("/n");
        name("o/n/m");
        name("../n");
        name("o/..");
        name("-o/n");
        name("o/n m");
        name("o/n%2f");
        name("o/n\n");
        name("o\\p/n");
        name("ö/n");
        name(&format!("o/{}", "n".repeat(1_000)));
        check("full_name", Value::Null, Some("incomplete"));
        let url = |url: &str| {
            check(
                "clone_url",
                url.into(),
                Some("does not consist of https://github.com/"),
            );
        };
        url("http://github.com/o/n.git");
        url("https://github.com.evil.example/o/n.git");
        url("https://evil.example/o/n.git");
        url("https://u:p@github.com/o/n.git");
        url("https://github.com/o/m.git");
        url("https://github.com/o/n.git?x");
        url("file:///etc/passwd");
        url("ext::sh -c x");
        url("--upload-pack=x");
        let branch = |name: &str| check("default_branch", name.into(), Some("default branch"));
        branch("");
        branch("-x");
        branch("a..b");
        branch("a b");
        branch("a\n");
        branch("a:b");
        branch("@{1}");
        branch(&"b".repeat(256));
        check("private", true.into(), Some("private"));
        check("stargazers_count", (-1).into(), Some("incomplete"));
        check("pushed_at", "yesterday".into(), Some("incomplete"));
        check("archived", "no".into(), Some("incomplete"));
    }
}
