//! EvoScore, equation 3: the γ-weighted mean of the normalized changes.

use std::ops::RangeInclusive;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The weight of later iterations, within [`Gamma::RANGE`]. At 1 all weigh the
/// same; above 1, later iterations count more.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Gamma(f64);

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "γ must be a number between {} and {}, not {}",
    Gamma::RANGE.start(),
    Gamma::RANGE.end(),
    .0
)]
pub struct BadGamma(String);

impl Gamma {
    pub const ONE: Self = Self(1.0);

    pub const RANGE: RangeInclusive<f64> = 0.1..=10.0;

    /// # Errors
    /// [`BadGamma`] outside [`Gamma::RANGE`] or not a number.
    pub fn new(gamma: f64) -> Result<Self, BadGamma> {
        if Self::RANGE.contains(&gamma) {
            Ok(Self(gamma))
        } else {
            Err(BadGamma(gamma.to_string()))
        }
    }

    pub fn get(self) -> f64 {
        self.0
    }
}

impl FromStr for Gamma {
    type Err = BadGamma;

    /// Rounded to hundredths: everybody may ask for any, and each is computed.
    fn from_str(text: &str) -> Result<Self, BadGamma> {
        match text.parse::<f64>() {
            Ok(gamma) => Self::new(gamma).map(|gamma| Self((gamma.0 * 100.0).round() / 100.0)),
            Err(_) => Err(BadGamma(format!("`{text}`"))),
        }
    }
}

impl TryFrom<f64> for Gamma {
    type Error = BadGamma;

    fn try_from(gamma: f64) -> Result<Self, BadGamma> {
        Self::new(gamma)
    }
}

impl From<Gamma> for f64 {
    fn from(gamma: Gamma) -> f64 {
        gamma.0
    }
}

/// The weights of N iterations for one γ, computed once for all tasks.
#[derive(Debug, Clone, PartialEq)]
pub struct Weights {
    /// Weight of iteration i + 1; they sum to 1.
    normalized: Vec<f64>,
    /// Sum of the weights from iteration i + 1 to the end.
    tail: Vec<f64>,
}

impl Weights {
    /// γ^i / Σ γ^i for i = 1..=`iterations`.
    ///
    /// The largest weight is scaled to 1 before summing (γ^(i−N) when γ > 1),
    /// so nothing overflows; what underflows weighs nothing anyway.
    pub fn new(gamma: Gamma, iterations: u32) -> Self {
        let gamma = gamma.get();
        let n = iterations as usize;
        let mut normalized = vec![1.0; n];
        if gamma > 1.0 {
            for i in (0..n.saturating_sub(1)).rev() {
                normalized[i] = normalized[i + 1] / gamma;
            }
        } else {
            for i in 1..n {
                normalized[i] = normalized[i - 1] * gamma;
            }
        }
        let sum: f64 = normalized.iter().sum();
        for weight in &mut normalized {
            *weight /= sum;
        }
        let mut tail = normalized.clone();
        for i in (0..n.saturating_sub(1)).rev() {
            tail[i] += tail[i + 1];
        }
        Self { normalized, tail }
    }

    /// EvoScore of one evolution. The last value pads a sequence shorter than
    /// N; an empty one stayed at the base: 0. Values beyond N do not count.
    pub fn evoscore(&self, changes: impl ExactSizeIterator<Item = f64>) -> f64 {
        let used = changes.len().min(self.normalized.len());
        let weighted = changes.zip(&self.normalized);
        let (sum, last) = weighted.fold((0.0, 0.0), |(sum, _), (change, weight)| {
            (sum + change * weight, change)
        });
        sum + last * self.tail.get(used).copied().unwrap_or(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::normalized_change;
    use proptest::prelude::*;

    fn gamma(value: f64) -> Gamma {
        Gamma::new(value).unwrap()
    }

    #[test]
    fn worked_examples() {
        let check = |base, target, passes: &[u32], n, g, expect: f64| {
            let changes: Vec<f64> = passes
                .iter()
                .map(|p| normalized_change(*p, base, target))
                .collect();
            let e = Weights::new(gamma(g), n).evoscore(changes.iter().copied());
            assert!((e - expect).abs() < 1e-12, "{passes:?}: {e} ≠ {expect}");
        };
        check(10, 20, &[12, 15, 8, 20], 4, 1.0, 0.375);
        check(10, 20, &[12, 15, 8, 20], 6, 1.0, (0.375 * 4.0 + 2.0) / 6.0);
        check(0, 5, &[0, 5], 2, 1.0, 0.5);
        check(0, 5, &[0, 5], 2, 2.0, 2.0 / 3.0);
        // The second iteration collapsed: nothing passes.
        check(10, 20, &[12, 0, 14], 3, 1.0, -0.4 / 3.0);
        check(10, 20, &[], 20, 1.0, 0.0);
    }

    #[test]
    fn gamma_has_a_range() {
        for bad in [0.0, 0.099, 10.01, -1.0, f64::NAN, f64::INFINITY] {
            assert!(Gamma::new(bad).is_err(), "{bad}");
        }
        for good in [0.1, 1.0, 10.0] {
            assert!(Gamma::new(good).is_ok(), "{good}");
        }
        assert!(serde_json::from_str::<Gamma>("0").is_err());
    }

    #[test]
    fn gamma_from_text() {
        for (text, expect) in [
            ("0.1", 0.1),
            ("1", 1.0),
            ("2.5", 2.5),
            ("10", 10.0),
            ("1.0749", 1.07),
        ] {
            assert_eq!(text.parse::<Gamma>(), Ok(gamma(expect)), "{text}");
        }
        let check = |text: &str, problem: &str| {
            let error = text.parse::<Gamma>().unwrap_err();
            let expect = format!("γ must be a number between 0.1 and 10, not {problem}");
            assert_eq!(error.to_string(), expect);
        };
        check("11", "11");
        check("0.05", "0.05");
        check("10.001", "10.001");
        check("NaN", "NaN");
        check("inf", "inf");
        check("one", "`one`");
        check(" 1", "` 1`");
        check("", "``");
    }

    /// Equation 3 as printed, with explicit padding.
    fn by_the_book(changes: &[f64], n: usize, gamma: f64) -> f64 {
        let last = changes.last().copied().unwrap_or(0.0);
        let a = |i: usize| changes.get(i - 1).copied().unwrap_or(last);
        let top: f64 = (1..=n).map(|i| gamma.powi(i as i32) * a(i)).sum();
        let bottom: f64 = (1..=n).map(|i| gamma.powi(i as i32)).sum();
        top / bottom
    }

    proptest! {
        #[test]
        fn agrees_with_the_formula(
            changes in prop::collection::vec(-1.0f64..=1.0, 0..40),
            extra in 0usize..10,
            g in 0.1f64..=10.0,
        ) {
            let n = (changes.len() + extra).max(1);
            let e = Weights::new(gamma(g), n as u32).evoscore(changes.iter().copied());
            prop_assert!((e - by_the_book(&changes, n, g)).abs() < 1e-9);
        }

        #[test]
        fn lies_between_the_extremes(changes in prop::collection::vec(-1.0f64..=1.0, 1..1000), g in 0.1f64..=10.0) {
            let e = Weights::new(gamma(g), 1000).evoscore(changes.iter().copied());
            let low = changes.iter().copied().fold(f64::INFINITY, f64::min);
            let high = changes.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            prop_assert!(e.is_finite() && e >= low - 1e-9 && e <= high + 1e-9);
        }

        /// γ → ∞ tends to the last value (the paper's remark on solved rate).
        #[test]
        fn a_large_gamma_weighs_the_end(changes in prop::collection::vec(-1.0f64..=1.0, 20)) {
            let e = Weights::new(gamma(10.0), 20).evoscore(changes.iter().copied());
            prop_assert!((e - changes[19]).abs() < 0.23);
        }
    }
}
