//! Round numbers for axes.

use std::ops::RangeInclusive;

/// About `wanted` round numbers (steps of 1, 2 or 5 times a power of ten)
/// within the range.
pub(crate) fn ticks(range: RangeInclusive<f64>, wanted: u32) -> Vec<f64> {
    let (low, high) = range.into_inner();
    if high <= low {
        return vec![low];
    }
    let step = step(high - low, wanted);
    let first = (low / step - 1e-9).ceil();
    let mut ticks = Vec::new();
    let mut index = first;
    while index * step <= high + step * 1e-9 {
        // Adding 0 turns −0 into 0.
        ticks.push(index * step + 0.0);
        index += 1.0;
    }
    ticks
}

/// Like [`ticks`], whole numbers only.
pub(crate) fn whole_ticks(range: RangeInclusive<f64>, wanted: u32) -> Vec<f64> {
    let mut ticks = ticks(range, wanted);
    ticks.retain(|t| (t - t.round()).abs() < 1e-6);
    ticks
}

/// Like [`ticks`], but only within the range of scores: an axis extends beyond
/// the highest mark, but no score is above 1 or below −1.
pub(crate) fn score_ticks(range: RangeInclusive<f64>, wanted: u32) -> Vec<f64> {
    let mut ticks = ticks(range, wanted);
    ticks.retain(|t| t.abs() < 1.0 + 1e-9);
    ticks
}

/// The number of decimals that the labels of these ticks need.
pub(crate) fn places(ticks: &[f64]) -> usize {
    let needs = |places: usize| {
        let power = 10f64.powi(places as i32);
        ticks
            .iter()
            .any(|t| ((t * power).round() / power - t).abs() > 1e-9)
    };
    (0..3).find(|places| !needs(*places)).unwrap_or(3)
}

fn step(span: f64, wanted: u32) -> f64 {
    let rough = span / f64::from(wanted.max(1));
    let power = 10f64.powf(rough.log10().floor());
    let factor = [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .find(|f| f * power >= rough * 0.999);
    factor.unwrap_or(10.0) * power
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(range: RangeInclusive<f64>, wanted: u32, expect: &[f64]) {
        let ticks_found = ticks(range, wanted);
        assert_eq!(ticks_found.len(), expect.len(), "{ticks_found:?}");
        for (f, e) in ticks_found.iter().zip(expect) {
            assert!((f - e).abs() < 1e-9, "{ticks_found:?}");
        }
    }

    #[test]
    fn zero_has_no_sign() {
        let ticks_found = ticks(-0.5..=6.0, 4);
        assert!(
            ticks_found
                .iter()
                .all(|t| *t != 0.0 || t.is_sign_positive()),
            "{ticks_found:?}"
        );
    }

    #[test]
    fn no_score_is_above_one() {
        let check = |range, expect: &[f64]| {
            let ticks_found = score_ticks(range, 5);
            let alike = |(f, e): (&f64, &f64)| (f - e).abs() < 1e-9;
            let fits = ticks_found.len() == expect.len();
            assert!(
                fits && ticks_found.iter().zip(expect).all(alike),
                "{ticks_found:?}"
            );
        };
        check(0.94..=1.04, &[0.94, 0.96, 0.98, 1.0]);
        check(-1.04..=-0.94, &[-1.0, -0.98, -0.96, -0.94]);
    }

    #[test]
    fn round_numbers() {
        check(0.0..=1.0, 5, &[0.0, 0.2, 0.4, 0.6, 0.8, 1.0]);
        check(420.0..=465.0, 4, &[420.0, 440.0, 460.0]);
        check(-0.5..=0.5, 4, &[-0.5, 0.0, 0.5]);
        check(3.0..=3.0, 4, &[3.0]);
    }

    #[test]
    fn labels_are_as_long_as_they_need_to_be() {
        assert_eq!(places(&[0.0, 20.0]), 0);
        assert_eq!(places(&[0.0, 0.2]), 1);
        assert_eq!(places(&[0.25, 0.5]), 2);
        assert_eq!(whole_ticks(0.0..=2.0, 4), [0.0, 1.0, 2.0]);
    }
}
