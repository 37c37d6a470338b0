//! Chooses the Python interpreter among the base images.

use std::collections::BTreeMap;

use anyhow::bail;
use jiff::civil::{Date, date};
use serde::{Deserialize, Serialize};

use crate::environment::configuration::Configuration;
use crate::environment::version::{Version, satisfies};

/// Base images by Python version, such as `3.11`.
pub type BaseImages = BTreeMap<String, String>;

/// Major and minor.
type Minor = (u64, u64);

/// Versions before 3.9 are excluded: no pip with `PIP_UPLOADED_PRIOR_TO` runs
/// on them.
const FIRST: Minor = (3, 9);

/// Dates of the first final releases. A version that is not listed counts as
/// unreleased.
const RELEASED: [(Minor, Date); 7] = [
    ((3, 9), date(2020, 10, 5)),
    ((3, 10), date(2021, 10, 4)),
    ((3, 11), date(2022, 10, 24)),
    ((3, 12), date(2023, 10, 2)),
    ((3, 13), date(2024, 10, 7)),
    ((3, 14), date(2025, 10, 7)),
    ((3, 15), date(2026, 10, 1)),
];

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Interpreter {
    /// `3.11`.
    pub version: String,
    pub image: String,
    pub reason: String,
}

/// Chooses the highest version that satisfies `requires-python` and was
/// released before `day`, preferring versions that the classifiers name.
///
/// An error lists the required and the available versions.
pub fn choose(
    configuration: &Configuration,
    images: &BaseImages,
    day: Date,
) -> anyhow::Result<Interpreter> {
    let required = configuration.requires_python.as_deref().unwrap_or("");
    let mut fitting = Vec::new();
    for (version, image) in images {
        let Some(pair) = minor(version) else {
            bail!("{version:?} in the table of base images is not a Python version such as 3.11");
        };
        if pair >= FIRST && was_released(pair, day) && fits(pair, version, required)? {
            let mut classifiers = configuration.python_classifiers.iter();
            let named = classifiers.any(|c| minor(c) == Some(pair));
            fitting.push((named, pair, version, image));
        }
    }
    let Some((named, _, version, image)) = fitting.into_iter().max() else {
        let mut available = images.keys().cloned().collect::<Vec<_>>().join(", ");
        if available.is_empty() {
            available = "none".to_owned();
        }
        let wanted = match required {
            "" => "any".to_owned(),
            required => format!("{required:?}"),
        };
        bail!(
            "no base image has a suitable Python: the project requires {wanted}, and the version must be \
             3.9 or later and released before {day}; available: {available}; add an image to the table, or \
             skip this commit"
        );
    };
    let asks = match required {
        "" => "the project requires no version".to_owned(),
        required => format!("the project requires {required}"),
    };
    let names = if named { "name" } else { "do not name" };
    Ok(Interpreter {
        version: version.clone(),
        image: image.clone(),
        reason: format!(
            "the highest version released before {day}: {asks}, and its classifiers {names} this one"
        ),
    })
}

fn minor(version: &str) -> Option<Minor> {
    match Version::parse(version)?.release() {
        [major, minor, ..] => Some((*major, *minor)),
        _ => None,
    }
}

fn was_released(version: Minor, day: Date) -> bool {
    let released = RELEASED.iter().find(|(v, _)| *v == version);
    released.is_some_and(|(_, released)| *released < day)
}

/// A base image contains the newest patch release, so it satisfies `>=3.9.2`.
/// Projects write `<=3.11` and `==3.11` when they mean all of 3.11.
fn fits(minor: Minor, version: &str, required: &str) -> anyhow::Result<bool> {
    let (major, minor) = minor;
    let newest = match Version::parse(version) {
        Some(version) if version.release().len() > 2 => Some(version),
        _ => Version::parse(&format!("{major}.{minor}.99")),
    };
    let first = Version::parse(&format!("{major}.{minor}.0"));
    for version in newest.into_iter().chain(first) {
        if satisfies(&version, required)? {
            return Ok(true);
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(
        required: &str,
        classifiers: &[&str],
        there: &[&str],
        day: &str,
    ) -> Result<String, String> {
        let configuration = Configuration {
            requires_python: (!required.is_empty()).then(|| required.into()),
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
    fn the_highest_suitable_version_is_chosen() {
        let all = ["3.8", "3.9", "3.10", "3.11", "3.12", "3.13"];
        let check = |required: &str, classifiers: &[&str], day: &str, expect: &str| {
            assert_eq!(
                chosen(required, classifiers, &all, day).as_deref(),
                Ok(expect),
                "{required} {day}"
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
        // The release day itself is not before it.
        check("", &[], "2023-10-02", "3.11");
        check("", &[], "2023-10-03", "3.12");
    }

    #[test]
    fn errors_list_required_and_available_versions() {
        let check = |required: &str, there: &[&str], day: &str, parts: &[&str]| {
            let error = chosen(required, &[], there, day).unwrap_err();
            for part in parts {
                assert!(error.contains(part), "{error}");
            }
        };
        check(
            "<3.9",
            &["3.11"],
            "2024-01-01",
            &["\"<3.9\"", "available: 3.11"],
        );
        check(
            "",
            &["3.11"],
            "2021-01-01",
            &["any", "released before 2021-01-01"],
        );
        check("", &[], "2021-01-01", &["available: none"]);
        check(
            "",
            &["py311"],
            "2021-01-01",
            &["py311", "not a Python version"],
        );
        check(">=x", &["3.11"], "2024-01-01", &[">=x"]);
        check("", &["3.8"], "2024-01-01", &["3.9 or later"]);
    }
}
