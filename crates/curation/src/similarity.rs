//! Finds tasks of other splits that test nearly the same: a model that has seen
//! the one has seen the other.

use std::collections::BTreeSet;

use swe_ci_base::error::Result;
use swe_ci_core::outcomes::TestList;
use swe_ci_store::TaskRow;
use swe_ci_views::preparation::TaskFinding;

use crate::curator::Curator;

/// Suites with fewer tests resemble each other by chance.
const MIN_TESTS: usize = 10;
/// The share of common tests from which tasks are similar, in percent.
const MIN_PERCENT: u32 = 80;

impl Curator<'_> {
    /// The most similar task of another split, as a finding.
    pub async fn similar_task(&self, row: &TaskRow) -> Result<Option<TaskFinding>> {
        let store = self.curations.store;
        let mut best: Option<(u32, String)> = None;
        for other in store.task_summaries(None).await? {
            let splits = store.splits_of_task(&other.task_id, "").await?;
            if other.task_id == row.id || splits.iter().all(|split| *split == self.plan.split) {
                continue;
            }
            let other = store.task(&other.task_id).await?;
            let percent = common_percent(&row.suite.tests, &other.suite.tests);
            if best.as_ref().is_none_or(|(most, _)| percent > *most) {
                best = Some((percent, other.id.to_string()));
            }
        }
        let similar = best.filter(|(percent, _)| *percent >= MIN_PERCENT);
        Ok(similar.map(|(percent, task)| TaskFinding::SimilarTask { task, percent }))
    }
}

/// The tests that two suites share, in percent of all their tests.
fn common_percent(a: &TestList, b: &TestList) -> u32 {
    let [a, b] = [a, b].map(|list| list.node_ids().iter().collect::<BTreeSet<_>>());
    if a.len() < MIN_TESTS || b.len() < MIN_TESTS {
        return 0;
    }
    let (common, all) = (a.intersection(&b).count(), a.union(&b).count());
    u32::try_from(common * 100 / all).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use swe_ci_core::report::{Outcome, Report, TestResult};

    use super::*;

    fn suite(tests: std::ops::Range<u32>) -> TestList {
        let passed = |n: u32| {
            let result = TestResult {
                outcome: Outcome::Passed,
                message: String::new(),
            };
            (format!("tests/test_a.py::test_{n}"), result)
        };
        TestList::of_target(&Report {
            exit_code: 0,
            duration: 1.0,
            tests: tests.map(passed).collect::<BTreeMap<_, _>>(),
        })
    }

    #[test]
    fn suites_share_tests() {
        let check = |a, b, expect| assert_eq!(common_percent(&suite(a), &suite(b)), expect);
        check(0..20, 0..20, 100);
        check(0..20, 10..20, 50);
        check(0..20, 30..50, 0);
        // So few are the same by chance.
        check(0..5, 0..5, 0);
    }
}
