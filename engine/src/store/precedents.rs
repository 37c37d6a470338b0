//! What iterations took, for who wants to know what the next ones will.

use sqlx::Row;
use sqlx::any::AnyRow;
use swe_ci_core::submission::Precedent;
use swe_ci_core::usage::Usage;

use super::Store;
use crate::error::Result;

impl Store {
    /// What each iteration of a run took, all its attempts together.
    pub async fn precedents(&self, run_id: &str) -> Result<Vec<Precedent>> {
        let rows = sqlx::query(
            "SELECT CAST(sum(s.finished_at - s.started_at) AS BIGINT) AS ms,
                    count(s.input_tokens) AS counted,
                    CAST(coalesce(sum(s.input_tokens), 0) AS BIGINT) AS input_tokens,
                    CAST(coalesce(sum(s.output_tokens), 0) AS BIGINT) AS output_tokens,
                    CAST(coalesce(sum(s.cached_tokens), 0) AS BIGINT) AS cached_tokens,
                    CAST(coalesce(sum(s.reasoning_tokens), 0) AS BIGINT) AS reasoning_tokens
             FROM steps s JOIN evolutions e ON e.id = s.evolution_id
             WHERE e.run_id = $1 GROUP BY s.evolution_id, s.iteration",
        )
        .bind(run_id)
        .fetch_all(&self.pool)
        .await?;
        rows.iter().map(read).collect()
    }
}

fn read(row: &AnyRow) -> Result<Precedent> {
    let number = |column: &str| -> Result<u64> {
        Ok(u64::try_from(row.try_get::<i64, _>(column)?).unwrap_or(0))
    };
    let usage = Usage {
        input_tokens: number("input_tokens")?,
        output_tokens: number("output_tokens")?,
        cached_tokens: number("cached_tokens")?,
        reasoning_tokens: number("reasoning_tokens")?,
    };
    Ok(Precedent {
        ms: number("ms")?,
        usage: (number("counted")? > 0).then_some(usage),
    })
}
