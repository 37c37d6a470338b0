//! Handovers: the code and the suite that their evolutions start with, and what
//! each of their iterations cost.

use swe_ci_base::error::Result;
use swe_ci_core::task::TaskId;

use super::Store;
use super::rows::columns::{Columns, from_row};
use super::rows::evolutions::Start;
use super::rows::suites::Suite;
use super::sql::{Tx, query};
use super::suites::put_suite;

/// Where an evolution of a new run starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewStart {
    pub task: TaskId,
    /// From 1.
    pub sample: u32,
    pub start: Start,
    /// T, with the outcomes on that code.
    pub suite: Suite,
    /// Artifact: the test report of that code.
    pub report: Option<String>,
}

/// Puts the start in the place of the task's base: evolutions are measured
/// against the outcomes there.
pub(super) async fn pin_start(tx: &mut Tx, evolution_id: &str, new: &NewStart) -> Result<()> {
    let suite = put_suite(tx, &new.suite).await?;
    let start = &new.start;
    query(
        "UPDATE evolutions SET suite = $2, base_report = $3, start_run = $4, start_evolution = $5,
                start_iteration = $6, start_code = $7
         WHERE id = $1",
    )
    .with((evolution_id, suite, &new.report))
    .with((&start.run_id, &start.evolution_id))
    .with((start.iteration, &start.code))
    .run(&mut *tx)
    .await?;
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
    /// The costs of all iterations of a run, by evolution, in order.
    pub async fn costs_by_iteration(&self, run_id: &str) -> Result<Vec<StepCost>> {
        query(
            "SELECT s.evolution_id AS evolution_id, s.iteration AS iteration, count(*) AS steps,
                    count(s.input_tokens) AS counted, count(s.micro_usd) AS priced,
                    CAST(coalesce(sum(coalesce(s.input_tokens, 0) + coalesce(s.output_tokens, 0)), 0) AS BIGINT)
                        AS tokens,
                    CAST(coalesce(sum(s.micro_usd), 0) AS BIGINT) AS micro_usd
             FROM steps s JOIN evolutions e ON e.id = s.evolution_id
             WHERE e.run_id = $1 AND s.role <> 'test' AND s.outcome <> '\"retried\"'
             GROUP BY s.evolution_id, s.iteration ORDER BY s.evolution_id, s.iteration",
        )
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
