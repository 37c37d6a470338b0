//! The facts of a split as a whole; its datasheet says them in words.

use sha2::{Digest, Sha256};
use swe_ci_base::clock::rfc3339;
use swe_ci_base::digest::hex;
use swe_ci_base::error::{Error, Result};
use swe_ci_core::audit::CoverageSum;
use swe_ci_store::{Store, funnel_of};
use swe_ci_views::dataset::{Counted, SplitDetail, SplitSource, spreads};
use swe_ci_views::preparation::TaskFinding;
use swe_ci_views::view::{TaskState, TaskSummary};

/// A split with its tasks in figures.
///
/// # Errors
/// [`Error::NotFound`] when there is no such split.
pub async fn split_detail(store: &Store, name: &str) -> Result<SplitDetail> {
    let known = store.splits().await?.into_iter().find(|s| s.name == name);
    let summary = known.ok_or_else(|| Error::not_found("split", name))?;
    let (source, created_at) = store.split_origin(name).await?;
    let tasks = store.task_summaries(Some(name)).await?;
    let ready = tasks.iter().filter(|task| task.state == TaskState::Ready);
    let ready: Vec<TaskSummary> = ready.cloned().collect();
    let revisions = store.revisions_of_split(name).await?;
    let findings = store.findings_of_split(name).await?;
    let funnel = match &source {
        Some(SplitSource::Curated { curation_id: id }) => funnel_of(
            &store.curated_repositories(id).await?,
            &store.candidates(id).await?,
        ),
        _ => Vec::new(),
    };
    Ok(SplitDetail {
        summary,
        max_iterations: store.declared_iterations(name).await?,
        digest: dataset_digest(&revisions),
        source,
        created_at: rfc3339(created_at),
        repositories: Counted::all(tasks.iter().map(|task| task.repo.as_str())),
        licences: Counted::all(tasks.iter().filter_map(|task| task.licence.as_deref())),
        findings: Counted::all(findings.iter().map(TaskFinding::title)),
        spreads: spreads(&ready),
        funnel,
        audited: CoverageSum::default(),
    })
}

/// One digest over tasks: their names, and the digests of what they ask.
pub fn dataset_digest(tasks: &[[String; 2]]) -> String {
    let mut hash = Sha256::new();
    for part in tasks.iter().flatten() {
        hash.update(part.as_bytes());
        hash.update([0]);
    }
    format!("sha256:{}", hex(&hash.finalize()))
}
