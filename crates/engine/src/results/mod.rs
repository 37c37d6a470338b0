//! Results made elsewhere, on disk: read into an [`Experiment`], then scored
//! directly (`score`) or written into the store (`import`). The core crate
//! parses the files; this module finds them, reads them within limits, and
//! checks them against each other.

mod evolution;
mod folder;
mod harbor;
mod import;
mod measurement;
mod otter;
mod reference;
mod score;
#[cfg(test)]
mod tests;
mod trajectories;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::FileType;
use std::path::Path;

use serde::Serialize;
use swe_ci_core::results::{Layout, Record};
use swe_ci_core::step::Plan;
use swe_ci_core::task::TaskId;

pub use import::{ImportRequest, ImportedResults};
pub use score::{ScoreRequest, Scored, score};

use folder::{Folder, Unread, holds_files};
use harbor::JobLength;
use reference::PerTest;
use swe_ci_base::blocking::side_by_side;
use swe_ci_base::digest::sha256_hex;
use swe_ci_base::error::{Error, Result};
use swe_ci_dataset::{self, TaskLine};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Detail {
    /// Test by test, if known.
    Tests,
    /// Only counts, which needs far less reading.
    Counts,
}

/// A folder's results for the tasks of a split.
#[derive(Debug)]
struct Experiment {
    name: String,
    /// In the split's order.
    tasks: Vec<TaskResults>,
    /// Names of folders that belong to no task of the split.
    ignored: Vec<String>,
    /// Over everything that was read.
    digest: String,
    /// Of a job of Harbor, whose trials tell how many iterations they have.
    length: Option<JobLength>,
}

impl Experiment {
    /// N: the wanted one, else that of the trials, else the paper's.
    ///
    /// # Errors
    /// [`Error::Invalid`] when the trials have no such N.
    fn max_iterations(&self, wanted: Option<u32>) -> Result<u32> {
        match self.length {
            Some(length) => length.max_iterations(wanted).map_err(Error::Invalid),
            None => Ok(wanted.unwrap_or(Plan::default().max_iterations)),
        }
    }
}

#[derive(Debug)]
struct TaskResults {
    line: TaskLine,
    /// At least one; in order of their numbers.
    samples: Vec<Found>,
}

#[derive(Debug)]
enum Found {
    Evolution(Box<Evolution>),
    /// Never started; the text says what is missing.
    Missing(String),
    /// Not credible: the file, the line, and the problem.
    Bad(String),
}

#[derive(Debug)]
struct Evolution {
    record: Record,
    /// The outcomes test by test, or why they are unknown.
    tests: std::result::Result<PerTest, String>,
    notes: Vec<String>,
    /// Paths of the programmer's trajectories in ATIF, by iteration.
    trajectories: BTreeMap<u32, String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Skipped {
    pub task_id: TaskId,
    pub reason: String,
}

/// Reads a folder's results for a split. Blocks.
///
/// # Errors
/// [`Error::Invalid`] when the metadata file or the folder is invalid; a
/// problem of a single task is in that task's result.
fn read(layout: Layout, root: &Path, metadata: &Path, detail: Detail) -> Result<Experiment> {
    let lines = swe_ci_dataset::read_metadata(metadata).map_err(|e| invalid(&e))?;
    let folder = Folder::open(root).map_err(|e| invalid(&e))?;
    let name = folder.name().map_err(|e| invalid(&e))?;
    let (mut folders, length) = match folder.list("") {
        Ok(names) if layout == Layout::Harbor => {
            let job = harbor::job(&folder, names).map_err(Error::Invalid)?;
            (job.trials, Some(job.length))
        }
        Ok(names) => (by_task(layout, names), None),
        Err(Unread::Refused(why)) => return Err(Error::Invalid(why)),
        Err(Unread::Missing) => return Err(Error::not_found("folder", root.display())),
    };
    let mut with_folders = Vec::new();
    for line in lines {
        let own = folders.remove(line.task_id.as_str()).unwrap_or_default();
        with_folders.push((line, own));
    }
    // Parsing takes nearly all the time, and a task knows nothing of the others.
    let (tasks, digests): (_, Vec<String>) = side_by_side(with_folders, |(line, own)| {
        let mut folder = folder.unread();
        let samples = match layout {
            Layout::Reference => vec![reference::find(&mut folder, &line.task_id, detail)],
            Layout::Otter => otter::find(&mut folder, &line.task_id, &own),
            Layout::Harbor => harbor::find(&mut folder, &line, &own),
        };
        (TaskResults { line, samples }, folder.digest())
    })
    .into_iter()
    .unzip();
    let ignored: BTreeSet<String> = folders.into_values().flatten().collect();
    Ok(Experiment {
        name,
        tasks,
        ignored: ignored.into_iter().collect(),
        digest: format!("sha256:{}", sha256_hex(digests.concat().as_bytes())),
        length,
    })
}

/// Names of the folders by the task they seem to belong to.
fn by_task(layout: Layout, names: Vec<(String, FileType)>) -> BTreeMap<String, Vec<String>> {
    let mut folders: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (name, kind) in names {
        if !holds_files(kind) {
            continue;
        }
        let task = match (layout, name.rsplit_once('#')) {
            (Layout::Otter, Some((task, _))) => task,
            _ => name.as_str(),
        };
        folders.entry(task.to_owned()).or_default().push(name);
    }
    folders
}

fn invalid(error: &anyhow::Error) -> Error {
    Error::Invalid(format!("{error:#}"))
}
