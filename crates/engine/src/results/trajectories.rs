//! Stores the conversations of imported evolutions. They decide nothing: one that
//! cannot be read is missed by its page, and noted with the run.

use std::collections::BTreeMap;
use std::path::Path;

use swe_ci_base::blocking::blocking;
use swe_ci_base::digest::sha256_hex;
use swe_ci_base::error::Result;
use swe_ci_core::step::Role;
use swe_ci_gateway::trajectory::Conversations;
use swe_ci_store::ImportedEvolution;
use swe_ci_store::artifacts::Artifacts;
use swe_ci_views::conversation::RecordingFormat;

use super::folder::{Folder, Unread};
use super::{Experiment, Found};

const ATIF_NAME: &str = RecordingFormat::ATIF_NAME;
const MAX_BYTES: u64 = 64 << 20;

/// The trajectories that were stored, and why others were not.
#[derive(Debug, Default)]
pub struct Trajectories {
    /// Keys of artifacts, by the paths in the folder of the results.
    keys: BTreeMap<String, String>,
    /// A note for each that could not be read.
    pub notes: Vec<String>,
}

impl Trajectories {
    /// Stores the trajectories of the first `max_iterations` iterations, one at a
    /// time: each may be large.
    ///
    /// # Errors
    /// A trajectory could not be stored.
    pub async fn store(
        artifacts: &Artifacts,
        root: &Path,
        experiment: &Experiment,
        max_iterations: u32,
    ) -> Result<Self> {
        let mut stored = Self::default();
        for path in paths(experiment, max_iterations) {
            let (root, name) = (root.to_path_buf(), path.clone());
            match blocking(move || Ok(checked(&root, &name))).await? {
                Ok(bytes) => {
                    // By content: the same import again stores nothing new.
                    let key = format!("imports/{}/{ATIF_NAME}", sha256_hex(&bytes));
                    let key = artifacts.put(&key, bytes).await?;
                    stored.keys.insert(path, key);
                }
                Err(why) => stored.notes.push(why),
            }
        }
        Ok(stored)
    }

    /// Names them in the steps of an evolution, which has its trajectories at
    /// these paths, by iteration.
    pub fn name_in(&self, evolution: &mut ImportedEvolution, paths: &BTreeMap<u32, String>) {
        for step in &mut evolution.steps {
            if step.role == Role::Programmer {
                let path = paths.get(&step.iteration);
                step.trajectory = path.and_then(|path| self.keys.get(path)).cloned();
            }
        }
    }

    /// Their keys, which change with their contents.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.keys.values().map(String::as_str)
    }
}

fn paths(experiment: &Experiment, max_iterations: u32) -> Vec<String> {
    let samples = experiment.tasks.iter().flat_map(|task| &task.samples);
    let trajectories = samples.filter_map(|found| match found {
        Found::Evolution(evolution) => Some(&evolution.trajectories),
        _ => None,
    });
    let all = trajectories.flat_map(|of| of.range(..=max_iterations));
    all.map(|(_, path)| path.clone()).collect()
}

/// A trajectory that can be read, or why it cannot.
fn checked(root: &Path, path: &str) -> std::result::Result<Vec<u8>, String> {
    let mut folder = Folder::open(root).map_err(|error| format!("{error:#}"))?;
    let bytes = folder.read(path, MAX_BYTES);
    let bytes = bytes.map_err(|unread: Unread| unread.why(|| format!("{path} has gone")))?;
    match Conversations::read(ATIF_NAME, bytes.clone()) {
        Ok(_) => Ok(bytes),
        Err(error) => Err(format!(
            "{path}: {error:#}; the run has no transcript of it"
        )),
    }
}
