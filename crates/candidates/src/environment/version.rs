//! Versions and version specifiers (PEP 440), with `pep440_rs`. Adds the few
//! other forms that released projects contain and pip tolerates.

use anyhow::Context;
use pep440_rs::VersionSpecifier;

/// A version of a distribution, without its local part.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(pep440_rs::Version);

impl Version {
    /// None if the text is not a version.
    pub fn parse(text: &str) -> Option<Self> {
        let version: pep440_rs::Version = text.trim().parse().ok()?;
        Some(Self(version.without_local()))
    }

    /// Whether this is a development or pre-release, which pip installs only on
    /// request.
    pub fn is_pre(&self) -> bool {
        self.0.any_prerelease()
    }

    /// The release numbers, with trailing zeros.
    pub(crate) fn release(&self) -> &[u64] {
        self.0.release()
    }
}

/// The version of a commit by `git describe --tags --long`: that of its tag, or
/// else the one that setuptools-scm guesses for a commit after it. None if the
/// tag names no version.
pub fn described(describe: &str) -> Option<String> {
    let (rest, _hash) = describe.trim().rsplit_once('-')?;
    let (tag, commits) = rest.rsplit_once('-')?;
    let commits: u64 = commits.parse().ok()?;
    // `v1.2`, `release-1.2`, `name/1.2`: the version starts a part of the name.
    let starts = tag.char_indices().map(|(at, _)| at);
    let starts = starts.filter(|at| *at == 0 || tag[..*at].ends_with(['-', '_', '/', 'v', 'V']));
    let mut texts = starts.map(|at| &tag[at..]);
    let text = texts.find(|text| Version::parse(text).is_some())?;
    let text = text.trim_start_matches(['v', 'V']);
    let version = Version::parse(text)?;
    if commits == 0 || version.is_pre() {
        return Some(text.to_owned());
    }
    let (last, first) = version.release().split_last()?;
    let mut numbers: Vec<String> = first.iter().map(u64::to_string).collect();
    numbers.push((last + 1).to_string());
    Some(format!("{}.dev{commits}", numbers.join(".")))
}

/// Whether a version satisfies a list such as `>=3.8,<4,!=3.9.*`. An error names
/// the part of the list that is not a specifier.
pub fn satisfies(version: &Version, list: &str) -> anyhow::Result<bool> {
    for part in list.split(',').map(str::trim).filter(|p| !p.is_empty()) {
        let specifier = specifier(part)
            .with_context(|| format!("{part:?} of {list:?} is not a version specifier"))?;
        if !specifier.contains(&version.0) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// PEP 440 knows neither a bare `3.8` (read as `==3.8`) nor `>=3.8.*` (read as
/// `>=3.8`), but released projects have both.
fn specifier(part: &str) -> anyhow::Result<VersionSpecifier> {
    let takes_star = part.starts_with("==") || part.starts_with("!=");
    Ok(match part {
        _ if !part.starts_with(['<', '>', '=', '!', '~']) => format!("=={part}").parse()?,
        _ if takes_star => part.parse()?,
        _ => part.trim_end_matches(".*").parse()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_have_an_order() {
        let all = [
            "0.9",
            "1.0.dev1",
            "1.0a1",
            "1.0b2",
            "1.0rc1",
            "1.0",
            "1.0.post1",
            "1.0.1",
            "1.10",
            "2",
            "1!0.1",
        ];
        for pair in all.windows(2) {
            let [a, b] = [pair[0], pair[1]].map(|text| Version::parse(text).unwrap());
            assert!(a < b, "{pair:?}");
        }
        assert_eq!(Version::parse("1.0"), Version::parse("v1"));
        assert_eq!(Version::parse("1.0-1"), Version::parse("1.post1"));
        assert_eq!(Version::parse("1.0+local"), Version::parse("1.0"));
        assert!(Version::parse("1.0rc1").unwrap().is_pre());
        assert!(Version::parse("1.0.dev1").unwrap().is_pre());
        assert!(!Version::parse("1.0.post1").unwrap().is_pre());
        for none in ["", "x", "1.x", "2004d", "1..2", "1-"] {
            assert_eq!(Version::parse(none), None, "{none}");
        }
    }

    #[test]
    fn a_commit_has_the_version_of_its_tag_or_one_after_it() {
        let check = |describe: &str, expect: Option<&str>| {
            assert_eq!(described(describe).as_deref(), expect, "{describe}");
        };
        check("v1.2.3-0-gabcdef0", Some("1.2.3"));
        check("1.2.3-5-gabcdef0\n", Some("1.2.4.dev5"));
        check("23.1-5-gabcdef0", Some("23.2.dev5"));
        check("release-2.0-1-gabcdef0", Some("2.1.dev1"));
        check("my-lib_v2.0-1-gabcdef0", Some("2.1.dev1"));
        check("2.0rc1-4-gabcdef0", Some("2.0rc1"));
        check("docs-4-gabcdef0", None);
        check("", None);
    }

    #[test]
    fn specifiers_are_checked() {
        let check = |version: &str, list: &str, expect: bool| {
            let version = Version::parse(version).unwrap();
            assert_eq!(
                satisfies(&version, list).unwrap(),
                expect,
                "{version:?} {list}"
            );
        };
        check("3.11", ">=3.8", true);
        check("3.11", ">=3.8,<4", true);
        check("3.11", ">= 3.8, < 3.11", false);
        check("3.11", "!=3.11.*", false);
        check("3.11", "==3.*", true);
        check("3.11", "~=3.8", true);
        check("3.11", "~=3.8.1", false);
        check("3.11", "", true);
        check("3.11", ">3.10", true);
        check("3.11", "<=3.11", true);
        check("3.11", "3.11", true);
        check("3.11", "v3.11.*", true);
        check("3.11", ">=3.8.*,", true);
        check("3.11", "<3.11.*", false);
        check("1.7.post1", ">1.7", false);
        check("1.7.1", ">1.7", true);
        check("1.7rc1", "<1.7", false);
        check("1.6", "<1.7", true);
        let version = Version::parse("3.11").unwrap();
        for odd in ["x", "^3", ">=x", "~=3", "=>3", ">=3 <4"] {
            let error = satisfies(&version, odd).unwrap_err().to_string();
            assert!(error.contains(odd), "{error}");
        }
    }
}
