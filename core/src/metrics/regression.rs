//! Zero regression (Figure 6): was no passing test ever broken?

use super::Verdict;

/// By test: in no iteration did a test of T that passed on the previous
/// scored code fail, error or disappear.
#[must_use]
pub fn per_test_zero_regression(verdicts: &[Verdict]) -> bool {
    verdicts.iter().all(|v| v.lost() == 0)
}

/// By net count: the sequence `base`, n1, n2, … never falls.
#[must_use]
pub fn net_zero_regression(base: u32, passes: &[u32]) -> bool {
    std::iter::once(base)
        .chain(passes.iter().copied())
        .is_sorted()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn net_counts() {
        let check = |base, passes: &[u32], expect| {
            assert_eq!(net_zero_regression(base, passes), expect, "{passes:?}");
        };
        check(10, &[], true);
        check(10, &[10, 12, 12, 20], true);
        check(10, &[12, 15, 8, 20], false);
        check(10, &[9], false);
        check(0, &[0, 0], true);
        check(10, &[12, 0, 14], false);
    }

    /// Worked example 5: three old tests break while four new ones pass.
    #[test]
    fn the_two_readings_differ() {
        let verdicts = [Verdict::Scored {
            in_target: 11,
            passed: 11,
            lost: 3,
        }];
        assert!(!per_test_zero_regression(&verdicts));
        assert!(net_zero_regression(10, &[11]));
    }

    #[test]
    fn a_collapse_breaks_what_passed() {
        assert!(!per_test_zero_regression(&[Verdict::Collapsed {
            lost: 10
        }]));
        // Nothing passed before: nothing was broken.
        assert!(per_test_zero_regression(&[Verdict::Collapsed { lost: 0 }]));
    }
}
