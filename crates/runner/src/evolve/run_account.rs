//! Usage of models while steps are at work: of a run, as its budget sees it, and of the
//! attempt.

use async_trait::async_trait;
use swe_ci_base::clock::now_ms;
use swe_ci_core::usage::{Traffic, Usage};
use swe_ci_gateway::{SharedAccount, Spent, UsageStore};
use swe_ci_store::{Claim, Spending, StepRow, Store};

/// What all workers spent on a run.
#[derive(Debug)]
pub(super) struct RunAccount {
    pub store: Store,
    pub run_id: String,
}

#[async_trait]
impl SharedAccount for RunAccount {
    async fn add(&self, more: Spent) -> anyhow::Result<Spent> {
        let more = Spending {
            tokens: more.tokens,
            requests: more.requests,
            micro_usd: more.micro_usd,
        };
        let sum = self.store.spend(&self.run_id, more).await?;
        Ok(Spent {
            tokens: sum.tokens,
            requests: sum.requests,
            micro_usd: sum.micro_usd,
        })
    }
}

/// An attempt whose usage is in the rows before it ends.
#[derive(Debug)]
pub(super) struct AttemptAtWork {
    pub store: Store,
    pub claim: Claim,
    pub worker: String,
    /// Without usage.
    pub row: StepRow,
}

#[async_trait]
impl UsageStore for AttemptAtWork {
    async fn keep(&self, usage: Usage, traffic: Traffic) -> anyhow::Result<()> {
        let row = StepRow {
            usage: Some(usage),
            traffic: Some(traffic),
            finished_at: now_ms(),
            ..self.row.clone()
        };
        self.store
            .keep_usage(&self.claim, &self.worker, &row)
            .await?;
        Ok(())
    }
}
