//! The paper's metrics, one file per formula. `docs/metrics.md` explains each
//! in words, with a worked example.

mod change;
mod convention;
mod evoscore;
mod regression;

pub use change::normalized_change;
pub use convention::{Convention, Series, Verdict};
pub use evoscore::{BadGamma, Gamma, Weights};
pub use regression::{net_zero_regression, per_test_zero_regression};

/// The plain mean; `None` of nothing.
#[must_use]
pub fn mean(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values
        .into_iter()
        .fold((0.0, 0u32), |(sum, count), v| (sum + v, count + 1));
    (count > 0).then(|| sum / f64::from(count))
}
