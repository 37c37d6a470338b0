//! Which interpreter, of those there are base images with.

use std::collections::BTreeMap;

use anyhow::bail;
use jiff::civil::{Date, date};
use serde::{Deserialize, Serialize};

use crate::environment::configuration::Configuration;
use crate::environment::version::{Version, numbers, satisfies};

/// Base images by the version of Python in them, such as `3.11`.
pub type BaseImages = BTreeMap<String, String>;

/// Major and minor.
type Minor = (u64, u64);

/// Versions before 3.9 are not offered: no pip that knows a day runs on them.
const FIRST: Minor = (3, 9);

/// Days of the first final releases. One that is not listed is newer than all.
const RELEASED: [(Minor, Date); 7] = [
    ((3, 9), date(2020, 10, 5)),
    ((3, 10), date(2021, 10, 4)),
    ((3, 11), date(2022, 10, 24)),
    ((3, 12), date(2023, 10, 2)),
    ((3, 13), date(2024, 10, 7)),
    ((3, 14), date(2025, 10, 7)),
    ((3, 15), date(2026, 10, 1)),
];

/// What was chosen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Interpreter {
    /// `3.11`.
    pub version: String,
    pub image: String,
    pub reason: String,
}

/// The highest version that satisfies `requires-python` and was released before
/// `day`; one that the classifiers name is preferred to one they do not.
///
/// An error says what was wanted and what there is.
pub fn choose(
    configuration: &Configuration,
    images: &BaseImages,
    day: Date,
) -> anyhow::Result<Interpreter> {
    let asked = configuration.requires_python.as_deref().unwrap_or("");
    let mut fitting = Vec::new();
    for (version, image) in images {
        let Some(pair) = minor(version) else {
            bail!("{version:?} in the table of base images is no version of Python such as 3.11");
        };
        if pair >= FIRST && was_released(pair, day) && fits(pair, version, asked)? {
            let named = configuration
                .python_classifiers
                .iter()
                .any(|c| minor(c) == Some(pair));
            fitting.push((named, pair, version, image));
        }
    }
    let Some((named, _, version, image)) = fitting.into_iter().max() else {
        let there: Vec<_> = images.keys().map(String::as_str).collect();
        let wanted = match asked {
            "" => "any".to_owned(),
            asked => format!("{asked:?}"),
        };
        bail!(
            "no base image has a Python that fits: wanted is {wanted}, from 3.9 on and released before {day}; \
             there are {}; add an image to the table, or leave this commit out",
            if there.is_empty() {
                "none".to_owned()
            } else {
                there.join(", ")
            }
        );
    };
    let asks = match asked {
        "" => "nothing is required".to_owned(),
        asked => format!("required is {asked}"),
    };
    let names = if named {
        "the classifiers name it"
    } else {
        "no classifier names it"
    };
    Ok(Interpreter {
        version: version.clone(),
        image: image.clone(),
        reason: format!("the highest there is before {day}: {asks}, and {names}"),
    })
}

fn minor(version: &str) -> Option<Minor> {
    match numbers(version)[..] {
        [major, minor, ..] => Some((major, minor)),
        _ => None,
    }
}

fn was_released(version: Minor, day: Date) -> bool {
    let released = RELEASED.iter().find(|(v, _)| *v == version);
    released.is_some_and(|(_, released)| *released < day)
}

/// A base image has the newest patch: `>=3.9.2` is satisfied by it.
fn fits(pair: Minor, version: &str, asked: &str) -> anyhow::Result<bool> {
    let version = match numbers(version).len() {
        2 => format!("{version}.99"),
        _ => version.to_owned(),
    };
    let Some(version) = Version::parse(&version) else {
        return Ok(false);
    };
    // `<=3.11` and `==3.11` mean the minor version in practice.
    let exact = Version::parse(&format!("{}.{}", pair.0, pair.1));
    let exact = exact.map(|exact| satisfies(&exact, asked)).transpose()?;
    Ok(satisfies(&version, asked)? || exact == Some(true))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(
        asked: &str,
        classifiers: &[&str],
        there: &[&str],
        day: &str,
    ) -> Result<String, String> {
        let configuration = Configuration {
            requires_python: (!asked.is_empty()).then(|| asked.into()),
            python_classifiers: classifiers.iter().map(|s| (*s).to_owned()).collect(),
            ..Configuration::default()
        };
        let images = there
            .iter()
            .map(|v| ((*v).to_owned(), format!("py{v}")))
            .collect();
        let found = choose(&configuration, &images, day.parse().unwrap());
        found
            .map(|it| it.version)
            .map_err(|error| error.to_string())
    }

    #[test]
    fn chosen_of_what_there_is() {
        let all = ["3.8", "3.9", "3.10", "3.11", "3.12", "3.13"];
        let check = |asked: &str, classifiers: &[&str], day: &str, expect: &str| {
            assert_eq!(
                chosen(asked, classifiers, &all, day).as_deref(),
                Ok(expect),
                "{asked} {day}"
            );
        };
        check("", &[], "2025-01-01", "3.13");
        check("", &[], "2023-01-01", "3.11");
        check(">=3.8,<3.12", &[], "2025-01-01", "3.11");
        check(">=3.8", &["3.8", "3.9", "3.10"], "2025-01-01", "3.10");
        check(">=3.11", &["3.8"], "2024-01-01", "3.12");
        check(">=3.9.2", &[], "2021-01-01", "3.9");
        check("<=3.11", &[], "2025-01-01", "3.11");
        check("!=3.13.*", &[], "2025-01-01", "3.12");
        // The very day is not before.
        check("", &[], "2023-10-02", "3.11");
        check("", &[], "2023-10-03", "3.12");
    }

    #[test]
    fn what_cannot_be_chosen_is_told() {
        let check = |asked: &str, there: &[&str], day: &str, parts: &[&str]| {
            let error = chosen(asked, &[], there, day).unwrap_err();
            for part in parts {
                assert!(error.contains(part), "{error}");
            }
        };
        check(
            "<3.9",
            &["3.11"],
            "2024-01-01",
            &["\"<3.9\"", "there are 3.11"],
        );
        check(
            "",
            &["3.11"],
            "2021-01-01",
            &["any", "released before 2021-01-01"],
        );
        check("", &[], "2021-01-01", &["there are none"]);
        check(
            "",
            &["py311"],
            "2021-01-01",
            &["py311", "no version of Python"],
        );
        check(">=x", &["3.11"], "2024-01-01", &[">=x"]);
        check("", &["3.8"], "2024-01-01", &["from 3.9 on"]);
    }
}
