//! Rows, ranked.

use serde::{Deserialize, Serialize};

use super::{Entry, Intervals, Sheet, StyleRates, WinRates};
use crate::metrics::{Convention, Gamma, SAME, Series, mean};
use crate::run::{Kind, Progress};
use crate::style::StyleMetric;
use crate::usage::Usage;
use crate::verification::Mark;

/// A row of the leaderboard. Scores and rates are means over the scored
/// tasks; within a task, over its samples first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Row {
    /// From 1; equal scores share a rank.
    pub rank: u32,
    /// Rows with the same number are not told apart from the one above by the
    /// data: the 95 % interval of their paired difference spans 0. From 1.
    pub tie_group: u32,
    pub run_id: String,
    pub model: String,
    pub provider: String,
    pub harness: String,
    pub harness_version: String,
    /// The day the model was released, `YYYY-MM-DD`.
    pub release_date: Option<String>,
    pub kind: Kind,
    /// How far it is to be trusted, where that is to be said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mark: Option<Mark>,
    pub progress: Progress,
    /// Version of the metric definitions the run was scored by.
    pub metric_version: u32,
    /// Known by counts alone: there is no score in the paper's convention.
    pub counts_only: bool,
    /// Tasks scored.
    pub tasks: u32,
    pub tasks_total: u32,
    pub tasks_blocked: u32,
    /// Equation 3, -1 to 1.
    pub evoscore: f64,
    /// Share of tasks without any regression (Figure 6), 0 to 1.
    pub zero_regression_rate: f64,
    /// The same as the reference convention counts it, gains against losses,
    /// 0 to 1.
    pub net_zero_regression_rate: f64,
    /// Share of tasks solved (Figure 10), 0 to 1.
    pub solved_rate: f64,
    /// Mean number of iterations used (Figure 11).
    pub average_turns: f64,
    /// Its code beside the oracle's on the tasks it solved (Figure 8); absent
    /// where none of them was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub style: Option<StyleRates>,
    /// What all its evolutions took of the model; absent where that was
    /// not counted.
    pub usage: Option<Usage>,
    /// What they cost, in millionths of a US dollar; absent where that is not
    /// known of all of them.
    #[serde(default)]
    pub micro_usd: Option<u64>,
    /// Iterations that changed what steers the tests.
    pub findings: u32,
    /// When the run was over, RFC 3339; absent while it is not.
    pub finished_at: Option<String>,
    /// 95 % intervals; absent when the tasks are of fewer than two
    /// repositories, or were not asked for.
    pub intervals: Option<Intervals>,
}

impl Row {
    /// How its code compares with the oracle's; `None` where that was not
    /// measured.
    #[must_use]
    pub fn wins(&self, metric: StyleMetric) -> Option<WinRates> {
        self.style.and_then(|style| style.of(metric))
    }

    /// Read and written by the model, where that was counted.
    #[must_use]
    pub fn tokens(&self) -> Option<u64> {
        self.usage.map(Usage::total)
    }
}

impl Sheet {
    /// The rows, best first, without intervals: [`super::Judge`] adds them.
    /// Ties in score are ordered by name, then by run, so that the order is
    /// always the same.
    #[must_use]
    pub fn rank(&self, gamma: Gamma, convention: Convention) -> Vec<Row> {
        let mut rows: Vec<Row> = self
            .entries
            .iter()
            .filter_map(|e| e.row(gamma, convention))
            .collect();
        rows.sort_by(|a, b| {
            places(b.evoscore)
                .cmp(&places(a.evoscore))
                .then_with(|| a.model.cmp(&b.model))
                .then_with(|| a.run_id.cmp(&b.run_id))
        });
        let mut previous: Option<(u32, i64)> = None;
        for (position, row) in (1..).zip(&mut rows) {
            let score = places(row.evoscore);
            row.rank = match previous {
                Some((rank, above)) if above == score => rank,
                _ => position,
            };
            row.tie_group = row.rank;
            previous = Some((row.rank, score));
        }
        rows
    }

    /// Runs that have scores, but not in this convention.
    pub fn unranked(&self, convention: Convention) -> impl Iterator<Item = &Entry> {
        self.entries
            .iter()
            .filter(move |e| !e.is_scored(convention))
    }
}

/// A score in steps of [`SAME`]: what only rounding tells apart is equal.
fn places(score: f64) -> i64 {
    (score / SAME).round() as i64
}

impl Entry {
    pub(super) fn row(&self, gamma: Gamma, convention: Convention) -> Option<Row> {
        let average = |value: fn(&Series) -> f64| mean(self.by_task(convention, value));
        Some(Row {
            rank: 0,
            tie_group: 0,
            run_id: self.run_id.clone(),
            model: self.model.clone(),
            provider: self.provider.clone(),
            harness: self.harness.clone(),
            harness_version: self.harness_version.clone(),
            release_date: self.release_date.clone(),
            kind: self.kind,
            mark: self.mark,
            progress: self.progress,
            metric_version: self.metric_version,
            counts_only: self.counts_only(),
            tasks: u32::try_from(self.tasks.len()).unwrap_or(u32::MAX),
            tasks_total: self.tasks_total,
            tasks_blocked: self.tasks_blocked,
            evoscore: self.evoscore(gamma, convention)?,
            zero_regression_rate: average(zero_regression)?,
            net_zero_regression_rate: mean(self.by_task(Convention::Reference, zero_regression))?,
            solved_rate: average(solved)?,
            average_turns: average(turns)?,
            style: self.style(convention),
            usage: self.usage,
            micro_usd: self.micro_usd,
            findings: self.findings,
            finished_at: self.finished_at.clone(),
            intervals: None,
        })
    }
}

pub(super) fn zero_regression(series: &Series) -> f64 {
    f64::from(u8::from(series.zero_regression()))
}

pub(super) fn solved(series: &Series) -> f64 {
    f64::from(u8::from(series.solved()))
}

pub(super) fn turns(series: &Series) -> f64 {
    f64::from(series.turns())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{entry, sheet};

    #[test]
    fn gamma_turns_the_order_around() {
        let early = entry("early", &[("r", &[&[1.0, 0.0]])]);
        let late = entry("late", &[("r", &[&[0.0, 1.0]])]);
        let sheet = sheet(vec![late, early]);
        let order = |gamma: f64| {
            let rows = sheet.rank(Gamma::new(gamma).unwrap(), Convention::Paper);
            rows.into_iter()
                .map(|r| (r.rank, r.model))
                .collect::<Vec<_>>()
        };
        assert_eq!(order(2.0), [(1, "late".into()), (2, "early".into())]);
        assert_eq!(order(0.5), [(1, "early".into()), (2, "late".into())]);
        // Equal scores share a rank.
        assert_eq!(order(1.0), [(1, "early".into()), (1, "late".into())]);
    }

    /// The same scores in another order of tasks: 0.1 + 0.2 + 0.3 and
    /// 0.3 + 0.2 + 0.1 differ in their last digit.
    #[test]
    fn rounding_does_not_decide_a_rank() {
        let there = entry("a", &[("r", &[&[0.1]]), ("r", &[&[0.2]]), ("r", &[&[0.3]])]);
        let back = entry("b", &[("r", &[&[0.3]]), ("r", &[&[0.2]]), ("r", &[&[0.1]])]);
        let rows = sheet(vec![back, there]).rank(Gamma::ONE, Convention::Paper);
        assert_ne!(rows[0].evoscore.to_bits(), rows[1].evoscore.to_bits());
        let order: Vec<(u32, &str)> = rows.iter().map(|r| (r.rank, r.model.as_str())).collect();
        assert_eq!(order, [(1, "a"), (1, "b")]);
    }

    #[test]
    fn samples_are_averaged_before_tasks() {
        let model = entry(
            "m",
            &[("r", &[&[1.0], &[0.0], &[0.5]]), ("r", &[&[1.0, 1.0]])],
        );
        let row = &sheet(vec![model]).rank(Gamma::ONE, Convention::Paper)[0];
        assert!((row.evoscore - 0.75).abs() < 1e-12);
        assert!((row.solved_rate - (1.0 / 3.0 + 1.0) / 2.0).abs() < 1e-12);
        assert!((row.average_turns - 1.5).abs() < 1e-12);
        assert_eq!((row.tasks, row.intervals), (2, None));
    }

    #[test]
    fn a_run_without_scores_has_no_row() {
        let mut counted = entry("c", &[("r", &[&[1.0]])]);
        counted.tasks[0].samples[0].paper = None;
        let sheet = sheet(vec![entry("m", &[]), counted]);
        assert!(sheet.rank(Gamma::ONE, Convention::Paper).is_empty());
        assert_eq!(sheet.rank(Gamma::ONE, Convention::Reference).len(), 1);
        assert_eq!(sheet.unranked(Convention::Paper).count(), 2);
    }
}
