//! How large a task is.

use serde::{Deserialize, Serialize};

/// How many tests the base and the target of a task pass, in both conventions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct SuiteCounts {
    /// Tests of T (those the target passes) that the base also passes.
    pub base_in_target: u32,
    /// Size of T.
    pub target: u32,
    /// All tests the base passes, in T or not.
    pub base_passed: u32,
    /// Only the numbers of passing tests are known: the results were imported
    /// as counts. They have no score in the paper's convention.
    #[serde(default)]
    pub counts_only: bool,
}

impl SuiteCounts {
    /// The counts of a task when only they are known: the tests the base
    /// passes, and how many more the target passes. T is then assumed to be
    /// exactly those.
    pub fn counts_only(base_passed: u32, gap: u32) -> Self {
        Self {
            base_in_target: base_passed,
            target: base_passed.saturating_add(gap),
            base_passed,
            counts_only: true,
        }
    }

    /// Tests the target passes and the base does not.
    pub fn gap(&self) -> u32 {
        self.target - self.base_in_target
    }
}
