//! Whether several samples of a task succeed: pass@k and pass^k.

/// pass@k: how probably at least one of `k` samples succeeds, when `of` were
/// taken and `passed` of them succeeded. The share of the choices of `k` samples
/// that have a success, which estimates without bias; `None` with fewer than `k`.
pub fn pass_at(k: u32, passed: u32, of: u32) -> Option<f64> {
    let failed = of.checked_sub(passed).filter(|_| k <= of)?;
    // The first success comes after this many failures.
    let first = |after: u32| all_of(after, failed, of) * f64::from(passed) / f64::from(of - after);
    Some((0..k).map(first).sum())
}

/// pass^k: how probably all of `k` samples succeed. The share of the choices of
/// `k` samples without a failure; `None` with fewer than `k`.
pub fn pass_hat(k: u32, passed: u32, of: u32) -> Option<f64> {
    (k <= of && passed <= of).then(|| all_of(k, passed, of))
}

/// C(passed, k) / C(of, k), a factor at a time: nothing overflows.
fn all_of(k: u32, passed: u32, of: u32) -> f64 {
    let share = |i: u32| f64::from(passed.saturating_sub(i)) / f64::from(of - i);
    (0..k).map(share).product()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The shares of all choices of k of the samples with a success, and without
    /// a failure.
    fn by_enumeration(k: u32, passed: u32, of: u32) -> (f64, f64) {
        let choices = (0..1u32 << of).filter(|chosen| chosen.count_ones() == k);
        let successes = (1u32 << passed) - 1;
        let (mut any, mut all, mut count) = (0.0, 0.0, 0.0);
        for chosen in choices {
            any += f64::from(u8::from(chosen & successes != 0));
            all += f64::from(u8::from(chosen & !successes == 0));
            count += 1.0;
        }
        (any / count, all / count)
    }

    #[test]
    fn all_choices_of_samples() {
        for of in 1..=9 {
            for passed in 0..=of {
                for k in 1..=of {
                    let (any, all) = by_enumeration(k, passed, of);
                    let ours = (pass_at(k, passed, of), pass_hat(k, passed, of));
                    assert!((ours.0.unwrap() - any).abs() < 1e-12, "{k} {passed} {of}");
                    assert!((ours.1.unwrap() - all).abs() < 1e-12, "{k} {passed} {of}");
                }
            }
        }
    }

    #[test]
    fn by_hand() {
        // Two of three succeeded: of the pairs, one has both, none has neither.
        assert!((pass_at(2, 2, 3).unwrap() - 1.0).abs() < 1e-12);
        assert!((pass_hat(2, 2, 3).unwrap() - 1.0 / 3.0).abs() < 1e-12);
        assert_eq!(pass_at(4, 2, 3), None);
        assert_eq!(pass_hat(1, 4, 3), None);
        assert_eq!(pass_at(1, 50, 100), Some(0.5));
    }

    /// The mean of the estimate over all outcomes of n samples is what it
    /// estimates.
    #[test]
    fn without_bias() {
        let (n, p): (u32, f64) = (7, 0.3);
        let binomial = |c: u32| -> f64 {
            let choose: f64 = (0..c)
                .map(|i| f64::from(n - i) / f64::from(i + 1))
                .product();
            choose * p.powi(c as i32) * (1.0 - p).powi((n - c) as i32)
        };
        for k in 1..=n {
            let expected = |estimate: fn(u32, u32, u32) -> Option<f64>| -> f64 {
                (0..=n)
                    .map(|c| binomial(c) * estimate(k, c, n).unwrap())
                    .sum()
            };
            let at = 1.0 - (1.0 - p).powi(k as i32);
            assert!((expected(pass_at) - at).abs() < 1e-12);
            assert!((expected(pass_hat) - p.powi(k as i32)).abs() < 1e-12);
        }
    }
}
