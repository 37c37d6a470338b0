//! Regressions: tests that passed on the last scored code and no longer do.

use serde::{Deserialize, Serialize};

/// An iteration that broke something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Regression {
    /// From 1.
    pub iteration: u32,
    /// Tests that no longer pass (by net count in the reference convention).
    pub lost: u32,
    /// Tests that passed on the last scored code; at least `lost`.
    pub of: u32,
}

impl Regression {
    /// Share of the tests that passed before and are lost, above 0 to 1.
    ///
    /// In the paper's convention this is the share that *broke*; the net
    /// fall (n_prev − n_i) / n_prev would be negative when more tests were
    /// gained in the same iteration. By net count both are the same.
    pub fn magnitude(self) -> f64 {
        f64::from(self.lost) / f64::from(self.of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn magnitude() {
        let regression = Regression {
            iteration: 3,
            lost: 3,
            of: 12,
        };
        assert!((regression.magnitude() - 0.25).abs() < 1e-15);
    }
}
