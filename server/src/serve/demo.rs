//! `serve --demo`: imports the demo split and queues the human baseline in the
//! background of a running server.

use swe_ci_core::run::{Kind, RunConfig};
use swe_ci_engine::{Engine, PageRequest, Result};
use swe_ci_views::account::Visibility;
use swe_ci_views::run_list::RunFilter;
use swe_ci_views::view::TaskState;

const SPLIT: &str = "demo";

/// The server stays up in any case; the log advises on errors.
pub(super) async fn run(engine: Engine) {
    match prepare(&engine).await {
        Ok(Some(run_id)) => tracing::info!(run_id, "demo: the human baseline is queued"),
        Ok(None) => tracing::debug!("demo: the human baseline exists"),
        Err(error) => tracing::error!(
            error = error.chain(),
            "demo: the demo split could not be prepared; `swe-ci doctor` finds what is missing, \
             and the next start (or `swe-ci dataset demo` and `swe-ci run submit --human`) tries again"
        ),
    }
}

/// Repeats the import until there is a run, which completes the work of a
/// killed process.
async fn prepare(engine: &Engine) -> Result<Option<String>> {
    if has_baseline(engine).await? {
        return Ok(None);
    }
    let imported = engine
        .import_demo(&|line| tracing::info!("demo: {line}"))
        .await?;
    for task in &imported.tasks {
        if let TaskState::Unusable { reason } = &task.state {
            tracing::warn!(task = %task.task_id, reason, "demo: a task cannot be used");
        }
    }
    engine
        .submit(RunConfig::human(SPLIT), Visibility::Public)
        .await
        .map(Some)
}

async fn has_baseline(engine: &Engine) -> Result<bool> {
    let is_baseline = |c: &RunConfig| c.kind == Kind::Human && c.split == SPLIT;
    let mut page = PageRequest::default();
    loop {
        let runs = engine.runs(&RunFilter::default(), &page).await?;
        if runs
            .items
            .iter()
            .any(|run| is_baseline(&run.summary.config))
        {
            return Ok(true);
        }
        if runs.next.is_none() {
            return Ok(false);
        }
        page.after = runs.next;
    }
}
