//! An evolution's iterations for scoring: test by test if the names of the
//! tests are known, else by count.

use swe_ci_core::metrics::{Convention, Series, Verdict};
use swe_ci_core::outcomes::{Outcomes, TestList};
use swe_ci_core::recovery::{Recovery, recoveries};
use swe_ci_core::results::Record;
use swe_ci_core::task::TaskId;
use swe_ci_store::Suite;

use super::Evolution;
use super::reference::PerTest;
use crate::as_u32;

/// The first N iterations of an evolution.
#[derive(Debug, Clone)]
pub struct Measured {
    pub suite: Suite,
    pub iterations: Vec<Measure>,
}

#[derive(Debug, Clone)]
pub struct Measure {
    pub verdict: Verdict,
    /// Tests of T gained since the last scored code; by count, the net gain.
    pub gained: u32,
    /// Empty where only counts are known.
    pub outcomes: Outcomes,
}

impl Evolution {
    /// Its first `max_iterations` (N), as precisely as known.
    pub fn measured(&self, max_iterations: u32) -> Measured {
        match &self.tests {
            Ok(tests) => test_by_test(&self.record, tests).up_to(max_iterations),
            Err(_) => self.counted(max_iterations),
        }
    }

    /// Its first `max_iterations` (N), by count even if more is known.
    pub fn counted(&self, max_iterations: u32) -> Measured {
        by_count(&self.record).up_to(max_iterations)
    }

    /// Its notes, with one about iterations beyond `max_iterations` (N).
    pub fn notes_up_to(&self, task: &TaskId, max_iterations: u32) -> Vec<String> {
        let mut notes = self.notes.clone();
        let count = self.record.iterations.len();
        if count > max_iterations as usize {
            notes.push(format!(
                "`{task}`: iterations beyond {max_iterations} are left out; there are {count}"
            ));
        }
        notes
    }
}

impl Measured {
    fn up_to(mut self, max_iterations: u32) -> Self {
        self.iterations.truncate(max_iterations as usize);
        self
    }

    pub fn series(&self, convention: Convention) -> Option<Series> {
        let verdicts: Vec<Verdict> = self.iterations.iter().map(|i| i.verdict).collect();
        let all = as_u32(verdicts.len());
        Series::count(convention, self.suite.counts, all, &verdicts)
    }

    /// When its regressions were repaired; `None` if only counts are known.
    pub fn recoveries(&self) -> Option<Vec<Recovery>> {
        let scored = |i: &Measure| matches!(i.verdict, Verdict::Scored { .. });
        let after = self.iterations.iter();
        let after: Vec<_> = after.map(|i| scored(i).then_some(&i.outcomes)).collect();
        let known = !self.suite.counts.counts_only;
        known.then(|| recoveries(&self.suite.base_outcomes, &after))
    }

    /// Whether the target is reached after this many iterations, 0 for the
    /// base; by net count if only counts are known.
    pub fn reaches_target(&self, iterations: usize) -> bool {
        let Some(index) = iterations.checked_sub(1) else {
            return self.suite.counts.gap() == 0;
        };
        match self.iterations[index].verdict {
            Verdict::Scored { in_target, .. } => in_target >= self.suite.counts.target,
            Verdict::Collapsed { .. } => false,
        }
    }
}

fn test_by_test(record: &Record, tests: &PerTest) -> Measured {
    let mut before = &tests.suite.base_outcomes;
    let mut iterations = Vec::new();
    for (recorded, outcomes) in record.iterations.iter().zip(&tests.iterations) {
        iterations.push(match (recorded.passed, outcomes) {
            (Some(passed), Some(now)) => {
                let measure = Measure {
                    verdict: Verdict::Scored {
                        in_target: now.passed(),
                        passed,
                        lost: now.lost_since(before),
                    },
                    gained: now.gained_since(before),
                    outcomes: now.clone(),
                };
                before = now;
                measure
            }
            _ => Measure {
                verdict: Verdict::Collapsed {
                    lost: before.passed(),
                },
                gained: 0,
                outcomes: Outcomes::none(&tests.suite.tests),
            },
        });
    }
    Measured {
        suite: tests.suite.clone(),
        iterations,
    }
}

fn by_count(record: &Record) -> Measured {
    let none = TestList::none();
    let counts = record.suite();
    let mut before = counts.base_in_target;
    let mut iterations = Vec::new();
    for verdict in record.verdicts() {
        iterations.push(Measure {
            verdict,
            gained: verdict.gained(before),
            outcomes: Outcomes::none(&none),
        });
        if let Verdict::Scored { in_target, .. } = verdict {
            before = in_target;
        }
    }
    Measured {
        suite: Suite::counts_only(counts),
        iterations,
    }
}
