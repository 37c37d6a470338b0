//! Rows of suites, pinned by their content.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use sqlx::any::AnyRow;
use swe_ci_base::digest::hex;
use swe_ci_base::error::Result;
use swe_ci_core::metrics::SuiteCounts;
use swe_ci_core::outcomes::{Outcomes, TestList};
use swe_ci_core::report::Report;

use super::columns::{Columns, from_row};

/// A test suite that evolutions are measured against.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Suite {
    pub counts: SuiteCounts,
    /// T.
    pub tests: TestList,
    pub base_outcomes: Outcomes,
}

impl Suite {
    /// The tests T, and the base's outcomes on them.
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

    /// The suite of a task that has not been tested.
    pub fn none() -> Self {
        Self::counts_only(SuiteCounts::default())
    }

    /// A suite whose test names are not known.
    pub fn counts_only(counts: SuiteCounts) -> Self {
        Self {
            counts,
            tests: TestList::none(),
            base_outcomes: Outcomes::from_letters(String::new()),
        }
    }

    /// Digest of the counts, the tests (as JSON) and the base's outcomes.
    pub(crate) fn id(&self, tests: &str) -> String {
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
pub(crate) const COUNTS: &str =
    "u.id AS suite_id, u.base_in_target AS base_in_target, u.target_passed AS target_passed,
     u.base_passed AS base_passed, u.counts_only AS counts_only";

pub(crate) fn read_counts(row: &AnyRow) -> Result<SuiteCounts> {
    Ok(from_row!(row => SuiteCounts {
        base_in_target, base_passed, counts_only;
        target: row.read("target_passed")?
    }))
}

pub(crate) fn read_suite(row: &AnyRow) -> Result<Suite> {
    Ok(from_row!(row => Suite { tests, base_outcomes; counts: read_counts(row)? }))
}
