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

use super::columns::{read_optional_count, read_progress, read_task_id};
use super::suites::read_counts;
use crate::{count, from_json};

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
        task_id: read_task_id(row)?,
        sample: count(row.try_get("sample")?),
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
            count(row.try_get("at_iteration")?),
            read_step_role(row, "at_role")?,
            count(row.try_get("at_attempt")?),
        ),
    })
}

pub(crate) fn read_step(row: &AnyRow) -> Result<StepRow> {
    Ok(StepRow {
        iteration: count(row.try_get("iteration")?),
        role: read_step_role(row, "role")?,
        attempt: count(row.try_get("attempt")?),
        outcome: from_json("a step's outcome", &row.try_get::<String, _>("outcome")?)?,
        detail: row.try_get("detail")?,
        product: row.try_get("product")?,
        log: row.try_get("log")?,
        usage: read_usage(row)?,
        traffic: read_traffic(row)?,
        trajectory: row.try_get("trajectory")?,
        layer: row.try_get("layer")?,
        container: read_container(row)?,
        started_at: row.try_get("started_at")?,
        finished_at: row.try_get("finished_at")?,
    })
}

pub(crate) fn read_iteration(row: &AnyRow) -> Result<IterationRow> {
    Ok(IterationRow {
        iteration: count(row.try_get("iteration")?),
        verdict: read_verdict(row)?,
        gained: count(row.try_get("gained")?),
        outcomes: Outcomes::from_letters(row.try_get("outcomes")?),
        collapse: row.try_get("collapse")?,
        findings: from_json("findings", &row.try_get::<String, _>("findings")?)?,
        code: row.try_get("code")?,
        test_seconds: row.try_get("test_seconds")?,
        finished_at: row.try_get("finished_at")?,
    })
}

pub(crate) fn read_verdict(row: &AnyRow) -> Result<Verdict> {
    let lost = count(row.try_get("lost")?);
    if row.try_get::<String, _>("verdict")? != "scored" {
        return Ok(Verdict::Collapsed { lost });
    }
    Ok(Verdict::Scored {
        in_target: count(row.try_get("in_target")?),
        passed: count(row.try_get("passed")?),
        lost,
    })
}

fn read_step_role(row: &AnyRow, column: &str) -> Result<Role> {
    let name: String = row.try_get(column)?;
    [Role::Architect, Role::Programmer, Role::Test]
        .into_iter()
        .find(|role| role.name() == name)
        .ok_or_else(|| anyhow::anyhow!("the database holds the role `{name}`").into())
}

/// Needs input and output tokens; `None` if either is missing.
fn read_usage(row: &AnyRow) -> Result<Option<Usage>> {
    let input = read_optional_count(row, "input_tokens")?;
    let output = read_optional_count(row, "output_tokens")?;
    let Some((input_tokens, output_tokens)) = input.zip(output) else {
        return Ok(None);
    };
    Ok(Some(Usage {
        input_tokens,
        output_tokens,
        cached_tokens: read_optional_count(row, "cached_tokens")?.unwrap_or(0),
        reasoning_tokens: read_optional_count(row, "reasoning_tokens")?.unwrap_or(0),
    }))
}

fn read_traffic(row: &AnyRow) -> Result<Option<Traffic>> {
    let Some(requests) = read_optional_count(row, "requests")? else {
        return Ok(None);
    };
    Ok(Some(Traffic {
        requests,
        retries: read_optional_count(row, "retries")?.unwrap_or(0),
        waiting_ms: read_optional_count(row, "waiting_ms")?.unwrap_or(0),
        micro_usd: read_optional_count(row, "micro_usd")?,
    }))
}

fn read_container(row: &AnyRow) -> Result<Option<Container>> {
    let json: Option<String> = row.try_get("container")?;
    json.map(|json| from_json("a step's container", &json))
        .transpose()
}
