//! Chooses the Python interpreter among the base images.

use std::collections::BTreeMap;

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

/// Images with these versions, where a registry answers.
pub const USUAL_IMAGES: [(&str, &str); 6] = [
    ("3.9", "python:3.9-slim"),
    ("3.10", "python:3.10-slim"),
    ("3.11", "python:3.11-slim"),
    ("3.12", "python:3.12-slim"),
    ("3.13", "python:3.13-slim"),
    ("3.14", "python:3.14-slim"),
];

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Interpreter {
    /// `3.11`.
    pub version: String,
    pub image: String,
    pub reason: String,
}

/// Why no interpreter suits a commit.
#[derive(Debug, thiserror::Error)]
pub enum NoInterpreter {
    /// An image would help.
    #[error(
        "the project requires {required} and the day is {day}, so it needs Python {needed}; the base images have {available}. \
         Name an image with it in `environment.images` of the plan"
    )]
    NoImage {
        required: String,
        day: Date,
        needed: String,
        available: String,
    },
    /// No image would help.
    #[error(
        "the project requires {required}, and no Python from 3.9 on that was released before {day} satisfies it: \
         pip knows the days of packages from Python 3.9 on"
    )]
    TooOld { required: String, day: Date },
    #[error("{0}")]
    Unreadable(String),
}

impl NoInterpreter {
    /// A short text that groups equal cases.
    pub fn name(&self) -> &'static str {
        match self {
            Self::NoImage { .. } => "no base image with its Python",
            Self::TooOld { .. } => "before Python 3.9",
            Self::Unreadable(_) => "unreadable",
        }
    }
}

/// Chooses the highest version that satisfies `requires-python` and was
/// released before `day`, preferring versions that the classifiers name.
///
/// # Errors
/// The required and the available versions.
pub fn choose(
    configuration: &Configuration,
    images: &BaseImages,
    day: Date,
) -> Result<Interpreter, NoInterpreter> {
    let required = configuration.requires_python.as_deref().unwrap_or("");
    let mut fitting = Vec::new();
    for (version, image) in images {
        let Some(pair) = minor(version) else {
            let problem = format!(
                "{version:?} in the table of base images is not a Python version such as 3.11"
            );
            return Err(NoInterpreter::Unreadable(problem));
        };
        if is_possible(pair, version, required, day)? {
            let mut classifiers = configuration.python_classifiers.iter();
            let named = classifiers.any(|c| minor(c) == Some(pair));
            fitting.push((named, pair, version, image));
        }
    }
    let Some((named, _, version, image)) = fitting.into_iter().max() else {
        return Err(nothing_fits(required, images, day)?);
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

fn nothing_fits(
    required: &str,
    images: &BaseImages,
    day: Date,
) -> Result<NoInterpreter, NoInterpreter> {
    let mut needed = Vec::new();
    for (pair @ (major, minor), _) in RELEASED {
        let version = format!("{major}.{minor}");
        if is_possible(pair, &version, required, day)? {
            needed.push(version);
        }
    }
    let required = match required {
        "" => "any version".to_owned(),
        required => format!("{required:?}"),
    };
    if needed.is_empty() {
        return Ok(NoInterpreter::TooOld { required, day });
    }
    let available = match images.is_empty() {
        true => "none".to_owned(),
        false => images.keys().cloned().collect::<Vec<_>>().join(", "),
    };
    Ok(NoInterpreter::NoImage {
        required,
        day,
        needed: needed.join(" or "),
        available,
    })
}

fn is_possible(
    pair: Minor,
    version: &str,
    required: &str,
    day: Date,
) -> Result<bool, NoInterpreter> {
    let fits =
        || fits(pair, version, required).map_err(|e| NoInterpreter::Unreadable(format!("{e:#}")));
    Ok(pair >= FIRST && was_released(pair, day) && fits()?)
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
    fn errors_say_whether_an_image_would_help() {
        let check = |required: &str, there: &[&str], day: &str, parts: &[&str]| {
            let error = chosen(required, &[], there, day).unwrap_err();
            for part in parts {
                assert!(error.contains(part), "{error}");
            }
            let helps = error.contains("environment.images");
            assert_eq!(helps, error.contains("it needs Python"), "{error}");
        };
        check(
            "<3.9",
            &["3.11"],
            "2024-01-01",
            &["\"<3.9\"", "no Python from 3.9 on"],
        );
        check(
            "",
            &["3.11"],
            "2020-01-01",
            &["any version", "released before 2020-01-01"],
        );
        check(
            "",
            &["3.11"],
            "2022-01-01",
            &["needs Python 3.9 or 3.10", "images have 3.11"],
        );
        check(
            ">=3.10",
            &[],
            "2022-01-01",
            &["needs Python 3.10;", "images have none"],
        );
        check("", &["3.8"], "2021-01-01", &["needs Python 3.9;"]);
        check(
            "",
            &["py311"],
            "2021-01-01",
            &["py311", "not a Python version"],
        );
        check(">=x", &["3.11"], "2024-01-01", &[">=x"]);
    }
}
