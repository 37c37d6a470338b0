//! Work that one process does at a time, whichever of them takes it.

use std::time::Duration;

use swe_ci_base::error::{Error, Result};

use super::Store;
use super::sql::{composed, query};

/// How long the database may take to answer about a lease: a connection that
/// went dead must not let its holder go on beyond it.
const ANSWER: Duration = Duration::from_secs(10);

/// What the database answers in time.
///
/// # Errors
/// Those of the query; [`Error::Unavailable`] if there is no answer.
pub async fn answered<T>(query: impl Future<Output = Result<T>>) -> Result<T> {
    answered_within(ANSWER, query).await
}

async fn answered_within<T>(within: Duration, query: impl Future<Output = Result<T>>) -> Result<T> {
    let late = |_| Error::Unavailable(format!("no answer within {within:?}"));
    let answer = tokio::time::timeout(within, query).await;
    answer.map_err(late).flatten()
}

impl Store {
    /// Takes or renews the lease of this name; `false` while another process
    /// holds it.
    ///
    /// # Errors
    /// Also when the database does not answer in time.
    pub async fn lease(&self, name: &str, holder: &str, lease_ms: i64) -> Result<bool> {
        let now = self.dialect.now();
        let taking = composed(format!(
            "INSERT INTO leases (name, holder, until) VALUES ($1, $2, {now} + $3)
             ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, until = excluded.until
             WHERE leases.holder = excluded.holder OR leases.until < {now}"
        ))
        .with((name, holder, lease_ms))
        .changed(&self.pool);
        Ok(answered(taking).await? == 1)
    }

    /// Ends the leases of holders whose names start with `prefix`.
    pub async fn end_leases(&self, prefix: &str) -> Result<()> {
        query("DELETE FROM leases WHERE substr(holder, 1, length($1)) = $1")
            .with(prefix)
            .run(&self.pool)
            .await
    }

    pub async fn end_lease(&self, name: &str, holder: &str) -> Result<()> {
        query("DELETE FROM leases WHERE name = $1 AND holder = $2")
            .with((name, holder))
            .run(&self.pool)
            .await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_dead_connection_is_not_waited_for() {
        let dead = std::future::pending::<Result<()>>();
        let dead = answered_within(Duration::from_millis(1), dead).await;
        assert!(matches!(dead, Err(Error::Unavailable(_))), "{dead:?}");
        assert_eq!(answered(async { Ok(1) }).await.unwrap(), 1);
    }
}
