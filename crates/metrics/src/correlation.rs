//! Pearson's correlation (Figure 7), and how certain it is.

use crate::SAME;
use crate::uncertainty::{Interval, NORMAL_975};

/// The correlation of the two coordinates, -1 to 1. `None` with fewer than
/// three points, or when one coordinate does not vary: then it is undefined,
/// not 0.
pub fn pearson(points: &[(f64, f64)]) -> Option<f64> {
    if points.len() < 3 {
        return None;
    }
    let n = points.len() as f64;
    let mean = |axis: fn(&(f64, f64)) -> f64| points.iter().map(axis).sum::<f64>() / n;
    let (x_mean, y_mean) = (mean(|p| p.0), mean(|p| p.1));
    // Rounding errors of a constant value must not count as variance.
    let varies = |axis: fn(&(f64, f64)) -> f64| {
        let first = axis(&points[0]);
        points.iter().any(|p| (axis(p) - first).abs() > SAME)
    };
    if !varies(|p| p.0) || !varies(|p| p.1) {
        return None;
    }
    let (mut xx, mut yy, mut xy) = (0.0, 0.0, 0.0);
    for (x, y) in points {
        let (dx, dy) = (x - x_mean, y - y_mean);
        xx += dx * dx;
        yy += dy * dy;
        xy += dx * dy;
    }
    let r = xy / (xx.sqrt() * yy.sqrt());
    r.is_finite().then(|| r.clamp(-1.0, 1.0))
}

/// The 95 % interval of a correlation over n points, by Fisher's transformation.
/// `None` with fewer than four points, or where all lie on one line.
pub(crate) fn fisher(r: f64, n: usize) -> Option<Interval> {
    if n < 4 || r.abs() > 1.0 - SAME {
        return None;
    }
    let half = NORMAL_975 / ((n - 3) as f64).sqrt();
    let end = |shift: f64| (r.atanh() + shift).tanh();
    Some(Interval {
        low: end(-half),
        high: end(half),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn table() {
        let check = |points: &[(f64, f64)], expect: Option<f64>| {
            let r = pearson(points);
            match (r, expect) {
                (Some(r), Some(expect)) => assert!((r - expect).abs() < 1e-12, "{points:?}: {r}"),
                _ => assert_eq!(r, expect, "{points:?}"),
            }
        };
        check(&[], None);
        check(&[(1.0, 1.0), (2.0, 2.0)], None);
        check(&[(1.0, 0.1), (2.0, 0.1), (3.0, 0.1)], None);
        check(&[(1.0, 0.15), (2.0, 0.1 + 0.2 - 0.15), (3.0, 0.15)], None);
        check(&[(1.0, 1.0), (2.0, 2.0), (3.0, 3.0)], Some(1.0));
        check(&[(1.0, 3.0), (2.0, 2.0), (3.0, 1.0)], Some(-1.0));
        // By hand: dx = -1.5 -0.5 0.5 1.5, dy = -1 1 -1 1, xy = 2, xx = 5, yy = 4.
        check(
            &[(1.0, 0.0), (2.0, 2.0), (3.0, 0.0), (4.0, 2.0)],
            Some(2.0 / 20f64.sqrt()),
        );
    }

    #[test]
    fn intervals_by_hand() {
        // atanh 0.5 is 0.5493; of 28 points the half is 1.96 / 5 = 0.3920.
        let interval = fisher(0.5, 28).unwrap();
        assert!((interval.low - 0.156).abs() < 1e-3 && (interval.high - 0.736).abs() < 1e-3);
        for (r, n) in [(0.5, 3), (1.0, 20), (-1.0, 20)] {
            assert_eq!(fisher(r, n), None);
        }
    }

    proptest! {
        #[test]
        fn within_one_and_symmetric(points in prop::collection::vec((-1.0f64..1.0, -1.0f64..1.0), 3..30)) {
            let turned: Vec<_> = points.iter().map(|(x, y)| (*y, *x)).collect();
            if let Some(r) = pearson(&points) {
                prop_assert!((-1.0..=1.0).contains(&r));
                prop_assert!((r - pearson(&turned).unwrap()).abs() < 1e-12);
            }
        }
    }
}
