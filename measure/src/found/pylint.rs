//! What Pylint found.

use std::collections::BTreeMap;

use serde::Deserialize;
use swe_ci_core::style::{PylintCounts, StyleTools};

use super::{Versions, parse, problem, same_files};
use crate::{Mode, Source};

/// How far Pylint's own score may be from ours.
const ROUNDING: f64 = 1e-9;

/// What Pylint found in one version.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pylint {
    pub tools: StyleTools,
    /// By path. Messages on several files, as on duplicates, are the file's
    /// that Pylint shows them at.
    pub files: BTreeMap<String, PylintCounts>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Found {
    tools: Versions,
    counts: Option<All>,
    problem: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct All {
    files: BTreeMap<String, Counts>,
    total: Counts,
    /// Absent without statements.
    global_note: Option<f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Counts {
    fatal: u32,
    error: u32,
    warning: u32,
    refactor: u32,
    convention: u32,
    statements: u32,
}

impl Counts {
    fn fields(&self) -> [(&'static str, u32); 6] {
        [
            ("fatal", self.fatal),
            ("error", self.error),
            ("warning", self.warning),
            ("refactor", self.refactor),
            ("convention", self.convention),
            ("statements", self.statements),
        ]
    }
}

impl From<&Counts> for PylintCounts {
    fn from(counts: &Counts) -> Self {
        Self {
            fatal: counts.fatal,
            error: counts.error,
            warning: counts.warning,
            refactor: counts.refactor,
            convention: counts.convention,
            statements: counts.statements,
        }
    }
}

impl All {
    /// Files must come to the total, and that to Pylint's own score.
    fn check(&self) -> Result<(), String> {
        for (n, (field, total)) in self.total.fields().into_iter().enumerate() {
            let files = self.files.values();
            let sum: u64 = files.map(|counts| u64::from(counts.fields()[n].1)).sum();
            if sum != u64::from(total) {
                return Err(format!("{field}: {total} in all, and {sum} in the files"));
            }
        }
        let ours = PylintCounts::from(&self.total).score();
        let same = match (ours, self.global_note) {
            (Some(ours), Some(note)) => (ours - note).abs() <= ROUNDING,
            (ours, note) => ours == note,
        };
        if !same {
            let note = self.global_note;
            return Err(format!(
                "global_note: {note:?}, and the counts say {ours:?}"
            ));
        }
        Ok(())
    }
}

/// Reads what Pylint found in a source.
///
/// # Errors
/// Why Pylint did not come to its end; or what is wrong with what it found,
/// naming file and field.
pub fn read_pylint(found: &[u8], source: &Source) -> Result<Pylint, String> {
    let found: Found = parse(Mode::Pylint, found)?;
    let tools = found.tools.tools()?;
    let all = match (found.counts, found.problem) {
        (Some(all), None) => all,
        (None, Some(text)) => return Err(problem(text)?),
        _ => return Err("Pylint found neither counts nor a problem, or both".to_owned()),
    };
    same_files(all.files.keys(), source.keys())?;
    all.check()?;
    let files = all.files.iter();
    Ok(Pylint {
        tools,
        files: files.map(|(path, c)| (path.clone(), c.into())).collect(),
    })
}
