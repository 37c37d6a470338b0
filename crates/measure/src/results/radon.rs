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
    #[must_use]
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

    /// Adds the results of a new measurement.
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
    Counts(Counts),
    Problem(String),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Counts {
    mi: f64,
    sloc: u32,
    comments: u32,
    blocks: u32,
    complexity: u32,
    complexity_most: u32,
    volume: f64,
}

impl Counts {
    fn checked(self) -> Result<RadonCounts, String> {
        // JSON has neither NaN nor infinity.
        if !(0.0..=100.0).contains(&self.mi) {
            return Err(format!("mi is {}, not 0 to 100", self.mi));
        }
        if self.volume < 0.0 {
            return Err(format!("volume is {}, below 0", self.volume));
        }
        if self.complexity_most > self.complexity {
            let (most, all) = (self.complexity_most, self.complexity);
            return Err(format!("complexity_most is {most}, and complexity {all}"));
        }
        if self.blocks == 0 && self.complexity > 0 {
            return Err(format!("complexity is {} without blocks", self.complexity));
        }
        Ok(RadonCounts {
            mi: self.mi,
            sloc: self.sloc,
            comments: self.comments,
            blocks: self.blocks,
            complexity: self.complexity,
            complexity_most: self.complexity_most,
            volume: self.volume,
        })
    }
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
            Entry::Counts(counts) => counts.checked().map(Ok),
            Entry::Problem(text) => checked_problem(text).map(Err),
        };
        let checked = checked.map_err(|why| format!("{path}: {why}"))?;
        radon.files.insert(file_digest(bytes), checked);
    }
    Ok(radon)
}
