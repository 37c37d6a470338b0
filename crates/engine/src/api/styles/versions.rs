//! The versions of an evolution's source: base, oracle, and the tested
//! iterations.

use std::sync::Arc;

use swe_ci_base::blocking::blocking;
use swe_ci_base::error::Result;
use swe_ci_core::metrics::Verdict;
use swe_ci_measure::{Changed, Source, changed};
use swe_ci_store::{EvolutionRow, IterationRow, TaskRow};
use swe_ci_views::style::CodeVersion;

use super::source_of;
use crate::Engine;

/// Larger code is refused.
const MAX_CODE: u64 = 512 << 20;

/// One version of an evolution's source.
#[derive(Debug)]
pub struct Version {
    pub version: CodeVersion,
    pub source: Arc<Source>,
    /// Digest of its files.
    pub digest: String,
    /// How it differs from the base.
    pub changed: Changed,
}

impl Engine {
    /// Base, oracle, and each scored iteration with stored code, in order.
    pub(super) async fn versions(
        &self,
        evolution: &EvolutionRow,
        task: &TaskRow,
    ) -> Result<Vec<Version>> {
        let base = Arc::new(self.source_of_commit(task, &task.base_sha).await?);
        let oracle = Arc::new(self.source_of_commit(task, &task.target_sha).await?);
        let mut versions = vec![
            Version::new(CodeVersion::Base, base.clone(), &base).await?,
            Version::new(CodeVersion::Oracle, oracle, &base).await?,
        ];
        for row in self.store.iterations(&evolution.id).await? {
            if !row.code.is_empty() && matches!(row.verdict, Verdict::Scored { .. }) {
                let source = Arc::new(self.source_of_iteration(&row).await?);
                let version = CodeVersion::Iteration(row.iteration);
                versions.push(Version::new(version, source, &base).await?);
            }
        }
        Ok(versions)
    }

    /// The source at a commit of a task's history.
    pub(super) async fn source_of_commit(&self, task: &TaskRow, sha: &str) -> Result<Source> {
        let (history, sha) = (self.folders.history(&task.id), sha.to_owned());
        Ok(blocking(move || source_of(&history.code(&sha)?)).await?)
    }

    /// The source of a tested iteration.
    pub(super) async fn source_of_iteration(&self, row: &IterationRow) -> Result<Source> {
        let artifacts = &self.artifacts;
        let code = artifacts.get_code_within(&row.code, MAX_CODE).await?;
        Ok(blocking(move || source_of(&code)).await?)
    }
}

impl Version {
    async fn new(
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
