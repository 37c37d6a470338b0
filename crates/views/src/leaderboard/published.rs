//! Results that are known only from publications. They appear beside the
//! ranking, never in it: without the raw data there are no ties and no
//! intervals, and no other γ or convention.

use serde::{Deserialize, Serialize};

/// Published results and their source.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Published {
    /// The split of the measurements.
    pub split: String,
    /// Tasks in that split.
    pub tasks: u32,
    /// The location of the figures, and how they were read.
    pub source: String,
    /// Maximum error of `evoscore`.
    pub evoscore_error: f64,
    /// Best first.
    pub rows: Vec<PublishedRow>,
}

/// One published model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PublishedRow {
    pub model: String,
    pub provider: String,
    /// `YYYY-MM-DD`.
    pub release_date: String,
    /// Equation 3 at γ = 1, -1 to 1.
    pub evoscore: f64,
    /// Figure 6, 0 to 1; absent when not published.
    pub zero_regression_rate: Option<f64>,
}
