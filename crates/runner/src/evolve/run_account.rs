//! What all workers spent on a run, as its budget sees it.

use async_trait::async_trait;
use swe_ci_gateway::{SharedAccount, Spent};
use swe_ci_store::{Spending, Store};

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
