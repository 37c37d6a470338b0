//! Suites: stored once, under a digest of their content.

use swe_ci_base::error::{Error, Result};

use super::rows::suites::{Suite, read_suite};
use super::sql::{Tx, query};
use super::{Store, to_json};

/// Stores a suite unless it exists; returns its id.
pub(super) async fn put_suite(tx: &mut Tx, suite: &Suite) -> Result<String> {
    let tests = to_json(&suite.tests)?;
    let id = suite.id(&tests);
    query(
        "INSERT INTO suites (id, base_in_target, target_passed, base_passed, counts_only, tests, base_outcomes)
         VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (id) DO NOTHING",
    )
    .with((&id, suite.counts.base_in_target, suite.counts.target))
    .with((suite.counts.base_passed, suite.counts.counts_only, tests))
    .with(suite.base_outcomes.letters())
    .run(tx)
    .await?;
    Ok(id)
}

impl Store {
    /// The suite an evolution is measured against.
    pub async fn suite(&self, id: &str) -> Result<Suite> {
        query("SELECT * FROM suites WHERE id = $1")
            .with(id)
            .first(&self.pool, read_suite)
            .await?
            .ok_or_else(|| Error::not_found("suite", id))
    }
}
