//! Suites: stored once, under a digest of their content.

use swe_ci_base::error::{Error, Result};

use super::rows::suites::{Suite, read_suite};
use super::{Store, to_json};

/// Stores a suite unless it exists; returns its id.
pub(super) async fn put_suite(tx: &mut sqlx::AnyConnection, suite: &Suite) -> Result<String> {
    let tests = to_json(&suite.tests)?;
    let id = suite.id(&tests);
    sqlx::query(
        "INSERT INTO suites (id, base_in_target, target_passed, base_passed, counts_only, tests, base_outcomes)
         VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (id) DO NOTHING",
    )
    .bind(&id)
    .bind(i64::from(suite.counts.base_in_target))
    .bind(i64::from(suite.counts.target))
    .bind(i64::from(suite.counts.base_passed))
    .bind(i64::from(suite.counts.counts_only))
    .bind(tests)
    .bind(suite.base_outcomes.letters())
    .execute(tx)
    .await?;
    Ok(id)
}

impl Store {
    /// The suite an evolution is measured against.
    pub async fn suite(&self, id: &str) -> Result<Suite> {
        let row = sqlx::query("SELECT * FROM suites WHERE id = $1")
            .bind(id)
            .fetch_optional(&self.pool)
            .await?;
        row.as_ref()
            .map(read_suite)
            .transpose()?
            .ok_or_else(|| Error::not_found("suite", id))
    }
}
