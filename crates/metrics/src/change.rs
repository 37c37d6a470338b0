//! Normalized change a(c), equation 2.

/// Progress of code that passes `n` tests from the base (0) towards the target
/// (1), or its fall below the base (-1: no test passes).
///
/// a = (n − base) / (target − base) when n ≥ base, else (n − base) / base.
/// With nothing to gain (`target` ≤ `base`) code above the base scores 1.
#[inline]
pub fn normalized_change(n: u32, base: u32, target: u32) -> f64 {
    let (n_f, base_f) = (f64::from(n), f64::from(base));
    if n < base {
        (n_f - base_f) / base_f
    } else if n == base {
        0.0
    } else if target <= base {
        1.0
    } else {
        (n_f - base_f) / (f64::from(target) - base_f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn table() {
        let check = |n, base, target, expect: f64| {
            assert!(
                (normalized_change(n, base, target) - expect).abs() < 1e-12,
                "{n} {base} {target}"
            );
        };
        check(10, 10, 20, 0.0);
        check(15, 10, 20, 0.5);
        check(20, 10, 20, 1.0);
        check(8, 10, 20, -0.2);
        check(0, 10, 20, -1.0);
        check(0, 0, 5, 0.0);
        check(5, 0, 5, 1.0);
        check(11, 10, 10, 1.0);
        check(10, 10, 10, 0.0);
    }

    proptest! {
        #[test]
        fn stays_within_one(base in 0u32..1000, gap in 0u32..1000, share in 0.0f64..=1.0) {
            let target = base + gap;
            let n = (f64::from(target) * share) as u32;
            let a = normalized_change(n, base, target);
            prop_assert!((-1.0..=1.0).contains(&a));
        }
    }
}
