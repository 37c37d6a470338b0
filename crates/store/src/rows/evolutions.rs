//! Rows of evolutions, their steps and iterations.

use serde::{Deserialize, Serialize};
use sqlx::any::AnyRow;
use swe_ci_base::clock::{rfc3339, seconds_between};
use swe_ci_base::error::Result;
use swe_ci_core::audit::ShownContradictions;
use swe_ci_core::finding::Finding;
use swe_ci_core::metrics::SuiteCounts;
use swe_ci_core::metrics::Verdict;
use swe_ci_core::outcomes::Outcomes;
use swe_ci_core::run::Progress;
use swe_ci_core::step::{Ending, Role, StepOutcome, Truncation};
use swe_ci_core::task::{TaskId, TestCommand};
use swe_ci_core::usage::{Traffic, Usage};
use swe_ci_views::container::Container;
use swe_ci_views::conversation::RecordingFormat;
use swe_ci_views::view::{HandedOver, IterationView, StepView};

use super::columns::{Columns, from_row};
use super::suites::read_counts;
use super::tasks::read_test_command;

#[derive(Debug, Clone)]
pub struct EvolutionRow {
    pub id: String,
    pub run_id: String,
    pub task_id: TaskId,
    pub sample: u32,
    /// Id of its suite; `counts` are that suite's.
    pub suite: String,
    pub counts: SuiteCounts,
    /// What it was started on; `None` if that is not known.
    pub pinned: Option<PinnedTask>,
    /// Where it started, unless on its task's base.
    pub start: Option<Start>,
    /// Whether that start was tested: `suite` counts it then.
    pub start_measured: bool,
    pub progress: Progress,
    pub ending: Option<Ending>,
    pub reason: Option<String>,
    pub started_at: Option<i64>,
    pub finished_at: Option<i64>,
    pub at: (u32, Role, u32),
}

/// The commits, image and base report of a task when a run was submitted.
/// Preparing the task again does not change them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PinnedTask {
    pub base_sha: String,
    pub target_sha: String,
    /// Content digest.
    pub image: String,
    /// See `TaskRow::base_report`.
    pub base_report: Option<String>,
    pub test_command: TestCommand,
}

/// The code of another run's evolution that an evolution goes on with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Start {
    pub run_id: String,
    pub evolution_id: String,
    /// The iteration of that evolution, from 1.
    pub iteration: u32,
    /// Artifact: the code.
    pub code: String,
}

impl Start {
    pub fn view(&self) -> HandedOver {
        let name = self.code.trim_start_matches("code/");
        HandedOver {
            run_id: self.run_id.clone(),
            evolution_id: self.evolution_id.clone(),
            iteration: self.iteration,
            code: name.trim_end_matches(".tar.zst").to_owned(),
        }
    }
}

/// A completed attempt at a step.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct StepRow {
    pub iteration: u32,
    pub role: Role,
    pub attempt: u32,
    pub outcome: StepOutcome,
    pub detail: String,
    pub product: Option<String>,
    pub log: Option<String>,
    pub usage: Option<Usage>,
    /// The gateway's traffic, if the step used it.
    pub traffic: Option<Traffic>,
    /// Of the model's last answer.
    pub truncation: Option<Truncation>,
    /// Artifact: the trajectory of model calls.
    pub trajectory: Option<String>,
    /// Content digest of the layer image with the harness.
    pub layer: Option<String>,
    /// The container it ran in.
    pub container: Option<Container>,
    pub started_at: i64,
    pub finished_at: i64,
}

impl StepRow {
    pub fn view(&self) -> StepView {
        StepView {
            iteration: self.iteration,
            role: self.role,
            attempt: self.attempt,
            outcome: self.outcome,
            detail: self.detail.clone(),
            seconds: seconds_between(self.started_at, self.finished_at),
            finished_at: Some(rfc3339(self.finished_at)),
            usage: self.usage,
            traffic: self.traffic,
            truncation: self.truncation,
            recording: self.trajectory.as_deref().map(RecordingFormat::of),
            container: self.container.clone(),
        }
    }
}

/// The result of a test step, if it counts.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct IterationRow {
    pub iteration: u32,
    pub verdict: Verdict,
    pub gained: u32,
    pub outcomes: Outcomes,
    pub collapse: Option<String>,
    pub findings: Vec<Finding>,
    /// Artifact: the tested code.
    pub code: String,
    pub test_seconds: f64,
    pub finished_at: i64,
    /// In the mode impossible.
    pub contradicted: Option<ShownContradictions>,
}

impl IterationRow {
    pub fn view(&self) -> IterationView {
        IterationView {
            iteration: self.iteration,
            verdict: self.verdict,
            gained: self.gained,
            collapse: self.collapse.clone(),
            findings: self.findings.clone(),
            test_seconds: self.test_seconds,
            finished_at: rfc3339(self.finished_at),
            contradicted: self.contradicted.as_ref().map(ShownContradictions::counts),
        }
    }
}

pub(crate) fn read_evolution(row: &AnyRow) -> Result<EvolutionRow> {
    let ending: Option<String> = row.read("ending")?;
    Ok(from_row!(row => EvolutionRow {
        id, task_id, sample, run_id, progress, reason, started_at, finished_at;
        suite: row.read("suite_id")?,
        counts: read_counts(row)?,
        pinned: read_pinned(row)?,
        start: read_start(row)?,
        start_measured: row.read("start_measured")?,
        ending: ending.and_then(|name| Ending::from_name(&name)),
        at: (row.read("at_iteration")?, row.read("at_role")?, row.read("at_attempt")?)
    }))
}

fn read_pinned(row: &AnyRow) -> Result<Option<PinnedTask>> {
    let commits = (row.read("base_sha")?, row.read("target_sha")?);
    let (Some(base_sha), Some(target_sha), Some(image)) =
        (commits.0, commits.1, row.read("image")?)
    else {
        return Ok(None);
    };
    Ok(Some(PinnedTask {
        base_sha,
        target_sha,
        image,
        base_report: row.read("base_report")?,
        test_command: read_test_command(row)?.unwrap_or_default(),
    }))
}

fn read_start(row: &AnyRow) -> Result<Option<Start>> {
    let Some(run_id) = row.read("start_run")? else {
        return Ok(None);
    };
    Ok(Some(Start {
        run_id,
        evolution_id: row.read("start_evolution")?,
        iteration: row.read("start_iteration")?,
        code: row.read("start_code")?,
    }))
}

pub(crate) fn read_step(row: &AnyRow) -> Result<StepRow> {
    let truncation: Option<String> = row.read("truncation")?;
    Ok(from_row!(row => StepRow {
        iteration, role, attempt, outcome, detail, product, log, trajectory, layer, started_at,
        finished_at;
        usage: read_usage(row)?,
        traffic: read_traffic(row)?,
        truncation: truncation.and_then(|name| Truncation::from_name(&name)),
        container: row.optional_json("container", "a step's container")?
    }))
}

pub(crate) fn read_iteration(row: &AnyRow) -> Result<IterationRow> {
    Ok(from_row!(row => IterationRow {
        iteration, gained, outcomes, collapse, code, test_seconds, finished_at;
        verdict: read_verdict(row)?,
        findings: row.json("findings", "findings")?,
        contradicted: row.optional_json("contradicted", "contradicted tests")?
    }))
}

pub(crate) fn read_verdict(row: &AnyRow) -> Result<Verdict> {
    if row.read::<String>("verdict")? != "scored" {
        return Ok(Verdict::Collapsed {
            lost: row.read("lost")?,
        });
    }
    Ok(Verdict::Scored {
        in_target: row.read("in_target")?,
        passed: row.read("passed")?,
        lost: row.read("lost")?,
    })
}

/// Needs input and output tokens; `None` if either is missing.
fn read_usage(row: &AnyRow) -> Result<Option<Usage>> {
    let (input, output) = (row.read("input_tokens")?, row.read("output_tokens")?);
    let (Some(input_tokens), Some(output_tokens)) = (input, output) else {
        return Ok(None);
    };
    Ok(Some(Usage {
        input_tokens,
        output_tokens,
        cached_tokens: row.number("cached_tokens")?,
        reasoning_tokens: row.number("reasoning_tokens")?,
    }))
}

fn read_traffic(row: &AnyRow) -> Result<Option<Traffic>> {
    let Some(requests) = row.read("requests")? else {
        return Ok(None);
    };
    Ok(Some(Traffic {
        requests,
        retries: row.number("retries")?,
        waiting_ms: row.number("waiting_ms")?,
        micro_usd: row.read("micro_usd")?,
        unfinished: row.number("unfinished")?,
        streamed_tokens: row.number("streamed_tokens")?,
        probes: row.number("probes")?,
        probe_micro_usd: row.number("probe_micro_usd")?,
    }))
}
