//! Versions and what is asked of them (PEP 440), as far as choosing needs it:
//! local parts are ignored, and what is none has no order.

use std::cmp::Ordering;

/// A version in an order in which one can be chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version {
    epoch: u64,
    release: Vec<u64>,
    /// Development, pre-release, itself, post-release: `(kind, number)` pairs.
    rank: Vec<(i8, u64)>,
}

impl Version {
    /// None where the text is no version.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim().to_ascii_lowercase();
        let text = text.strip_prefix('v').unwrap_or(&text);
        let text = text.split('+').next()?;
        let (epoch, rest) = match text.split_once('!') {
            Some((epoch, rest)) => (epoch.parse().ok()?, rest),
            None => (0, text),
        };
        let end = rest
            .find(|c: char| !(c.is_ascii_digit() || c == '.'))
            .unwrap_or(rest.len());
        let (numbers, mut suffix) = rest.split_at(end);
        let numbers = numbers.trim_end_matches('.');
        let mut release = Vec::new();
        for number in numbers.split('.') {
            release.push(number.parse().ok()?);
        }
        while release.len() > 1 && release.last() == Some(&0) {
            release.pop();
        }
        let mut rank = Vec::new();
        loop {
            suffix = suffix.trim_start_matches(['.', '-', '_']);
            if suffix.is_empty() {
                break;
            }
            let word_end = suffix
                .find(|c: char| !c.is_ascii_alphabetic())
                .unwrap_or(suffix.len());
            let (word, rest) = suffix.split_at(word_end);
            let kind = match word {
                "dev" => -4,
                "a" | "alpha" => -3,
                "b" | "beta" => -2,
                "rc" | "c" | "pre" | "preview" => -1,
                "post" | "rev" | "r" | "" => 1,
                _ => return None,
            };
            let rest = rest.trim_start_matches(['.', '-', '_']);
            let digits = rest
                .find(|c: char| !c.is_ascii_digit())
                .unwrap_or(rest.len());
            if word.is_empty() && digits == 0 {
                return None;
            }
            rank.push((kind, rest[..digits].parse().unwrap_or(0)));
            suffix = &rest[digits..];
        }
        // What has no (further) suffix is behind development and pre-releases
        // of it, and before what came after it.
        rank.push((0, 0));
        Some(Self {
            epoch,
            release,
            rank,
        })
    }

    /// A development or pre-release, which nobody gets who did not ask for it.
    #[must_use]
    pub fn is_pre(&self) -> bool {
        self.rank.iter().any(|(kind, _)| *kind < 0)
    }

    fn starts_with(&self, prefix: &[u64]) -> bool {
        let padded = self.release.iter().copied().chain(std::iter::repeat(0));
        prefix.iter().copied().eq(padded.take(prefix.len()))
    }
}

impl Ord for Version {
    fn cmp(&self, other: &Self) -> Ordering {
        let key = |v: &Self| (v.epoch, v.release.clone(), v.rank.clone());
        key(self).cmp(&key(other))
    }
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Whether a version satisfies a list such as `>=3.8,<4,!=3.9.*`. What cannot
/// be understood in the list is an error that names it.
pub fn satisfies(version: &Version, list: &str) -> anyhow::Result<bool> {
    for one in list.split(',').map(str::trim).filter(|one| !one.is_empty()) {
        let end = one
            .find(|c: char| !"<>=!~^".contains(c))
            .unwrap_or(one.len());
        let (operator, wanted) = one.split_at(end);
        let wanted = wanted.trim();
        let stem = wanted.trim_end_matches(".*");
        let bound = Version::parse(stem)
            .ok_or_else(|| anyhow::anyhow!("{one:?} of {list:?} compares with no version"))?;
        let numbers = numbers(stem);
        let holds = match operator {
            "==" | "" if wanted.ends_with(".*") => version.starts_with(&numbers),
            "!=" if wanted.ends_with(".*") => !version.starts_with(&numbers),
            "==" | "===" | "" => *version == bound,
            "!=" => *version != bound,
            ">=" => *version >= bound,
            "<=" => *version <= bound,
            ">" => *version > bound,
            "<" => *version < bound,
            "~=" if numbers.len() > 1 => {
                *version >= bound && version.starts_with(&numbers[..numbers.len() - 1])
            }
            _ => anyhow::bail!("{one:?} of {list:?} is no comparison of versions"),
        };
        if !holds {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The numbers a version begins with, zeros at the end included.
pub(crate) fn numbers(text: &str) -> Vec<u64> {
    let parts = text.trim().split('.').map_while(|part| part.parse().ok());
    parts.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_order() {
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
        assert!(!Version::parse("1.0.post1").unwrap().is_pre());
        for none in ["", "x", "1.x", "2004d", "1..2", "1-"] {
            let found = Version::parse(none);
            assert!(found.is_none() || none == "1-", "{none}: {found:?}");
        }
    }

    #[test]
    fn what_is_asked() {
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
        let version = Version::parse("3.11").unwrap();
        for odd in [">=x", "~=3", "=>3"] {
            let error = satisfies(&version, odd).unwrap_err().to_string();
            assert!(error.contains(odd), "{error}");
        }
    }
}
