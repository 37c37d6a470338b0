//! Statistical uncertainty of scores over a sample of tasks: intervals,
//! comparisons, ranks.
//!
//! Tasks of one repository resemble each other, so the bootstrap resamples
//! repositories (a cluster bootstrap). The results follow from a seed and are
//! identical on every machine: the generator is PCG-32, whose
//! output is fixed, and sums use one order.

mod bound;
mod paired;
mod plan;
mod resample;
mod spread;
mod wilson;

pub use bound::{BoundDecision, BoundTest, Look};
pub use paired::{Comparison, Difference, compare, is_tie};
pub use plan::{DIFFERENCE, Design, PowerPlan, PowerRow};
pub use resample::{Clusters, Interval, RankInterval, Resamples, quantile, rank_intervals};
pub use spread::{ScoreSpread, TaskMean, sample_variance};
pub use wilson::wilson;

pub const SEED: u64 = 20_260_101;

pub const RESAMPLES: usize = 2_000;

/// The 97.5 % quantile of the normal distribution.
pub(crate) const NORMAL_975: f64 = 1.959_963_984_540_054;
