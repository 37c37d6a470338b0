//! Stores the conversations of imported evolutions. They decide nothing: one that
//! cannot be read is missed by its page, and noted with the run.

use std::collections::BTreeMap;
use std::path::Path;

use swe_ci_base::blocking::blocking;
use swe_ci_base::digest::sha256_hex;
use swe_ci_base::error::Result;
use swe_ci_core::step::Role;
use swe_ci_gateway::trajectory::Conversations;
use swe_ci_store::ImportedRun;
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
    /// For each that could not be read.
    notes: Vec<String>,
}

impl Trajectories {
    /// Stores the trajectories of the iterations of this run, one at a time: each
    /// may be large.
    ///
    /// # Errors
    /// A trajectory could not be stored.
    pub async fn store(
        artifacts: &Artifacts,
        root: &Path,
        experiment: &Experiment,
        run: &ImportedRun,
    ) -> Result<Self> {
        let mut stored = Self::default();
        for path in paths(experiment, run.config.plan.max_iterations) {
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

    /// Names them in the steps of the run, which has an evolution for each sample of
    /// the experiment. They are part of what it was made from.
    pub fn name_in(self, run: &mut ImportedRun, experiment: &Experiment) {
        let samples = experiment.tasks.iter().flat_map(|task| &task.samples);
        for (evolution, found) in run.evolutions.iter_mut().zip(samples) {
            let Found::Evolution(of) = found else {
                continue;
            };
            for step in &mut evolution.steps {
                if step.role == Role::Programmer {
                    let path = of.trajectories.get(&step.iteration);
                    step.trajectory = path.and_then(|path| self.keys.get(path)).cloned();
                }
            }
        }
        let Some(imported) = &mut run.provenance.imported else {
            return;
        };
        imported.notes.extend(self.notes);
        if !self.keys.is_empty() {
            let keys: Vec<&str> = self.keys.values().map(String::as_str).collect();
            let all = format!("{}\n{}", imported.digest, keys.join("\n"));
            imported.digest = format!("sha256:{}", sha256_hex(all.as_bytes()));
        }
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
