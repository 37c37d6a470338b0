//! Reads the driver's results strictly, since it worked on an agent's code.

mod pylint;
mod radon;
mod versions;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use swe_ci_views::style::StyleTools;

use crate::call::{ASTROID, COMPLEXIPY, GRIFFE, Mode, PYLINT, RADON, VULTURE};

pub use pylint::{Pylint, read_pylint};
pub use radon::{Radon, read_radon};
pub use versions::{VersionFigure, read_versions};

/// The size limit of `found.json`, in bytes.
pub const MAX_FOUND: u64 = 64 << 20;

/// The longest problem text, in characters.
const MAX_PROBLEM_CHARS: usize = 300;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Versions {
    python: String,
    astroid: String,
    pylint: String,
    radon: String,
}

impl Versions {
    /// The tools' versions, if they are the expected ones.
    fn tools(self) -> Result<StyleTools, String> {
        let wanted = [
            ("Pylint", &self.pylint, PYLINT),
            ("astroid", &self.astroid, ASTROID),
            ("radon", &self.radon, RADON),
        ];
        for (name, found, wanted) in wanted {
            if found != wanted {
                return Err(format!("{name} is {found} instead of {wanted}"));
            }
        }
        is_python(&self.python)?;
        Ok(StyleTools {
            pylint: self.pylint,
            radon: self.radon,
            python: self.python,
            // Their results are refused in any other version.
            complexipy: COMPLEXIPY.to_owned(),
            vulture: VULTURE.to_owned(),
            griffe: GRIFFE.to_owned(),
        })
    }
}

fn is_python(version: &str) -> Result<(), String> {
    let is_of_version = |byte: u8| byte.is_ascii_alphanumeric() || b".+".contains(&byte);
    if version.starts_with("3.") && version.bytes().all(is_of_version) {
        return Ok(());
    }
    Err(format!("{version:?} is not a version of Python"))
}

/// Reads JSON; errors name the tool and the field.
fn parse<T: DeserializeOwned>(mode: Mode, text: &[u8]) -> Result<T, String> {
    if text.len() as u64 > MAX_FOUND {
        return Err(format!(
            "the result of {} has {} bytes, more than {MAX_FOUND}",
            mode.name(),
            text.len()
        ));
    }
    let mut json = serde_json::Deserializer::from_slice(text);
    let result = serde_path_to_error::deserialize(&mut json).map_err(|error| error.to_string());
    let result = result.and_then(|value| json.end().map(|()| value).map_err(|e| e.to_string()));
    result.map_err(|why| format!("the result of {} cannot be read: {why}", mode.name()))
}

fn ensure_same_files<'a>(
    mut measured: impl Iterator<Item = &'a String>,
    mut requested: impl Iterator<Item = &'a String>,
) -> Result<(), String> {
    loop {
        match (measured.next(), requested.next()) {
            (None, None) => return Ok(()),
            (Some(one), Some(other)) if one == other => {}
            // Both are sorted: the smaller path is missing in the other list.
            (Some(one), Some(other)) if one > other => return Err(not_measured(other)),
            (None, Some(other)) => return Err(not_measured(other)),
            (Some(one), _) => return Err(format!("{one}: measured but not requested")),
        }
    }
}

fn not_measured(path: &str) -> String {
    format!("{path}: not measured")
}

/// Checks a problem text: one line of bounded length.
fn checked_problem(text: String) -> Result<String, String> {
    let bounded = text.chars().count() <= MAX_PROBLEM_CHARS;
    if text.is_empty() || text.contains('\n') || !bounded {
        return Err(format!(
            "its problem is not one line of 1 to {MAX_PROBLEM_CHARS} characters"
        ));
    }
    Ok(text)
}

#[cfg(test)]
mod tests;
