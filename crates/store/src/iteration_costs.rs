//! Past costs of iterations, for estimates of new runs.

use swe_ci_base::error::Result;
use swe_ci_views::submission::IterationCost;

use super::Store;
use super::rows::costs::read_iteration_cost;

impl Store {
    /// The cost of each iteration of a run, over all its attempts.
    pub async fn iteration_costs(&self, run_id: &str) -> Result<Vec<IterationCost>> {
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
        rows.iter().map(read_iteration_cost).collect()
    }
}
