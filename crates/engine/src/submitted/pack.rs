//! Packs a run for another site.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::path::Path;

use anyhow::Context;
use serde::Serialize;
use swe_ci_base::blocking::blocking;
use swe_ci_base::digest::sha256_hex;
use swe_ci_base::error::{Error, Result};
use swe_ci_core::run::{Kind, Progress};
use swe_ci_store::EvolutionRow;
use swe_ci_views::account::AccountRole;

use super::{
    DESCRIPTION, DescribedEvolution, Description, FILES, FORMAT, SIGNATURE, Signature, suite_digest,
};
use crate::{Engine, as_u32};

/// Codes of one repository are alike.
const LEVEL: i32 = 9;

/// A packed run.
#[derive(Debug, Serialize)]
pub struct PackedRun {
    pub run_id: String,
    pub evolutions: u32,
    pub files: u32,
    pub bytes: u64,
    /// The public key that the signature verifies with, in base64.
    pub public_key: String,
}

#[swe_ci_boxed::boxed]
impl Engine {
    /// Writes a finished run into an archive that `account` of another site can
    /// submit there; for administrators. Its agents' containers stay out of it.
    ///
    /// # Errors
    /// [`Error::Conflict`] for a run that is not finished, was made elsewhere, or
    /// whose files are gone.
    pub async fn pack_submission(
        &self,
        run_id: &str,
        account: &str,
        to: &Path,
    ) -> Result<PackedRun> {
        self.require(AccountRole::Admin)?;
        let run = self.visible_run(run_id).await?;
        let refused = |why: &str| Err(Error::Conflict(format!("run {run_id} {why}")));
        if run.progress != Progress::Finished {
            return refused("is not finished; only finished runs can be submitted");
        }
        if run.config.kind == Kind::Imported {
            return refused("was made elsewhere; only its makers can submit it");
        }
        let mut description = Description {
            format: FORMAT,
            account: account.to_owned(),
            provenance: self.store.provenance(run_id).await?,
            config: run.config,
            evolutions: Vec::new(),
            files: BTreeMap::new(),
        };
        for evolution in self.store.evolutions_of_run(run_id).await? {
            description
                .evolutions
                .push(self.described(evolution).await?);
        }
        for name in description
            .evolutions
            .iter_mut()
            .flat_map(DescribedEvolution::files)
        {
            if !description.files.contains_key(name.as_str()) {
                let digest = sha256_hex(&self.artifacts.get(name).await?);
                description.files.insert(name.clone(), digest);
            }
        }
        self.write_submission(run_id, &description, to).await
    }

    async fn described(&self, evolution: EvolutionRow) -> Result<DescribedEvolution> {
        let task = self.store.task_of_evolution(&evolution).await?;
        let gone = || Error::Conflict(format!("an evolution of {} has no ending", task.id));
        let mut steps = self.store.steps(&evolution.id).await?;
        for step in &mut steps {
            step.container = None;
        }
        Ok(DescribedEvolution {
            sample: evolution.sample,
            suite: suite_digest(&task.suite)?,
            ending: evolution.ending.ok_or_else(gone)?,
            reason: evolution.reason,
            steps,
            iterations: self.store.iterations(&evolution.id).await?,
            base_sha: task.base_sha,
            target_sha: task.target_sha,
            task_id: task.id,
        })
    }

    async fn write_submission(
        &self,
        run_id: &str,
        description: &Description,
        to: &Path,
    ) -> Result<PackedRun> {
        let json = serde_json::to_vec(description).context("a run has no JSON")?;
        let (path, data) = (to.to_owned(), self.config.data.clone());
        let begin = move || {
            let signature = Signature::of(&json, &data)?;
            let file =
                File::create(&path).with_context(|| format!("cannot write {}", path.display()))?;
            let mut archive = tar::Builder::new(zstd::Encoder::new(file, LEVEL)?);
            append(&mut archive, DESCRIPTION, &json)?;
            append(&mut archive, SIGNATURE, &serde_json::to_vec(&signature)?)?;
            anyhow::Ok((archive, signature.public_key))
        };
        let (mut archive, public_key) = blocking(begin).await?;
        // Equal files are written once.
        let by_digest: BTreeMap<&String, &String> = description
            .files
            .iter()
            .map(|(name, digest)| (digest, name))
            .collect();
        for (digest, name) in &by_digest {
            let (bytes, path) = (self.artifacts.get(name).await?, format!("{FILES}{digest}"));
            archive = blocking(move || {
                append(&mut archive, &path, &bytes)?;
                Ok(archive)
            })
            .await?;
        }
        let finish = move || {
            let file = archive.into_inner()?.finish()?;
            file.sync_all()?;
            anyhow::Ok(file.metadata()?.len())
        };
        Ok(PackedRun {
            run_id: run_id.to_owned(),
            evolutions: as_u32(description.evolutions.len()),
            files: as_u32(by_digest.len()),
            bytes: blocking(finish).await?,
            public_key,
        })
    }
}

fn append(archive: &mut tar::Builder<impl Write>, path: &str, bytes: &[u8]) -> std::io::Result<()> {
    let mut header = tar::Header::new_gnu();
    header.set_size(bytes.len() as u64);
    header.set_mode(0o644);
    archive.append_data(&mut header, path, bytes)
}
