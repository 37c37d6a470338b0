//! Suites, pinned by their content.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use sqlx::Row;
use sqlx::any::AnyRow;
use swe_ci_core::outcomes::{Outcomes, TestList};
use swe_ci_core::report::Report;
use swe_ci_core::task::SuiteCounts;

use super::{Store, count, from_json, to_json};
use crate::code::hex;
use crate::error::{Error, Result};

/// A test suite as evolutions are measured against it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Suite {
    pub counts: SuiteCounts,
    /// T.
    pub tests: TestList,
    pub base_outcomes: Outcomes,
}

impl Suite {
    /// T, and what the base does on it.
    pub fn of(tests: TestList, base: &Report) -> Self {
        let base_outcomes = Outcomes::of(&tests, base);
        Self {
            counts: SuiteCounts {
                base_in_target: base_outcomes.passed(),
                target: tests.len(),
                base_passed: base.passed(),
                counts_only: false,
            },
            tests,
            base_outcomes,
        }
    }

    /// Of a task that has not been tested.
    pub fn none() -> Self {
        Self::counts_only(SuiteCounts {
            base_in_target: 0,
            target: 0,
            base_passed: 0,
            counts_only: false,
        })
    }

    /// Of which the names of the tests are not known.
    pub fn counts_only(counts: SuiteCounts) -> Self {
        Self {
            counts,
            tests: TestList::none(),
            base_outcomes: Outcomes::from_letters(String::new()),
        }
    }

    fn id(&self, tests: &str) -> String {
        let SuiteCounts {
            base_in_target,
            target,
            base_passed,
            counts_only,
        } = self.counts;
        let counts = format!("{base_in_target} {target} {base_passed} {counts_only}");
        let mut hash = Sha256::new();
        for part in [&counts, tests, self.base_outcomes.letters()] {
            hash.update(part.as_bytes());
            hash.update([0]);
        }
        format!("sha256:{}", hex(&hash.finalize()))
    }
}

/// Columns of a suite joined as `u`; see [`read_counts`].
pub(super) const COUNTS: &str =
    "u.id AS suite_id, u.base_in_target AS base_in_target, u.target_passed AS target_passed,
     u.base_passed AS base_passed, u.counts_only AS counts_only";

pub(super) fn read_counts(row: &AnyRow) -> Result<SuiteCounts> {
    Ok(SuiteCounts {
        base_in_target: count(row.try_get("base_in_target")?),
        target: count(row.try_get("target_passed")?),
        base_passed: count(row.try_get("base_passed")?),
        counts_only: row.try_get::<i64, _>("counts_only")? != 0,
    })
}

pub(super) fn read_suite(row: &AnyRow) -> Result<Suite> {
    Ok(Suite {
        counts: read_counts(row)?,
        tests: from_json("a test list", &row.try_get::<String, _>("tests")?)?,
        base_outcomes: Outcomes::from_letters(row.try_get("base_outcomes")?),
    })
}

/// Keeps a suite, once however often; returns its id.
pub(super) async fn keep(tx: &mut sqlx::AnyConnection, suite: &Suite) -> Result<String> {
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
