//! The state of the queue and the totals of all steps, for monitoring.

use swe_ci_base::clock::seconds_between;
use swe_ci_base::error::Result;
use swe_ci_core::step::{Role, StepOutcome};

use super::Store;
use super::rows::columns::{Columns, from_row};
use super::sql::{composed, query};

/// The evolutions that are not over, and those that somebody has to look at.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct QueueState {
    /// Nobody works on them, and their run is neither paused nor over.
    pub queued: u64,
    pub running: u64,
    pub blocked: u64,
    /// How long the longest of the queued ones has waited.
    pub oldest_seconds: f64,
}

/// Totals of the recorded steps with one role and outcome.
#[derive(Debug, Clone, PartialEq)]
pub struct StepsDone {
    pub role: Role,
    pub outcome: StepOutcome,
    pub steps: u64,
    pub seconds: f64,
    pub requests: u64,
    pub retries: u64,
    pub waiting_seconds: f64,
    pub input_tokens: u64,
    pub output_tokens: u64,
    pub micro_usd: u64,
}

impl Store {
    pub async fn queue_state(&self) -> Result<QueueState> {
        let now = self.dialect.now();
        let waits = format!(
            "(e.progress = 'queued' OR (e.progress = 'running' AND e.lease_until < {now}))
             AND r.paused_at IS NULL AND r.progress IN ('queued', 'running')"
        );
        composed(format!(
            "SELECT count(CASE WHEN {waits} THEN 1 END) AS queued,
                    count(CASE WHEN e.progress = 'running' AND e.lease_until >= {now} THEN 1 END) AS running,
                    count(CASE WHEN e.ending = 'blocked' THEN 1 END) AS blocked,
                    min(CASE WHEN {waits} THEN e.queued_at END) AS oldest, {now} AS now
             FROM evolutions e JOIN runs r ON r.id = e.run_id
             WHERE e.progress IN ('queued', 'running') OR e.ending = 'blocked'"
        ))
        .one(&self.pool, |row| {
            let (now, oldest): (i64, Option<i64>) = (row.read("now")?, row.read("oldest")?);
            Ok(from_row!(row => QueueState {
                queued, running, blocked;
                oldest_seconds: oldest.map_or(0.0, |oldest| seconds_between(oldest, now).max(0.0))
            }))
        })
        .await
    }

    /// Totals of all steps that were recorded here, by role and outcome.
    pub async fn steps_done(&self) -> Result<Vec<StepsDone>> {
        query(
            "SELECT role, outcome, count(*) AS steps,
                    CAST(coalesce(sum(finished_at - started_at), 0) AS BIGINT) AS taken,
                    CAST(coalesce(sum(requests), 0) AS BIGINT) AS requests,
                    CAST(coalesce(sum(retries), 0) AS BIGINT) AS retries,
                    CAST(coalesce(sum(waiting_ms), 0) AS BIGINT) AS waiting_ms,
                    CAST(coalesce(sum(input_tokens), 0) AS BIGINT) AS input_tokens,
                    CAST(coalesce(sum(output_tokens), 0) AS BIGINT) AS output_tokens,
                    CAST(coalesce(sum(micro_usd), 0) AS BIGINT) AS micro_usd
             FROM steps WHERE at_work = 0 GROUP BY role, outcome ORDER BY role, outcome",
        )
        .all(&self.pool, |row| {
            Ok(from_row!(row => StepsDone {
                role, outcome, steps, requests, retries, input_tokens, output_tokens, micro_usd;
                seconds: seconds_between(0, row.read("taken")?),
                waiting_seconds: seconds_between(0, row.read("waiting_ms")?)
            }))
        })
        .await
    }
}
