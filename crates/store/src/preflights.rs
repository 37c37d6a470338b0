//! Preflights: checks before runs begin.

use swe_ci_base::clock::now_ms;
use swe_ci_base::error::Result;
use swe_ci_views::account::Actor;
use swe_ci_views::preflight::{Finding, Preflight, PreflightState};

use super::audit::note;
use super::changes::commit_change;
use super::queue_signals::signal_workers;
use super::rows::runs::read_preflight;
use super::sql::{only, query};
use super::{Store, to_json};

impl Store {
    /// The run that has waited longest for its preflight.
    pub async fn next_preflight(&self) -> Result<Option<String>> {
        query(
            "SELECT p.run_id FROM preflights p JOIN runs r ON r.id = p.run_id
             WHERE p.state = 'waiting' AND r.progress IN ('queued', 'running') AND r.paused_at IS NULL
             ORDER BY p.at, p.run_id LIMIT 1",
        )
        .first(&self.pool, only)
        .await
    }

    pub async fn preflight(&self, run_id: &str) -> Result<Option<Preflight>> {
        let found = query(
            "SELECT state AS preflight_state, at AS preflight_at, findings AS preflight_findings
             FROM preflights WHERE run_id = $1",
        )
        .with(run_id)
        .first(&self.pool, read_preflight);
        Ok(found.await?.flatten())
    }

    /// Records the findings of a preflight unless it was skipped meanwhile;
    /// returns whether it was still awaited.
    pub async fn end_preflight(&self, run_id: &str, findings: &[Finding]) -> Result<bool> {
        let mut tx = self.pool.begin().await?;
        let ended = query(
            "UPDATE preflights SET state = $2, at = $3, findings = $4
             WHERE run_id = $1 AND state = 'waiting'",
        )
        .with((run_id, PreflightState::of(findings).name(), now_ms()))
        .with(to_json(&findings)?)
        .changed(&mut *tx)
        .await?;
        signal_workers(&mut *tx, self.dialect).await?;
        commit_change(tx).await?;
        Ok(ended == 1)
    }

    /// Queues another preflight of a run, or skips it; `false` when it already
    /// has this state.
    pub async fn set_preflight(
        &self,
        run_id: &str,
        state: PreflightState,
        by: &Actor,
    ) -> Result<bool> {
        let mut tx = self.pool.begin().await?;
        let set = query(
            "UPDATE preflights SET state = $2, at = $3
             WHERE run_id = $1 AND state <> $2 AND state IN ('waiting', 'failed')",
        )
        .with((run_id, state.name(), now_ms()))
        .changed(&mut *tx)
        .await?;
        if set == 0 {
            return Ok(false);
        }
        note(&mut tx, by, "run.preflight", run_id, state.name()).await?;
        signal_workers(&mut *tx, self.dialect).await?;
        commit_change(tx).await?;
        Ok(true)
    }
}
