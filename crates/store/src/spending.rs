//! The spending of a run: the sum of all its requests, over all workers.

use sqlx::any::AnyRow;
use swe_ci_base::error::Result;

use super::Store;
use super::rows::columns::from_row;
use super::sql::query;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Spending {
    /// Of input and output.
    pub tokens: u64,
    /// Sent to the provider.
    pub requests: u64,
    /// Millionths of a US dollar, of requests with a price.
    pub micro_usd: u64,
}

impl Store {
    /// Adds what requests took; returns the sum of all workers. A run that has
    /// no sum yet begins with what its recorded steps took.
    pub async fn spend(&self, run_id: &str, more: Spending) -> Result<Spending> {
        if let Some(sum) = self.add_spending(run_id, more).await? {
            return Ok(sum);
        }
        let before = self.totals_of_run(run_id).await?;
        query(
            "INSERT INTO run_spending (run_id, tokens, requests, micro_usd) VALUES ($1, $2, $3, $4)
             ON CONFLICT (run_id) DO NOTHING",
        )
        .with((run_id, before.taken.total(), before.traffic.requests))
        .with(before.traffic.micro_usd.unwrap_or_default())
        .run(&self.pool)
        .await?;
        Ok(self.add_spending(run_id, more).await?.unwrap_or(more))
    }

    async fn add_spending(&self, run_id: &str, more: Spending) -> Result<Option<Spending>> {
        if more == Spending::default() {
            return query("SELECT * FROM run_spending WHERE run_id = $1")
                .with(run_id)
                .first(&self.pool, read)
                .await;
        }
        query(
            "UPDATE run_spending SET tokens = tokens + $2, requests = requests + $3, micro_usd = micro_usd + $4
             WHERE run_id = $1 RETURNING tokens, requests, micro_usd",
        )
        .with((run_id, more.tokens, more.requests, more.micro_usd))
        .first(&self.pool, read)
        .await
    }
}

fn read(row: &AnyRow) -> Result<Spending> {
    Ok(from_row!(row => Spending { tokens, requests, micro_usd }))
}
