//! A run's line in the chart of EvoScore against γ: the browser moves its marks
//! with the slider, from the same few numbers as the server.

use serde::{Deserialize, Serialize};

use crate::{Gamma, Weights};

/// The range of γ in figures.
pub const GAMMA_MIN: f64 = 0.5;
pub const GAMMA_MAX: f64 = 2.0;

/// Where the chart of EvoScore against γ has its data, in pixels of the picture.
/// Pages draw the lines once and move only the marks.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct GammaPlane {
    pub width: u32,
    pub height: u32,
    pub left: f64,
    pub right: f64,
    pub top: f64,
    pub bottom: f64,
    /// The scores at the bottom and at the top.
    pub low: f64,
    pub high: f64,
}

impl GammaPlane {
    /// Where a γ is; one outside the chart is shown at its edge.
    pub fn x(&self, gamma: Gamma) -> f64 {
        let share = (gamma.get().clamp(GAMMA_MIN, GAMMA_MAX) - GAMMA_MIN) / (GAMMA_MAX - GAMMA_MIN);
        self.left + share * (self.right - self.left)
    }

    pub fn y(&self, score: f64) -> f64 {
        let share = (score - self.low) / (self.high - self.low);
        self.bottom - share * (self.bottom - self.top)
    }
}

/// The run's mean normalized change after each of its N iterations. A weighted
/// mean of means is the mean of the weighted means, so these few numbers give
/// the score at every γ.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Curve {
    changes: Vec<f64>,
}

impl Curve {
    /// After each of its iterations.
    pub fn new(changes: Vec<f64>) -> Self {
        Self { changes }
    }

    /// After iterations 1 to N, -1 to 1. Their mean is the score at γ = 1.
    pub fn changes(&self) -> &[f64] {
        &self.changes
    }

    /// The curve with few digits, for transfer.
    pub fn rounded(&self) -> Self {
        // A millionth is invisible in pictures and labels.
        let round = |change: &f64| (change * 1e6).round() / 1e6;
        Self {
            changes: self.changes.iter().map(round).collect(),
        }
    }

    pub fn at(&self, gamma: Gamma) -> f64 {
        let n = u32::try_from(self.changes.len()).unwrap_or(u32::MAX);
        Weights::new(gamma, n).evoscore(self.changes.iter().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_digits_are_enough() {
        let exact = Curve::new(vec![1.0 / 3.0]);
        let json = serde_json::to_string(&exact.rounded()).unwrap();
        assert_eq!(json, "[0.333333]");
        let error = exact.at(Gamma::ONE) - exact.rounded().at(Gamma::ONE);
        assert!(error.abs() < 1e-6);
    }
}
