//! The paper's metrics, one file per formula. `docs/metrics.md` explains each
//! in words, with a worked example. [`uncertainty`] has their intervals and
//! comparisons.
//!
//! Pure functions of numbers: no IO, no clock, no random state of their own. The
//! server and, as WebAssembly, the browser run the same code. A crate of its
//! own, because development builds optimise it: 2,000 resamples are drawn for
//! every interval.

mod change;
mod convention;
mod correlation;
pub mod curve;
mod evoscore;
pub mod format;
mod pass;
mod profile;
mod regression;
mod series;
mod suite_counts;
pub mod uncertainty;

pub use change::normalized_change;
pub use convention::{Convention, Verdict};
pub use correlation::pearson;
pub use evoscore::{BadGamma, Gamma, Weights};
pub use pass::{pass_at, pass_hat};
pub use profile::{Bin, IterationProfile, Profile};
pub use regression::Regression;
pub use series::Series;
pub use suite_counts::SuiteCounts;

/// Version of the definitions in this crate. A change that alters the result
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
