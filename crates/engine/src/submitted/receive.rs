//! Takes a run from another site: unpacks its archive, checks it, and stores it as
//! a private run that waits for a review.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;
use std::time::{Duration, SystemTime};

use anyhow::Context;
use futures::TryStreamExt;
use sha2::{Digest, Sha256};
use swe_ci_base::blocking::blocking;
use swe_ci_base::code::CodeTree;
use swe_ci_base::digest::{hex, sha256_hex};
use swe_ci_base::error::{Error, Result};
use swe_ci_core::run::Kind;
use swe_ci_store::{ImportedEvolution, ImportedRun, NewSubmission};
use swe_ci_views::account::{AccountRole, Actor, Standing, Visibility};
use swe_ci_views::submitted::{ReviewState, SubmittedRun};
use swe_ci_views::view::ImportedFrom;
use tokio::io::AsyncWriteExt;

use super::check::SiteSplit;
use super::{
    DESCRIPTION, DescribedEvolution, Description, FILES, LAYOUT, MOST_FILE, SIGNATURE, Signature,
};
use crate::{Engine, METRIC_VERSION, Pieces};

/// The most bytes of an archive, and what it unpacks to.
pub const MOST_ARCHIVE_BYTES: u64 = 1 << 30;
const MOST_UNPACKED: u64 = 16 << 30;
const MOST_DESCRIPTION: u64 = 64 << 20;
const MOST_SIGNATURE: u64 = 4_096;
/// An account may have so many runs that wait for a decision.
const MOST_UNDECIDED: usize = 5;
/// Iterations whose tests run again.
const SAMPLE: u32 = 20;

#[swe_ci_boxed::boxed]
impl Engine {
    /// Takes a run that another site packed, for the account that it is packed
    /// for. It becomes a private run, and a worker begins to check it.
    ///
    /// # Errors
    /// [`Error::Invalid`] with the reason for which it is refused; then nothing of
    /// it is kept. [`Error::Conflict`] when it was submitted before, or too many
    /// runs of the account wait for a decision.
    pub async fn receive_submission(&self, archive: Pieces) -> Result<SubmittedRun> {
        self.require(AccountRole::Submitter)?;
        let account = self.by().name().to_owned();
        let waiting = self.submitted_by(&account).await?;
        let undecided = |run: &&SubmittedRun| {
            matches!(run.state, ReviewState::Checking | ReviewState::InReview)
        };
        if waiting.iter().filter(undecided).count() >= MOST_UNDECIDED {
            return Err(Error::Conflict(format!(
                "{MOST_UNDECIDED} submissions of yours wait for a decision already; submit more after it"
            )));
        }
        let folder = self.keep_archive(archive).await?;
        let path = folder.path().to_owned();
        let (description, new) = blocking(move || unpack(&path, &account)).await??;
        if let Some(other) = self
            .store
            .other_owner_of_key(&new.signer, &new.account)
            .await?
        {
            return Err(Error::Invalid(format!(
                "it is signed by the key of the account `{other}`; sign with your own"
            )));
        }
        if let Some(run) = self.store.run_of_submission(&new.digest).await? {
            return Err(Error::Conflict(format!(
                "it was submitted before, as run {run}"
            )));
        }
        let split = SiteSplit {
            tasks: self.store.tasks_of_split(&description.config.split).await?,
            iterations: self
                .store
                .declared_iterations(&description.config.split)
                .await?,
        };
        let path = folder.path().to_owned();
        let (description, split) = blocking(move || {
            Ok(description
                .check(&split)
                .and_then(|()| description.check_files(&split, &path))
                .map(|()| (description, split)))
        })
        .await??;
        let run = self
            .stored_submission(description, split, new, folder.path())
            .await?;
        let (run_id, _) = self.store.put_import(&run).await?;
        let site = self.acting_for(Actor::Operator);
        site.start_verification(&run_id, Some(SAMPLE)).await?;
        self.submitted_run(&run_id).await
    }

    /// Writes the archive into a new folder of the data folder.
    async fn keep_archive(&self, archive: Pieces) -> Result<tempfile::TempDir> {
        let mut archive = archive;
        let data = self.config.data.clone();
        let folder = blocking(move || new_folder(&data)).await?;
        let file = tokio::fs::File::create(folder.path().join(ARCHIVE)).await;
        let mut file = file.context("cannot keep a submission")?;
        let mut bytes = 0;
        while let Some(piece) = archive
            .try_next()
            .await
            .map_err(|error| Error::Invalid(format!("the upload broke off: {error}")))?
        {
            bytes += piece.len() as u64;
            if bytes > MOST_ARCHIVE_BYTES {
                return Err(Error::Invalid(format!(
                    "it has more than {} MiB",
                    MOST_ARCHIVE_BYTES >> 20
                )));
            }
            file.write_all(&piece)
                .await
                .context("cannot keep a submission")?;
        }
        file.flush().await.context("cannot keep a submission")?;
        Ok(folder)
    }

    /// The run to import, with its files as artifacts.
    async fn stored_submission(
        &self,
        description: Description,
        split: SiteSplit,
        new: NewSubmission,
        folder: &Path,
    ) -> Result<ImportedRun> {
        let Description {
            mut config,
            mut provenance,
            mut evolutions,
            files,
            ..
        } = description;
        let mut keys: BTreeMap<String, String> = BTreeMap::new();
        for (name, digest) in &files {
            keys.insert(
                name.clone(),
                self.put_submitted_file(name, digest, folder).await?,
            );
        }
        for name in evolutions.iter_mut().flat_map(DescribedEvolution::files) {
            if let Some(key) = keys.get(name) {
                name.clone_from(key);
            }
        }
        config.kind = Kind::Imported;
        provenance.metric_version = METRIC_VERSION;
        provenance.imported = Some(ImportedFrom {
            layout: LAYOUT.into(),
            experiment: format!("submitted by {}", new.account),
            digest: format!("sha256:{}", new.digest),
            notes: Vec::new(),
        });
        let evolution = |of: DescribedEvolution| {
            let task = split.tasks.iter().find(|task| task.id == of.task_id)?;
            Some(ImportedEvolution {
                suite: task.suite.clone(),
                task_id: of.task_id,
                sample: of.sample,
                ending: of.ending,
                reason: of.reason,
                steps: of.steps,
                iterations: of.iterations,
            })
        };
        Ok(ImportedRun {
            source: format!("{LAYOUT}/{}", new.digest),
            standing: Standing {
                owner: self.by().identity().map(|who| who.account_id.clone()),
                visibility: Visibility::Private,
            },
            submission: Some(new),
            config,
            provenance,
            evolutions: evolutions.into_iter().filter_map(evolution).collect(),
            tasks: split.tasks,
        })
    }

    /// Stores a file under a name of this site, by its content.
    async fn put_submitted_file(&self, name: &str, digest: &str, folder: &Path) -> Result<String> {
        let path = folder.join(digest);
        if name.starts_with("code/") {
            let read = move || {
                let code = CodeTree::from_tar(File::open(path)?, 0, MOST_FILE)?;
                anyhow::Ok(std::sync::Arc::new(code))
            };
            return Ok(self.artifacts.put_code(&blocking(read).await?).await?);
        }
        let bytes = blocking(move || swe_ci_base::files::read_limited(&path, MOST_FILE)).await?;
        let last = name.rsplit('/').next().unwrap_or_default();
        let last = last.trim_end_matches(".zst");
        Ok(self
            .artifacts
            .put(&format!("imports/{digest}/{last}"), bytes)
            .await?)
    }
}

impl Description {
    /// Checks what its rows say of its files.
    fn check_files(&self, split: &SiteSplit, folder: &Path) -> Result<()> {
        for evolution in &self.evolutions {
            if let Some(task) = split.tasks.iter().find(|task| task.id == evolution.task_id) {
                evolution.check_reports(task, &self.files, folder)?;
            }
        }
        for (name, digest) in &self.files {
            let plain = |b: u8| b.is_ascii_alphanumeric() || b"/._-".contains(&b);
            if name.len() > 200 || !name.bytes().all(plain) {
                return invalid(format!(
                    "the file `{}` has no usable name",
                    name.escape_debug()
                ));
            }
            let Some(code) = name.strip_prefix("code/") else {
                continue;
            };
            let read = File::open(folder.join(digest)).context("a file is gone")?;
            let code_digest = CodeTree::from_tar(read, 0, MOST_FILE).map(|code| code.digest());
            if code_digest.ok().as_deref() != code.strip_suffix(".tar.zst") {
                return invalid(format!("{name} holds other code"));
            }
        }
        Ok(())
    }
}

const ARCHIVE: &str = "archive";
const FOLDER: &str = "submission-";

/// A folder that has not changed for so long is of a process that was killed.
const LONGEST_UPLOAD: Duration = Duration::from_hours(24);

/// Makes a folder for an archive, and removes those that nobody uses.
fn new_folder(data: &Path) -> anyhow::Result<tempfile::TempDir> {
    for entry in data.read_dir()?.flatten() {
        let is_old = |changed: SystemTime| changed.elapsed().is_ok_and(|age| age > LONGEST_UPLOAD);
        let changed = entry.metadata().and_then(|entry| entry.modified());
        let is_ours = entry.file_name().to_string_lossy().starts_with(FOLDER);
        if is_ours && changed.is_ok_and(is_old) {
            std::fs::remove_dir_all(entry.path())?;
        }
    }
    let folder = tempfile::Builder::new().prefix(FOLDER).tempdir_in(data);
    folder.context("cannot make a folder for a submission")
}

/// Unpacks the archive in a folder beside it, verified against its signature, which
/// must be for this account.
fn unpack(folder: &Path, account: &str) -> anyhow::Result<Result<(Description, NewSubmission)>> {
    let file = File::open(folder.join(ARCHIVE))?;
    let reader = zstd::Decoder::new(file)?.take(MOST_UNPACKED);
    let mut archive = tar::Archive::new(reader);
    Ok(unpack_entries(&mut archive, folder, account))
}

fn unpack_entries(
    archive: &mut tar::Archive<impl Read>,
    folder: &Path,
    account: &str,
) -> Result<(Description, NewSubmission)> {
    let unreadable = |error: std::io::Error| {
        Error::Invalid(format!(
            "it is no archive that `swe-ci submit` writes, or damaged: {error}"
        ))
    };
    let mut entries = archive.entries().map_err(unreadable)?;
    let mut head = |name: &str, most: u64| {
        let entry = entries.next().transpose().map_err(unreadable)?;
        let entry = entry.filter(|entry| {
            entry.path().is_ok_and(|path| path == Path::new(name)) && entry.size() <= most
        });
        let Some(mut entry) = entry else {
            return invalid(format!(
                "{name} is not where it belongs, or larger than {most} bytes"
            ));
        };
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).map_err(unreadable)?;
        Ok(bytes)
    };
    let json = head(DESCRIPTION, MOST_DESCRIPTION)?;
    let signature = head(SIGNATURE, MOST_SIGNATURE)?;
    let unparsed =
        |name: &str, error: serde_json::Error| Error::Invalid(format!("{name}: {error}"));
    let signature: Signature =
        serde_json::from_slice(&signature).map_err(|e| unparsed(SIGNATURE, e))?;
    signature.verify(&json)?;
    let mut description: Description =
        serde_json::from_slice(&json).map_err(|e| unparsed(DESCRIPTION, e))?;
    if description.account != account {
        return invalid(format!(
            "it is signed for the account `{}`, and you are `{account}`",
            description.account.escape_debug()
        ));
    }
    let files = &description.files;
    let unlisted = description
        .evolutions
        .iter_mut()
        .flat_map(DescribedEvolution::files)
        .find(|name| !files.contains_key(name.as_str()));
    if let Some(name) = unlisted {
        return invalid(format!("{name} has no digest"));
    }
    let mut wanted: BTreeSet<String> = description.files.values().cloned().collect();
    for entry in entries {
        let mut entry = entry.map_err(unreadable)?;
        let path = entry
            .path()
            .map_err(unreadable)?
            .to_string_lossy()
            .into_owned();
        let digest = path
            .strip_prefix(FILES)
            .filter(|digest| wanted.remove(*digest));
        let Some(digest) = digest.filter(|digest| digest.bytes().all(|b| b.is_ascii_hexdigit()))
        else {
            return invalid(format!(
                "`{}` is not part of a submission",
                path.escape_debug()
            ));
        };
        let found = write_hashed(&mut entry, &folder.join(digest)).map_err(unreadable)?;
        if found != digest {
            return invalid(format!("{path} has other content than its digest says"));
        }
    }
    if let Some(digest) = wanted.first() {
        return invalid(format!("the file with the digest {digest} is missing"));
    }
    let new = NewSubmission {
        account: account.to_owned(),
        signer: signature.public_key,
        digest: sha256_hex(&json),
    };
    Ok((description, new))
}

/// Copies a file; returns its digest.
fn write_hashed(from: &mut impl Read, to: &Path) -> std::io::Result<String> {
    let (mut from, mut to) = (from.take(MOST_FILE), File::create(to)?);
    let (mut hash, mut piece) = (Sha256::new(), vec![0; 64 << 10]);
    loop {
        let length = from.read(&mut piece)?;
        if length == 0 {
            return Ok(hex(&hash.finalize()));
        }
        hash.update(&piece[..length]);
        to.write_all(&piece[..length])?;
    }
}

fn invalid<T>(why: String) -> Result<T> {
    Err(Error::Invalid(why))
}
