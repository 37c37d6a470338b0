//! The paper's metrics, one file per formula. `docs/metrics.md` explains each
//! in words, with a worked example. [`crate::uncertainty`] has their
//! intervals and comparisons.

mod change;
mod convention;
mod correlation;
mod evoscore;
mod pass;
mod profile;
mod regression;
mod series;

pub use change::normalized_change;
pub use convention::{Convention, Verdict};
pub use correlation::pearson;
pub use evoscore::{BadGamma, Gamma, Weights};
pub use pass::{pass_at, pass_hat};
pub use profile::{Bin, IterationProfile, Profile};
pub use regression::{Recovery, Regression, recoveries};
pub use series::Series;

/// Version of the definitions in this module. A change that alters the result
/// of a stored report must raise it; `swe-ci rescore` then recounts old
/// results.
pub const METRIC_VERSION: u32 = 1;

/// Numbers closer than this are equal: sums of the same values in another
/// order differ by far less, and meaningful score differences are larger.
pub const SAME: f64 = 1e-9;

/// The arithmetic mean; `None` without values.
pub fn mean(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values
        .into_iter()
        .fold((0.0, 0u32), |(sum, count), v| (sum + v, count + 1));
    (count > 0).then(|| sum / f64::from(count))
}
