//! The file of a log: a zip with a JSON file for each part, written sample by
//! sample beside its place and then put there whole.

use std::fs::Permissions;
use std::io::{BufWriter, ErrorKind, IntoInnerError, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::Context;
use serde::Serialize;
use swe_ci_base::error::Result;
use swe_ci_views::view::EvolutionView;
use tempfile::NamedTempFile;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::RecordedStep;
use super::evolution::Evolved;
use super::format::{Eval, Header, Plan, Start, Summary, Usages, VERSION};
use super::run::RunFacts;

/// A log that is being written. Nothing of it stays when it is dropped.
#[derive(Debug)]
pub struct LogFile {
    zip: ZipWriter<BufWriter<NamedTempFile>>,
    path: PathBuf,
    replace: bool,
    eval: Eval,
    plan: Plan,
    summaries: Vec<Summary>,
    usages: Usages,
}

impl LogFile {
    /// Begins the log of a run in this folder, which is created when absent; none
    /// if it is there and must not be replaced.
    pub fn begin(facts: &RunFacts, folder: &Path, replace: bool) -> Result<Option<Self>> {
        let path = folder.join(facts.file_name());
        if !replace && path.exists() {
            return Ok(None);
        }
        let unwritable = || format!("cannot write in the folder {}", folder.display());
        std::fs::create_dir_all(folder).with_context(unwritable)?;
        // As any file that a program writes: the user's umask decides who reads it.
        let file = tempfile::Builder::new()
            .prefix(".swe-ci-")
            .permissions(Permissions::from_mode(0o666))
            .tempfile_in(folder)
            .with_context(unwritable)?;
        let mut log = Self {
            zip: ZipWriter::new(BufWriter::new(file)),
            path,
            replace,
            eval: facts.eval(),
            plan: facts.plan(),
            summaries: Vec::new(),
            usages: Usages::default(),
        };
        let start = Start {
            version: VERSION,
            eval: &log.eval,
            plan: &log.plan,
        };
        add(&mut log.zip, "_journal/start.json", &start)?;
        Ok(Some(log))
    }

    /// Adds an evolution.
    pub fn add(
        &mut self,
        facts: &RunFacts,
        view: &EvolutionView,
        steps: &[RecordedStep],
    ) -> Result<()> {
        let evolved = Evolved::new(facts, view, steps);
        add(&mut self.zip, &evolved.file(), &evolved.sample())?;
        self.usages += evolved.usages();
        self.summaries.push(evolved.summary());
        Ok(())
    }

    /// Writes the rest, and puts the file in its place; `false` if another process
    /// put one there meanwhile, which is kept.
    pub fn finish(mut self, facts: &RunFacts) -> Result<bool> {
        add(&mut self.zip, "summaries.json", &self.summaries)?;
        let header = Header {
            version: VERSION,
            status: facts.status(),
            eval: &self.eval,
            plan: &self.plan,
            results: &facts.results(),
            stats: &facts.stats(self.usages),
        };
        add(&mut self.zip, "header.json", &header)?;
        let unwritable = || format!("cannot write {}", self.path.display());
        let file = self.zip.finish().with_context(unwritable)?;
        let file = file.into_inner().map_err(IntoInnerError::into_error);
        let file = file.with_context(unwritable)?;
        file.as_file().sync_all().with_context(unwritable)?;
        let put = match self.replace {
            true => file.persist(&self.path),
            false => file.persist_noclobber(&self.path),
        };
        match put {
            Ok(_) => Ok(true),
            Err(error) if error.error.kind() == ErrorKind::AlreadyExists => Ok(false),
            Err(error) => Err(anyhow::Error::new(error.error).context(unwritable()).into()),
        }
    }
}

/// Adds a file, without times: the same run gives the same bytes.
fn add(
    zip: &mut ZipWriter<BufWriter<NamedTempFile>>,
    name: &str,
    content: &impl Serialize,
) -> anyhow::Result<()> {
    let options = SimpleFileOptions::default().last_modified_time(zip::DateTime::default());
    let mut write = || {
        zip.start_file(name, options)?;
        // JSON comes in small pieces, and each would be compressed by itself.
        let mut pieces = BufWriter::new(&mut *zip);
        serde_json::to_writer(&mut pieces, content)?;
        anyhow::Ok(pieces.flush()?)
    };
    write().with_context(|| format!("cannot write {name} of the log"))
}
