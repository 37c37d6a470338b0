//! Rows of evolutions, their steps and iterations.

use sqlx::Row;
use sqlx::any::AnyRow;
use swe_ci_base::clock::{rfc3339, seconds_between};
use swe_ci_base::error::Result;
use swe_ci_core::metrics::Verdict;
use swe_ci_core::outcomes::Outcomes;
use swe_ci_core::run::Progress;
use swe_ci_core::step::{Ending, Role, StepOutcome};
use swe_ci_core::task::{SuiteCounts, TaskId};
use swe_ci_core::usage::{Traffic, Usage};
use swe_ci_views::container::Container;
use swe_ci_views::view::{IterationView, StepView};

use super::columns::{Columns, read_progress, read_task_id};
use super::suites::read_counts;

#[derive(Debug, Clone)]
pub struct EvolutionRow {
    pub id: String,
    pub run_id: String,
    pub task_id: TaskId,
    pub sample: u32,
    /// Id of its suite; `counts` are that suite's.
    pub suite: String,
    pub counts: SuiteCounts,
    pub progress: Progress,
    pub ending: Option<Ending>,
    pub reason: Option<String>,
    pub started_at: Option<i64>,
    pub finished_at: Option<i64>,
    pub at: (u32, Role, u32),
}

/// A completed attempt at a step.
#[derive(Debug, Clone)]
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
            usage: self.usage,
            traffic: self.traffic,
            container: self.container.clone(),
        }
    }
}

/// The result of a test step, if it counts.
#[derive(Debug, Clone)]
pub struct IterationRow {
    pub iteration: u32,
    pub verdict: Verdict,
    pub gained: u32,
    pub outcomes: Outcomes,
    pub collapse: Option<String>,
    pub findings: Vec<String>,
    /// Artifact: the tested code.
    pub code: String,
    pub test_seconds: f64,
    pub finished_at: i64,
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
        }
    }
}

pub(crate) fn read_evolution(row: &AnyRow) -> Result<EvolutionRow> {
    Ok(EvolutionRow {
        id: row.try_get("id")?,
        task_id: read_task_id(row, "task_id")?,
        sample: row.count("sample")?,
        run_id: row.try_get("run_id")?,
        suite: row.try_get("suite_id")?,
        counts: read_counts(row)?,
        progress: read_progress(row)?,
        ending: row
            .try_get::<Option<String>, _>("ending")?
            .and_then(|name| Ending::from_name(&name)),
        reason: row.try_get("reason")?,
        started_at: row.try_get("started_at")?,
        finished_at: row.try_get("finished_at")?,
        at: (
            row.count("at_iteration")?,
            row.named("at_role", "role", Role::from_name)?,
            row.count("at_attempt")?,
        ),
    })
}

pub(crate) fn read_step(row: &AnyRow) -> Result<StepRow> {
    Ok(StepRow {
        iteration: row.count("iteration")?,
        role: row.named("role", "role", Role::from_name)?,
        attempt: row.count("attempt")?,
        outcome: row.json("outcome", "a step's outcome")?,
        detail: row.try_get("detail")?,
        product: row.try_get("product")?,
        log: row.try_get("log")?,
        usage: read_usage(row)?,
        traffic: read_traffic(row)?,
        trajectory: row.try_get("trajectory")?,
        layer: row.try_get("layer")?,
        container: row.optional_json("container", "a step's container")?,
        started_at: row.try_get("started_at")?,
        finished_at: row.try_get("finished_at")?,
    })
}

pub(crate) fn read_iteration(row: &AnyRow) -> Result<IterationRow> {
    Ok(IterationRow {
        iteration: row.count("iteration")?,
        verdict: read_verdict(row)?,
        gained: row.count("gained")?,
        outcomes: Outcomes::from_letters(row.try_get("outcomes")?),
        collapse: row.try_get("collapse")?,
        findings: row.json("findings", "findings")?,
        code: row.try_get("code")?,
        test_seconds: row.try_get("test_seconds")?,
        finished_at: row.try_get("finished_at")?,
    })
}

pub(crate) fn read_verdict(row: &AnyRow) -> Result<Verdict> {
    let lost = row.count("lost")?;
    if row.try_get::<String, _>("verdict")? != "scored" {
        return Ok(Verdict::Collapsed { lost });
    }
    Ok(Verdict::Scored {
        in_target: row.count("in_target")?,
        passed: row.count("passed")?,
        lost,
    })
}

/// Needs input and output tokens; `None` if either is missing.
fn read_usage(row: &AnyRow) -> Result<Option<Usage>> {
    let input = row.optional_number("input_tokens")?;
    let output = row.optional_number("output_tokens")?;
    let Some((input_tokens, output_tokens)) = input.zip(output) else {
        return Ok(None);
    };
    Ok(Some(Usage {
        input_tokens,
        output_tokens,
        cached_tokens: row.optional_number("cached_tokens")?.unwrap_or(0),
        reasoning_tokens: row.optional_number("reasoning_tokens")?.unwrap_or(0),
    }))
}

fn read_traffic(row: &AnyRow) -> Result<Option<Traffic>> {
    let Some(requests) = row.optional_number("requests")? else {
        return Ok(None);
    };
    Ok(Some(Traffic {
        requests,
        retries: row.optional_number("retries")?.unwrap_or(0),
        waiting_ms: row.optional_number("waiting_ms")?.unwrap_or(0),
        micro_usd: row.optional_number("micro_usd")?,
    }))
}
