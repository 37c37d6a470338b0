//! Rows of evolutions, as they are read back.

use sqlx::Row;
use sqlx::any::AnyRow;
use swe_ci_core::container::Container;
use swe_ci_core::metrics::Verdict;
use swe_ci_core::outcomes::Outcomes;
use swe_ci_core::run::Progress;
use swe_ci_core::step::{Ending, Role, StepOutcome};
use swe_ci_core::task::{SuiteCounts, TaskId};
use swe_ci_core::usage::{Traffic, Usage};
use swe_ci_core::view::{IterationView, StepView};

use super::runs::read_progress;
use super::suites::read_counts;
use super::{count, from_json};
use crate::clock::{rfc3339, seconds_between};
use crate::error::Result;

#[derive(Debug, Clone)]
pub struct EvolutionRow {
    pub id: String,
    pub run_id: String,
    pub task_id: TaskId,
    pub sample: u32,
    /// Id of the suite it is measured against, and what that counts.
    pub suite: String,
    pub counts: SuiteCounts,
    pub progress: Progress,
    pub ending: Option<Ending>,
    pub reason: Option<String>,
    pub started_at: Option<i64>,
    pub finished_at: Option<i64>,
    pub at: (u32, Role, u32),
}

/// A completed attempt at a step, as it is read back.
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
    /// What went over the gateway, where there was one.
    pub traffic: Option<Traffic>,
    /// Artifact: the exchanges with the model.
    pub trajectory: Option<String>,
    /// Content digest of the image the harness was installed in.
    pub layer: Option<String>,
    /// Where it worked.
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

/// The result of a test step that counts.
#[derive(Debug, Clone)]
pub struct IterationRow {
    pub iteration: u32,
    pub verdict: Verdict,
    pub gained: u32,
    pub outcomes: Outcomes,
    pub collapse: Option<String>,
    pub findings: Vec<String>,
    /// Artifact of the code that was tested.
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

pub(super) fn task_id(row: &AnyRow) -> Result<TaskId> {
    let id: String = row.try_get("task_id")?;
    Ok(TaskId::new(id).map_err(anyhow::Error::new)?)
}

fn read_role(row: &AnyRow, column: &str) -> Result<Role> {
    let name: String = row.try_get(column)?;
    [Role::Architect, Role::Programmer, Role::Test]
        .into_iter()
        .find(|role| role.name() == name)
        .ok_or_else(|| anyhow::anyhow!("the database holds the role `{name}`").into())
}

pub(super) fn read_evolution(row: &AnyRow) -> Result<EvolutionRow> {
    Ok(EvolutionRow {
        id: row.try_get("id")?,
        task_id: task_id(row)?,
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
            read_role(row, "at_role")?,
            count(row.try_get("at_attempt")?),
        ),
    })
}

fn read_count(row: &AnyRow, column: &str) -> Result<Option<u64>> {
    let count: Option<i64> = row.try_get(column)?;
    Ok(count.and_then(|n| u64::try_from(n).ok()))
}

/// Input and output, or nothing.
fn read_usage(row: &AnyRow) -> Result<Option<Usage>> {
    let input = read_count(row, "input_tokens")?;
    let output = read_count(row, "output_tokens")?;
    let Some((input_tokens, output_tokens)) = input.zip(output) else {
        return Ok(None);
    };
    Ok(Some(Usage {
        input_tokens,
        output_tokens,
        cached_tokens: read_count(row, "cached_tokens")?.unwrap_or(0),
        reasoning_tokens: read_count(row, "reasoning_tokens")?.unwrap_or(0),
    }))
}

fn read_traffic(row: &AnyRow) -> Result<Option<Traffic>> {
    let Some(requests) = read_count(row, "requests")? else {
        return Ok(None);
    };
    Ok(Some(Traffic {
        requests,
        retries: read_count(row, "retries")?.unwrap_or(0),
        waiting_ms: read_count(row, "waiting_ms")?.unwrap_or(0),
        micro_usd: read_count(row, "micro_usd")?,
    }))
}

pub(super) fn read_step(row: &AnyRow) -> Result<StepRow> {
    Ok(StepRow {
        iteration: count(row.try_get("iteration")?),
        role: read_role(row, "role")?,
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

fn read_container(row: &AnyRow) -> Result<Option<Container>> {
    let json: Option<String> = row.try_get("container")?;
    json.map(|json| from_json("a step's container", &json))
        .transpose()
}

pub(super) fn read_verdict(row: &AnyRow) -> Result<Verdict> {
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

pub(super) fn read_iteration(row: &AnyRow) -> Result<IterationRow> {
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
