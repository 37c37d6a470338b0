//! The versions of an evolution's source: base, oracle, and what was tested.

use std::sync::Arc;

use swe_ci_core::metrics::Verdict;
use swe_ci_core::style::CodeVersion;
use swe_ci_measure::{Changed, Source, changed};

use super::source_of;
use crate::Engine;
use crate::blocking::blocking;
use crate::error::Result;
use crate::store::{EvolutionRow, IterationRow, TaskRow};

/// No code that is heavier is looked at.
const HEAVIEST: u64 = 512 << 20;

/// One version of an evolution's source.
#[derive(Debug)]
pub struct Version {
    pub version: CodeVersion,
    pub source: Arc<Source>,
    /// Of its files.
    pub digest: String,
    /// How it differs from the base.
    pub changed: Changed,
}

impl Engine {
    /// Base, oracle, and each scored iteration whose code is kept, in order.
    pub(super) async fn versions(
        &self,
        evolution: &EvolutionRow,
        task: &TaskRow,
    ) -> Result<Vec<Version>> {
        let base = Arc::new(self.source_of_commit(task, &task.base_sha).await?);
        let oracle = Arc::new(self.source_of_commit(task, &task.target_sha).await?);
        let mut versions = vec![
            Version::of(CodeVersion::Base, base.clone(), &base).await?,
            Version::of(CodeVersion::Oracle, oracle, &base).await?,
        ];
        for row in self.inner.store.iterations(&evolution.id).await? {
            if !row.code.is_empty() && matches!(row.verdict, Verdict::Scored { .. }) {
                let source = Arc::new(self.source_of_iteration(&row).await?);
                let version = CodeVersion::Iteration(row.iteration);
                versions.push(Version::of(version, source, &base).await?);
            }
        }
        Ok(versions)
    }

    /// The source at a commit of a task's history.
    pub(super) async fn source_of_commit(&self, task: &TaskRow, sha: &str) -> Result<Source> {
        let (history, sha) = (self.inner.folders.history(&task.id), sha.to_owned());
        Ok(blocking(move || source_of(&history.code(&sha)?)).await?)
    }

    /// The source as it was tested.
    pub(super) async fn source_of_iteration(&self, row: &IterationRow) -> Result<Source> {
        let artifacts = &self.inner.artifacts;
        let code = artifacts.get_code_within(&row.code, HEAVIEST).await?;
        Ok(blocking(move || source_of(&code)).await?)
    }
}

impl Version {
    async fn of(
        version: CodeVersion,
        source: Arc<Source>,
        base: &Arc<Source>,
    ) -> anyhow::Result<Self> {
        let base = base.clone();
        blocking(move || {
            Ok(Self {
                version,
                digest: swe_ci_measure::digest(&source),
                changed: changed(&base, &source)?,
                source,
            })
        })
        .await
    }
}
