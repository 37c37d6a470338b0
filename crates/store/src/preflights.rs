//! Preflights: checks before runs begin.

use sqlx::Row;
use swe_ci_base::clock::{now_ms, rfc3339};
use swe_ci_base::error::Result;
use swe_ci_views::account::Actor;
use swe_ci_views::preflight::{Finding, Preflight, PreflightState};

use super::audit::note;
use super::changes::count_up;
use super::{Store, from_json, to_json};

impl Store {
    /// The run that has waited longest for its preflight.
    pub async fn next_preflight(&self) -> Result<Option<String>> {
        let row = sqlx::query(
            "SELECT p.run_id FROM preflights p JOIN runs r ON r.id = p.run_id
             WHERE p.state = 'waiting' AND r.progress IN ('queued', 'running') AND r.paused_at IS NULL
             ORDER BY p.at, p.run_id LIMIT 1",
        )
        .fetch_optional(&self.pool)
        .await?;
        Ok(row.map(|row| row.try_get("run_id")).transpose()?)
    }

    pub async fn preflight(&self, run_id: &str) -> Result<Option<Preflight>> {
        let row = sqlx::query("SELECT state, at, findings FROM preflights WHERE run_id = $1")
            .bind(run_id)
            .fetch_optional(&self.pool)
            .await?;
        let Some(row) = row else { return Ok(None) };
        let state: String = row.try_get("state")?;
        Ok(Some(Preflight {
            state: PreflightState::from_name(&state)
                .ok_or_else(|| anyhow::anyhow!("the database holds the preflight `{state}`"))?,
            at: rfc3339(row.try_get("at")?),
            findings: from_json("a preflight", &row.try_get::<String, _>("findings")?)?,
        }))
    }

    /// Records the findings of a preflight unless it was skipped meanwhile;
    /// returns whether it was still awaited.
    pub async fn end_preflight(&self, run_id: &str, findings: &[Finding]) -> Result<bool> {
        let mut tx = self.pool.begin().await?;
        let ended = sqlx::query(
            "UPDATE preflights SET state = $2, at = $3, findings = $4
             WHERE run_id = $1 AND state = 'waiting'",
        )
        .bind(run_id)
        .bind(PreflightState::of(findings).name())
        .bind(now_ms())
        .bind(to_json(&findings)?)
        .execute(&mut *tx)
        .await?;
        count_up(&mut tx).await?;
        tx.commit().await?;
        Ok(ended.rows_affected() == 1)
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
        let set = sqlx::query(
            "UPDATE preflights SET state = $2, at = $3
             WHERE run_id = $1 AND state <> $2 AND state IN ('waiting', 'failed')",
        )
        .bind(run_id)
        .bind(state.name())
        .bind(now_ms())
        .execute(&mut *tx)
        .await?;
        if set.rows_affected() == 0 {
            return Ok(false);
        }
        note(&mut tx, by, "run.preflight", run_id, state.name()).await?;
        count_up(&mut tx).await?;
        tx.commit().await?;
        Ok(true)
    }
}
