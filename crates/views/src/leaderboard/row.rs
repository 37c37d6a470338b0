//! A row of the leaderboard, with its intervals.

use serde::{Deserialize, Serialize};
use swe_ci_core::run::{Kind, Progress};
use swe_ci_core::uncertainty::{Interval, RankInterval};
use swe_ci_core::usage::Usage;

use super::style::{StyleIntervals, StyleRates, WinIntervals, WinRates};
use crate::style::StyleMetric;
use crate::verification::Mark;

/// A row of the leaderboard. Scores and rates are means over the scored
/// tasks; within a task, over its samples first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Row {
    /// From 1; equal scores share a rank.
    pub rank: u32,
    /// The data does not tell a row from the one above it in the same group:
    /// the 95 % interval of their paired difference spans 0. From 1.
    pub tie_group: u32,
    pub run_id: String,
    pub model: String,
    pub provider: String,
    pub harness: String,
    pub harness_version: String,
    /// The day the model was released, `YYYY-MM-DD`.
    pub release_date: Option<String>,
    pub kind: Kind,
    /// A mark of its trustworthiness, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mark: Option<Mark>,
    pub progress: Progress,
    /// Version of the metric definitions of its scores.
    pub metric_version: u32,
    /// Only counts are known, so it has no score in the paper's convention.
    pub counts_only: bool,
    /// Tasks scored.
    pub tasks: u32,
    pub tasks_total: u32,
    pub tasks_blocked: u32,
    /// Equation 3, -1 to 1.
    pub evoscore: f64,
    /// Share of tasks without any regression (Figure 6), 0 to 1.
    pub zero_regression_rate: f64,
    /// The same in the reference convention, gains against losses, 0 to 1.
    pub net_zero_regression_rate: f64,
    /// Share of tasks solved (Figure 10), 0 to 1.
    pub solved_rate: f64,
    /// Mean number of iterations used (Figure 11).
    pub average_turns: f64,
    /// Its code style against the oracle's on the tasks it solved (Figure 8);
    /// absent when none of them was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub style: Option<StyleRates>,
    /// The model usage of all its evolutions; absent when not counted.
    pub usage: Option<Usage>,
    /// Their cost in millionths of a US dollar; absent unless it is known for
    /// all of them.
    #[serde(default)]
    pub micro_usd: Option<u64>,
    /// Iterations that changed the configuration of the tests.
    pub findings: u32,
    /// The end of the run, RFC 3339; absent while it is not over.
    pub finished_at: Option<String>,
    /// 95 % intervals; absent when the tasks are of fewer than two
    /// repositories, or nobody requested intervals.
    pub intervals: Option<Intervals>,
}

impl Row {
    /// The comparison of its code with the oracle's; `None` when not measured.
    #[must_use]
    pub fn wins(&self, metric: StyleMetric) -> Option<WinRates> {
        self.style.and_then(|style| style.of(metric))
    }

    /// Input and output tokens, if they were counted.
    #[must_use]
    pub fn tokens(&self) -> Option<u64> {
        self.usage.map(Usage::total)
    }
}

/// 95 % intervals of a row, by cluster bootstrap over repositories.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Intervals {
    pub evoscore: Interval,
    pub zero_regression_rate: Interval,
    pub solved_rate: Interval,
    pub average_turns: Interval,
    /// Intervals of the row's style; absent when the measured tasks are of
    /// fewer than two repositories.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub style: Option<StyleIntervals>,
    pub rank: RankInterval,
    /// Number of resampled repositories; with few of them the intervals are
    /// too narrow.
    pub repositories: u32,
}

impl Intervals {
    #[must_use]
    pub fn wins(&self, metric: StyleMetric) -> Option<WinIntervals> {
        self.style.and_then(|style| style.of(metric))
    }
}
