//! The results of radon.

use std::collections::{BTreeMap, HashMap};

use serde::Deserialize;
use swe_ci_views::style::{FileStyle, RadonCounts, StyleTools};

use super::{Versions, checked_problem, ensure_same_files, parse};
use crate::{Mode, Source, file_digest};

/// radon's results by digest of the content: counts, or why it has none.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Radon {
    /// The tools that measured; other versions must measure again.
    pub tools: StyleTools,
    pub files: HashMap<String, Result<RadonCounts, String>>,
}

impl Radon {
    pub fn knows(&self, digest: &str) -> bool {
        self.files.contains_key(digest)
    }

    /// Adds results of earlier measurements with the same tools.
    pub fn learn(&mut self, files: &[FileStyle]) {
        for file in files {
            let result = match (file.radon, &file.problem) {
                (Some(counts), _) => Ok(counts),
                (None, Some(problem)) => Err(problem.clone()),
                (None, None) => continue,
            };
            self.files.insert(file.digest.clone(), result);
        }
    }

    pub fn extend(&mut self, more: Self) {
        self.tools = more.tools;
        self.files.extend(more.files);
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Output {
    tools: Versions,
    files: BTreeMap<String, Entry>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Entry {
    Counts(#[serde(with = "Fields")] RadonCounts),
    Problem(String),
}

/// The fields of [`RadonCounts`], and no others.
#[derive(Deserialize)]
#[serde(remote = "RadonCounts", deny_unknown_fields)]
struct Fields {
    mi: f64,
    sloc: u32,
    comments: u32,
    blocks: u32,
    complexity: u32,
    complexity_most: u32,
    volume: f64,
}

fn checked(counts: RadonCounts) -> Result<RadonCounts, String> {
    let (most, all) = (counts.complexity_most, counts.complexity);
    // JSON has neither NaN nor infinity.
    if !(0.0..=100.0).contains(&counts.mi) {
        return Err(format!("mi is {}, not 0 to 100", counts.mi));
    }
    if counts.volume < 0.0 {
        return Err(format!("volume is {}, below 0", counts.volume));
    }
    if most > all {
        return Err(format!("complexity_most is {most}, and complexity {all}"));
    }
    if counts.blocks == 0 && all > 0 {
        return Err(format!("complexity is {all} without blocks"));
    }
    Ok(counts)
}

/// Reads radon's results for these contents, under any names.
///
/// # Errors
/// The first fault in them, with file and field.
pub fn read_radon(json: &[u8], contents: &Source) -> Result<Radon, String> {
    let output: Output = parse(Mode::Radon, json)?;
    let mut radon = Radon {
        tools: output.tools.tools()?,
        files: HashMap::new(),
    };
    ensure_same_files(output.files.keys(), contents.keys())?;
    for ((path, entry), bytes) in output.files.into_iter().zip(contents.values()) {
        let checked = match entry {
            Entry::Counts(counts) => checked(counts).map(Ok),
            Entry::Problem(text) => checked_problem(text).map(Err),
        };
        let checked = checked.map_err(|why| format!("{path}: {why}"))?;
        radon.files.insert(file_digest(bytes), checked);
    }
    Ok(radon)
}
