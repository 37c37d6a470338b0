//! Handovers: the code and the suite that their evolutions start with, and what
//! each of their iterations cost.

use swe_ci_base::error::{Error, Result};
use swe_ci_core::task::TaskId;

use super::changes::{count_up, results_changed};
use super::costs::is_attempt;
use super::rows::columns::{Columns, from_row};
use super::rows::evolutions::Start;
use super::rows::suites::Suite;
use super::sql::{Tx, composed, query};
use super::suites::put_suite;
use super::{Claim, Store};

/// Where an evolution of a new run starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewStart {
    pub task: TaskId,
    /// From 1.
    pub sample: u32,
    pub start: Start,
    /// `None` where no run has tested that code with T yet: then the worker does,
    /// before the first step.
    pub measured: Option<MeasuredStart>,
}

/// The tests of the code that an evolution starts from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MeasuredStart {
    /// T, with the outcomes on that code.
    pub suite: Suite,
    /// Artifact: its test report.
    pub report: Option<String>,
}

/// Puts the start in the place of the task's base: evolutions are measured
/// against the outcomes there.
pub(super) async fn pin_start(tx: &mut Tx, evolution_id: &str, new: &NewStart) -> Result<()> {
    let start = &new.start;
    query(
        "UPDATE evolutions SET start_run = $2, start_evolution = $3, start_iteration = $4, start_code = $5,
                start_measured = $6
         WHERE id = $1",
    )
    .with((evolution_id, &start.run_id, &start.evolution_id))
    .with((start.iteration, &start.code, new.measured.is_some()))
    .run(&mut *tx)
    .await?;
    if let Some(measured) = &new.measured {
        let suite = put_suite(tx, &measured.suite).await?;
        query("UPDATE evolutions SET suite = $2, base_report = $3 WHERE id = $1")
            .with((evolution_id, suite, &measured.report))
            .run(&mut *tx)
            .await?;
    }
    Ok(())
}

/// What the agents took in one iteration of an evolution, all attempts included.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepCost {
    pub evolution_id: String,
    pub iteration: u32,
    /// Input and output tokens; `None` unless every step was counted.
    pub tokens: Option<u64>,
    /// Millionths of a US dollar; `None` unless every step has a price.
    pub micro_usd: Option<u64>,
}

impl Store {
    /// Records what a worker found when it tested the start of its evolution, and
    /// the code as it starts from it. Only under the claim; otherwise fails with
    /// `Conflict` and writes nothing.
    pub async fn record_start(
        &self,
        claim: &Claim,
        code: &str,
        measured: &MeasuredStart,
    ) -> Result<()> {
        let mut tx = self.pool.begin().await?;
        let id = claim.evolution_id.as_str();
        let suite = put_suite(&mut tx, &measured.suite).await?;
        query(
            "UPDATE evolutions SET suite = $3, base_report = $4, start_code = $5, start_measured = 1
             WHERE id = $1 AND claim = $2 AND progress = 'running'",
        )
        .with((id, claim.number, suite, &measured.report))
        .with(code)
        .run_or(&mut *tx, || {
            Error::Conflict(format!("evolution {id} is no longer held by this worker"))
        })
        .await?;
        results_changed(&mut tx, &claim.run_id).await?;
        count_up(&mut tx).await?;
        tx.commit().await?;
        Ok(())
    }

    /// The costs of all iterations of a run, by evolution, in order.
    pub async fn costs_by_iteration(&self, run_id: &str) -> Result<Vec<StepCost>> {
        composed(format!(
            "SELECT s.evolution_id AS evolution_id, s.iteration AS iteration, count(*) AS steps,
                    count(s.input_tokens) AS counted, count(s.micro_usd) AS priced,
                    CAST(coalesce(sum(coalesce(s.input_tokens, 0) + coalesce(s.output_tokens, 0)), 0) AS BIGINT)
                        AS tokens,
                    CAST(coalesce(sum(s.micro_usd), 0) AS BIGINT) AS micro_usd
             FROM steps s JOIN evolutions e ON e.id = s.evolution_id
             WHERE e.run_id = $1 AND s.role <> 'test' AND {}
             GROUP BY s.evolution_id, s.iteration ORDER BY s.evolution_id, s.iteration",
            is_attempt()
        ))
        .with(run_id)
        .all(&self.pool, |row| {
            let steps: u64 = row.read("steps")?;
            let (counted, priced): (u64, u64) = (row.read("counted")?, row.read("priced")?);
            let (tokens, micro_usd) = (row.read("tokens")?, row.read("micro_usd")?);
            Ok(from_row!(row => StepCost {
                evolution_id, iteration;
                tokens: (counted == steps).then_some(tokens),
                micro_usd: (priced == steps).then_some(micro_usd)
            }))
        })
        .await
    }
}
