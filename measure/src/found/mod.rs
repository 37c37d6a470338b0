//! What the driver wrote, read strictly: it worked on code of an agent.

mod pylint;
mod radon;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use swe_ci_core::style::StyleTools;

use crate::call::{ASTROID, Mode, PYLINT, RADON};

pub use pylint::{Pylint, read_pylint};
pub use radon::{Radon, read_radon};

/// The most bytes of `found.json`.
pub const MAX_FOUND: u64 = 64 << 20;

/// The most letters of why something was not measured.
const MOST_OF_A_PROBLEM: usize = 300;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Versions {
    python: String,
    astroid: String,
    pylint: String,
    radon: String,
}

impl Versions {
    /// What was measured with, if that is what it was to be.
    fn tools(self) -> Result<StyleTools, String> {
        let wanted = [
            ("Pylint", &self.pylint, PYLINT),
            ("astroid", &self.astroid, ASTROID),
            ("radon", &self.radon, RADON),
        ];
        for (name, found, wanted) in wanted {
            if found != wanted {
                return Err(format!("{name} is {found}, and {wanted} was to be used"));
            }
        }
        let is_version = |byte: u8| byte.is_ascii_alphanumeric() || b".+".contains(&byte);
        if !self.python.starts_with("3.") || !self.python.bytes().all(is_version) {
            return Err(format!("Python {:?} is no version of Python", self.python));
        }
        Ok(StyleTools {
            pylint: self.pylint,
            radon: self.radon,
            python: self.python,
        })
    }
}

/// Reads JSON; errors say in which file's which field they are.
fn parse<T: DeserializeOwned>(mode: Mode, found: &[u8]) -> Result<T, String> {
    if found.len() as u64 > MAX_FOUND {
        return Err(format!(
            "{} found {} bytes, more than {MAX_FOUND}",
            mode.name(),
            found.len()
        ));
    }
    let mut json = serde_json::Deserializer::from_slice(found);
    let read = serde_path_to_error::deserialize(&mut json).map_err(|error| error.to_string());
    let ended = read.and_then(|read| json.end().map(|()| read).map_err(|e| e.to_string()));
    ended.map_err(|why| format!("what {} found cannot be read: {why}", mode.name()))
}

/// Whether these are the files that were asked for.
fn same_files<'a>(
    found: impl Iterator<Item = &'a String>,
    asked: impl Iterator<Item = &'a String>,
) -> Result<(), String> {
    let (mut found, mut asked) = (found, asked);
    loop {
        match (found.next(), asked.next()) {
            (None, None) => return Ok(()),
            (Some(one), Some(other)) if one == other => {}
            // Both are in order: the smaller one is missing in the other.
            (Some(one), Some(other)) if one > other => return Err(not_measured(other)),
            (None, Some(other)) => return Err(not_measured(other)),
            (Some(one), _) => return Err(format!("{one}: measured, and was not asked for")),
        }
    }
}

fn not_measured(path: &str) -> String {
    format!("{path}: not measured")
}

/// Why something was not measured, as one line of bounded length.
fn problem(text: String) -> Result<String, String> {
    let bounded = text.chars().count() <= MOST_OF_A_PROBLEM;
    if text.is_empty() || text.contains('\n') || !bounded {
        return Err(format!(
            "its problem is not one line of 1 to {MOST_OF_A_PROBLEM} letters"
        ));
    }
    Ok(text)
}

#[cfg(test)]
mod tests;
