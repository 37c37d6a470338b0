//! The results of Pylint.

use std::collections::BTreeMap;

use serde::Deserialize;
use swe_ci_views::style::{PylintCounts, StyleTools};

use super::{Versions, checked_problem, ensure_same_files, parse};
use crate::{Mode, Source};

/// How far Pylint's own score may be from ours.
const ROUNDING: f64 = 1e-9;

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Pylint {
    pub tools: StyleTools,
    /// By path. A message on several files, such as duplicates, counts for the
    /// file at which Pylint shows it.
    pub files: BTreeMap<String, PylintCounts>,
    /// Duplicated lines in percent of all lines; `None` without files.
    pub duplicated: Option<f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Output {
    tools: Versions,
    counts: Option<All>,
    problem: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct All {
    files: BTreeMap<String, Counts>,
    total: Counts,
    /// `None` without statements.
    global_note: Option<f64>,
    duplicated: Option<f64>,
}

#[derive(Deserialize)]
struct Counts(#[serde(with = "Fields")] PylintCounts);

/// The fields of [`PylintCounts`], and no others.
#[derive(Deserialize)]
#[serde(remote = "PylintCounts", deny_unknown_fields)]
struct Fields {
    fatal: u32,
    error: u32,
    warning: u32,
    refactor: u32,
    convention: u32,
    statements: u32,
}

fn fields(counts: &PylintCounts) -> [(&'static str, u32); 6] {
    [
        ("fatal", counts.fatal),
        ("error", counts.error),
        ("warning", counts.warning),
        ("refactor", counts.refactor),
        ("convention", counts.convention),
        ("statements", counts.statements),
    ]
}

impl All {
    /// Checks that the files add up to the total, and the total to Pylint's own
    /// score.
    fn check(&self) -> Result<(), String> {
        for (n, (field, total)) in fields(&self.total.0).into_iter().enumerate() {
            let files = self.files.values();
            let sum: u64 = files.map(|counts| u64::from(fields(&counts.0)[n].1)).sum();
            if sum != u64::from(total) {
                return Err(format!("{field}: {total} in all, and {sum} in the files"));
            }
        }
        if let Some(share) = self.duplicated.filter(|s| !(0.0..=100.0).contains(s)) {
            return Err(format!("duplicated is {share}, not 0 to 100"));
        }
        let ours = self.total.0.score();
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

/// Reads Pylint's result for a source.
///
/// # Errors
/// Why Pylint did not finish; or what is wrong with its result, with file and
/// field.
pub fn read_pylint(json: &[u8], source: &Source) -> Result<Pylint, String> {
    let output: Output = parse(Mode::Pylint, json)?;
    let tools = output.tools.tools()?;
    let all = match (output.counts, output.problem) {
        (Some(all), None) => all,
        (None, Some(text)) => return Err(checked_problem(text)?),
        _ => return Err("Pylint's result has neither counts nor a problem, or both".to_owned()),
    };
    ensure_same_files(all.files.keys(), source.keys())?;
    all.check()?;
    let files = all.files.into_iter();
    Ok(Pylint {
        tools,
        duplicated: all.duplicated,
        files: files.map(|(path, counts)| (path, counts.0)).collect(),
    })
}
