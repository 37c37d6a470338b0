//! Work that one process does at a time, whichever of them takes it.

use swe_ci_base::error::Result;

use super::Store;
use super::sql::{composed, query};

impl Store {
    /// Takes or renews the lease of this name; `false` while another process
    /// holds it.
    pub async fn lease(&self, name: &str, holder: &str, lease_ms: i64) -> Result<bool> {
        let now = self.dialect.now();
        let held = composed(format!(
            "INSERT INTO leases (name, holder, until) VALUES ($1, $2, {now} + $3)
             ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, until = excluded.until
             WHERE leases.holder = excluded.holder OR leases.until < {now}"
        ))
        .with((name, holder, lease_ms))
        .changed(&self.pool)
        .await?;
        Ok(held == 1)
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
