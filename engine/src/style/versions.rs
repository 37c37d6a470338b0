//! The versions of an evolution's source: base, oracle, and what was tested.

use std::sync::Arc;

use swe_ci_core::metrics::Verdict;
use swe_ci_core::preparation::Lines;
use swe_ci_core::style::CodeVersion;
use swe_ci_measure::{Source, changed};

use super::source_of;
use crate::Engine;
use crate::blocking::blocking;
use crate::code::CodeTree;
use crate::error::Result;
use crate::store::{EvolutionRow, TaskRow};

/// No code that is heavier is looked at.
const HEAVIEST: u64 = 512 << 20;

/// One version of an evolution's source.
#[derive(Debug, Clone)]
pub struct Version {
    pub version: CodeVersion,
    pub source: Arc<Source>,
    /// Of its files.
    pub digest: String,
    /// Lines that differ from the base.
    pub lines: Lines,
}

impl Engine {
    /// Base, oracle, and each scored iteration whose code is kept, in order; of
    /// the iterations `only` this one, where nobody needs the others.
    pub(super) async fn versions(
        &self,
        evolution: &EvolutionRow,
        task: &TaskRow,
        only: Option<CodeVersion>,
    ) -> Result<Vec<Version>> {
        let history = self.inner.folders.history(&task.id);
        let (base, target) = (task.base_sha.clone(), task.target_sha.clone());
        let [base, oracle] = blocking(move || {
            let read = |sha: &str| Ok::<_, anyhow::Error>(source_of(&history.code(sha)?));
            Ok([read(&base)?, read(&target)?])
        })
        .await?;
        let base = Arc::new(base);
        let mut versions = vec![
            Version::of(CodeVersion::Base, base.clone(), &base).await?,
            Version::of(CodeVersion::Oracle, Arc::new(oracle), &base).await?,
        ];
        for row in self.inner.store.iterations(&evolution.id).await? {
            let version = CodeVersion::Iteration(row.iteration);
            let scored = matches!(row.verdict, Verdict::Scored { .. });
            if row.code.is_empty() || !scored || only.is_some_and(|only| only != version) {
                continue;
            }
            let code: CodeTree = self
                .inner
                .artifacts
                .get_code_within(&row.code, HEAVIEST)
                .await?;
            let source = blocking(move || Ok(Arc::new(source_of(&code)))).await?;
            versions.push(Version::of(version, source, &base).await?);
        }
        Ok(versions)
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
                lines: changed(&base, &source)?.lines,
                source,
            })
        })
        .await
    }
}
