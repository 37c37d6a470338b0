//! Labels: what workers offer, and what runs need of the workers that execute
//! them.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::problems::Problems;

/// The most labels of a worker or a run.
const MOST: usize = 16;
/// The most characters of a label's name, and of its value.
const LONGEST: usize = 63;

/// Names and values, such as `arch=amd64, gpu=yes`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(transparent)]
pub struct Labels(BTreeMap<String, String>);

impl Labels {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Each as `name=value`: since names have no `=`, two labels have one text
    /// only if they are equal.
    pub fn texts(&self) -> impl Iterator<Item = String> {
        self.0.iter().map(|(name, value)| format!("{name}={value}"))
    }

    /// Whether a worker with the labels `offered` has all of these.
    pub fn met_by(&self, offered: &Self) -> bool {
        let offers = |(name, value)| offered.0.get(name) == Some(value);
        self.0.iter().all(offers)
    }

    pub(crate) fn validate(&self, field: &str, problems: &mut Problems) {
        let problem = self.problem();
        problems.ensure(field, problem.is_none(), || problem.unwrap_or_default());
    }

    fn problem(&self) -> Option<String> {
        if self.0.len() > MOST {
            return Some(format!("has {} labels; {MOST} are the most", self.0.len()));
        }
        let mut words = self.0.iter().flat_map(|(name, value)| [name, value]);
        let wrong = words.find(|word| !is_word(word))?;
        Some(format!(
            "`{}` is no word of a label; use 1 to {LONGEST} letters, digits and - _ . /",
            wrong.escape_debug()
        ))
    }
}

fn is_word(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
    (1..=LONGEST).contains(&text.len()) && text.chars().all(plain)
}

impl fmt::Display for Labels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let texts: Vec<String> = self.texts().collect();
        f.write_str(&texts.join(", "))
    }
}

impl FromStr for Labels {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut labels = Self::default();
        for label in text.split(',').map(str::trim).filter(|l| !l.is_empty()) {
            let Some((name, value)) = label.split_once('=') else {
                return Err(format!(
                    "`{}` is no label; write NAME=VALUE, such as gpu=yes",
                    label.escape_debug()
                ));
            };
            let (name, value) = (name.trim().to_owned(), value.trim().to_owned());
            if let Some(other) = labels.0.insert(name.clone(), value) {
                return Err(format!(
                    "`{name}` appears more than once; `{other}` was its first value"
                ));
            }
        }
        labels.problem().map_or(Ok(labels), Err)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(text: &str) -> Labels {
        text.parse().unwrap()
    }

    #[test]
    fn labels_are_written_as_they_are_read() {
        let check = |text: &str, expect: &str| assert_eq!(labels(text).to_string(), expect);
        check("", "");
        check(" gpu=yes ,, arch = amd64,", "arch=amd64, gpu=yes");
        check("example.org/pool=big-1", "example.org/pool=big-1");
    }

    #[test]
    fn a_worker_has_every_label_that_is_needed() {
        let check = |needs: &str, offers: &str, expect: bool| {
            assert_eq!(labels(needs).met_by(&labels(offers)), expect, "{needs}");
        };
        check("", "", true);
        check("", "gpu=yes", true);
        check("gpu=yes", "gpu=yes,arch=amd64", true);
        check("gpu=yes", "gpu=no", false);
        check("gpu=yes", "", false);
        check("gpu=yes,arch=arm64", "gpu=yes,arch=amd64", false);
    }

    #[test]
    fn bad_labels_are_explained() {
        let check = |text: &str, part: &str| {
            let why = text.parse::<Labels>().unwrap_err();
            assert!(why.contains(part), "{why}");
        };
        check("gpu", "write NAME=VALUE");
        check("=yes", "1 to 63 letters");
        check("gpu=", "1 to 63 letters");
        check("gpu=y\u{7}", "`y\\u{7}`");
        check("gpu=yes and no", "`yes and no`");
        check(&format!("{}=yes", "g".repeat(64)), "1 to 63 letters");
        check("gpu=yes,gpu=no", "more than once");
        let many: Vec<String> = (0..17).map(|n| format!("l{n}=1")).collect();
        check(&many.join(","), "has 17 labels; 16 are the most");
    }
}
