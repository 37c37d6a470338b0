//! Totals of runs: usage, traffic and findings of all evolutions.

use sqlx::Row;
use swe_ci_base::error::Result;
use swe_ci_core::usage::{Traffic, Usage};

use super::{Store, count};

/// Usage and findings of a run, over all its evolutions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunTotals {
    /// Tokens of the model, as far as they were counted.
    pub taken: Usage,
    /// Gateway traffic, as far as it was counted and prices are known.
    pub traffic: Traffic,
    all_counted: bool,
    all_priced: bool,
    /// Iterations with integrity findings.
    pub findings: u32,
}

impl RunTotals {
    /// Tokens; only when every agent's step was counted.
    pub fn usage(&self) -> Option<Usage> {
        self.all_counted.then_some(self.taken)
    }

    /// Millionths of a US dollar; only when every agent's step has a price.
    pub fn micro_usd(&self) -> Option<u64> {
        self.traffic.micro_usd.filter(|_| self.all_priced)
    }
}

/// Columns of steps that are summed over a run.
const SUMMED: [&str; 8] = [
    "input_tokens",
    "output_tokens",
    "cached_tokens",
    "reasoning_tokens",
    "requests",
    "retries",
    "waiting_ms",
    "micro_usd",
];

impl Store {
    /// The totals of a run.
    pub async fn totals_of_run(&self, run_id: &str) -> Result<RunTotals> {
        let sum =
            |column: &str| format!("CAST(coalesce(sum(s.{column}), 0) AS BIGINT) AS {column}");
        let sums = SUMMED.map(sum).join(", ");
        let sql = format!(
            "SELECT count(*) AS steps, count(s.input_tokens) AS counted, count(s.micro_usd) AS priced, {sums},
                    (SELECT count(*) FROM iterations i JOIN evolutions e ON e.id = i.evolution_id
                     WHERE e.run_id = $1 AND i.findings <> '[]') AS findings
             FROM steps s JOIN evolutions e ON e.id = s.evolution_id
             WHERE e.run_id = $1 AND s.role <> 'test' AND s.outcome <> '\"retried\"'"
        );
        let row = sqlx::query(sqlx::AssertSqlSafe(sql))
            .bind(run_id)
            .fetch_one(&self.pool)
            .await?;
        let number = |column: &str| -> Result<u64> {
            Ok(u64::try_from(row.try_get::<i64, _>(column)?).unwrap_or(0))
        };
        let steps = number("steps")?;
        let all = |counted: u64| counted > 0 && counted == steps;
        Ok(RunTotals {
            taken: Usage {
                input_tokens: number("input_tokens")?,
                output_tokens: number("output_tokens")?,
                cached_tokens: number("cached_tokens")?,
                reasoning_tokens: number("reasoning_tokens")?,
            },
            traffic: Traffic {
                requests: number("requests")?,
                retries: number("retries")?,
                waiting_ms: number("waiting_ms")?,
                micro_usd: Some(number("micro_usd")?),
            },
            all_counted: all(number("counted")?),
            all_priced: all(number("priced")?),
            findings: count(row.try_get("findings")?),
        })
    }
}
