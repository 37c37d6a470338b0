//! The rows of a leaderboard, with their intervals and ranks.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};
use swe_ci_core::finding::Unranked;
use swe_ci_core::metrics::{Convention, Gamma, SAME, Series, mean};
use swe_ci_core::requirement::Mode;
use swe_ci_core::run::{Kind, Progress};
use swe_ci_core::uncertainty::{Interval, RankInterval};
use swe_ci_core::usage::Usage;

use super::style::{StyleIntervals, StyleRates, WinIntervals, WinRates};
use super::{
    CheatingRate, EffortIntervals, EffortRates, Entry, GeneralisationRate, LeaderboardData, Rate,
    ScoredTask,
};
use crate::count;
use crate::style::StyleMetric;
use crate::verification::Mark;

/// A row of the leaderboard. Scores and rates are means over the scored
/// tasks; within a task, over its samples first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Row {
    /// From 1; equal scores share a rank. 0 for an unranked run.
    pub rank: u32,
    /// The data does not tell a row from the one above it in the same group:
    /// the 95 % interval of their paired difference spans 0, or the permutation
    /// test finds that it may be chance (p of 0.05 or more). From 1; 0 for an
    /// unranked run.
    pub tie_group: u32,
    pub run_id: String,
    pub model: String,
    pub provider: String,
    pub harness: String,
    pub harness_version: String,
    /// The day the model was released, `YYYY-MM-DD`.
    pub release_date: Option<String>,
    /// The last day of the model's training data, `YYYY-MM-DD`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub training_cutoff: Option<String>,
    pub kind: Kind,
    /// The basis of the programmer's work.
    #[serde(default)]
    pub mode: Mode,
    /// Its arm, if it is part of an experiment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arm: Option<String>,
    /// A mark of its trustworthiness, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mark: Option<Mark>,
    /// Why it has no rank; absent for a row of the ranking.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unranked: Option<Unranked>,
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
    /// Zero-regression resolution: share of tasks solved without any regression,
    /// 0 to 1.
    pub zrr: f64,
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
    pub micro_usd: Option<u64>,
    /// What its scored evolutions took on average; absent when nothing is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<EffortRates>,
    /// How far its code answers changed inputs as the oracle does; absent where
    /// nothing was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generalisation: Option<GeneralisationRate>,
    /// How much of what nobody can pass honestly its code passes; in the mode
    /// impossible alone, and never part of a score.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cheating: Option<CheatingRate>,
    /// Iterations with integrity findings.
    pub findings: u32,
    /// Steps whose last answer of the model was cut short.
    pub truncated_steps: u32,
    /// The end of the run, RFC 3339; absent while it is not over.
    pub finished_at: Option<String>,
    /// 95 % intervals; absent when the tasks are of fewer than two
    /// repositories, or nobody requested intervals.
    pub intervals: Option<Intervals>,
}

impl Row {
    /// The comparison of its code with the oracle's; `None` when not measured.
    pub fn wins(&self, metric: StyleMetric) -> Option<WinRates> {
        self.style.and_then(|style| style.of(metric))
    }

    /// A rate of what it took, if it is known.
    pub fn took(&self, rate: Rate) -> Option<f64> {
        self.effort.and_then(|rates| rates.of(rate))
    }

    pub fn took_interval(&self, rate: Rate) -> Option<Interval> {
        self.intervals.and_then(|intervals| intervals.took(rate))
    }

    /// Input and output tokens, if they were counted.
    pub fn tokens(&self) -> Option<u64> {
        self.usage.map(Usage::total)
    }
}

/// 95 % intervals of a row, by cluster bootstrap over repositories.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Intervals {
    pub evoscore: Interval,
    pub zero_regression_rate: Interval,
    pub solved_rate: Interval,
    pub zrr: Interval,
    pub average_turns: Interval,
    /// Intervals of the row's style; absent when the measured tasks are of
    /// fewer than two repositories.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub style: Option<StyleIntervals>,
    /// Intervals of what it took; absent where none is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<EffortIntervals>,
    /// Absent where changed inputs were asked of tasks of fewer than two
    /// repositories.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generalisation: Option<Interval>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cheating: Option<Interval>,
    /// From 0 to 0 for an unranked run.
    pub rank: RankInterval,
    /// Number of resampled repositories; with few of them the intervals are
    /// too narrow.
    pub repositories: u32,
}

impl Intervals {
    pub fn wins(&self, metric: StyleMetric) -> Option<WinIntervals> {
        self.style.and_then(|style| style.of(metric))
    }

    pub fn took(&self, rate: Rate) -> Option<Interval> {
        self.effort.and_then(|intervals| intervals.of(rate))
    }
}

/// A row of the ranking, and what it is made of.
#[derive(Debug)]
pub(super) struct Ranked {
    pub row: Row,
    /// The index of its run among the entries.
    pub entry: usize,
    /// The scores of its tasks.
    pub scores: Vec<f64>,
}

impl LeaderboardData {
    /// The number of repositories of the tasks that count.
    pub fn repositories(&self) -> usize {
        let tasks = self.entries.iter().flat_map(|entry| entry.tasks.iter());
        let repositories: HashSet<&str> = tasks.map(ScoredTask::repo).collect();
        repositories.len()
    }

    /// The rows, best first, without intervals: [`super::UncertaintyModel`] adds
    /// them.
    pub fn rank(&self, gamma: Gamma, convention: Convention) -> Vec<Row> {
        let ranked = self.ranked(gamma, convention).into_iter();
        ranked.map(|run| run.row).collect()
    }

    /// Equal scores are ordered by name, then by run, so that the order is
    /// deterministic.
    pub(super) fn ranked(&self, gamma: Gamma, convention: Convention) -> Vec<Ranked> {
        let entries = self.entries.iter().enumerate();
        let ranked = entries.filter_map(|(index, entry)| {
            let scores = entry.scores_by_task(gamma, convention);
            Some(Ranked {
                row: entry.row(&scores, convention)?,
                entry: index,
                scores,
            })
        });
        let mut ranked: Vec<Ranked> = ranked.collect();
        ranked.sort_by(|Ranked { row: a, .. }, Ranked { row: b, .. }| {
            steps(b.evoscore)
                .cmp(&steps(a.evoscore))
                .then_with(|| a.model.cmp(&b.model))
                .then_with(|| a.run_id.cmp(&b.run_id))
        });
        let scores: Vec<f64> = ranked.iter().map(|run| run.row.evoscore).collect();
        for (Ranked { row, .. }, rank) in ranked.iter_mut().zip(positions(&scores)) {
            row.rank = rank;
            row.tie_group = rank;
        }
        ranked
    }

    pub(crate) fn by_run(&self) -> HashMap<&str, (usize, &Entry)> {
        let entries = self.entries.iter().enumerate();
        entries
            .map(|(index, entry)| (entry.run_id.as_str(), (index, entry)))
            .collect()
    }

    /// The runs that may take a rank and have no score in this convention.
    pub fn unscored(&self, convention: Convention) -> impl Iterator<Item = &Entry> {
        self.entries
            .iter()
            .filter(move |e| !e.is_scored(convention))
    }
}

/// The rank of each score, from 1 for the greatest; equal scores share a rank.
pub fn positions(scores: &[f64]) -> Vec<u32> {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by_key(|place| Reverse(steps(scores[*place])));
    let mut ranks = vec![0; scores.len()];
    let mut previous: Option<(u32, i64)> = None;
    for (position, place) in (1..).zip(order) {
        let score = steps(scores[place]);
        ranks[place] = match previous {
            Some((rank, above)) if above == score => rank,
            _ => position,
        };
        previous = Some((ranks[place], score));
    }
    ranks
}

/// A score in steps of [`SAME`], so that scores that differ only by rounding
/// are equal.
fn steps(score: f64) -> i64 {
    (score / SAME).round() as i64
}

impl Entry {
    /// The score of each of its tasks; none without scores in the convention.
    pub(super) fn scores_by_task(&self, gamma: Gamma, convention: Convention) -> Vec<f64> {
        let weights = self.weights(gamma);
        self.by_task(convention, |series| weights.evoscore(series.changes()))
            .collect()
    }

    /// Its row with these scores of its tasks; `None` without any.
    pub(super) fn row(&self, scores: &[f64], convention: Convention) -> Option<Row> {
        let average = |value: fn(&Series) -> f64| self.mean_of(convention, value);
        Some(Row {
            rank: 0,
            tie_group: 0,
            run_id: self.run_id.clone(),
            model: self.model.clone(),
            provider: self.provider.clone(),
            harness: self.harness.clone(),
            harness_version: self.harness_version.clone(),
            release_date: self.release_date.clone(),
            training_cutoff: self.training_cutoff.clone(),
            kind: self.kind,
            mode: self.mode,
            arm: self.arm.clone(),
            mark: self.mark,
            unranked: self.unranked.clone(),
            progress: self.progress,
            metric_version: self.metric_version,
            counts_only: self.counts_only(),
            tasks: count(self.tasks.len()),
            tasks_total: self.tasks_total,
            tasks_blocked: self.tasks_blocked,
            evoscore: mean(scores.iter().copied())?,
            zero_regression_rate: average(zero_regression)?,
            net_zero_regression_rate: self.mean_of(Convention::Reference, zero_regression)?,
            solved_rate: average(solved)?,
            zrr: average(zrr)?,
            average_turns: average(turns)?,
            style: self.style(convention),
            usage: self.usage,
            micro_usd: self.micro_usd,
            effort: self.effort_rates(convention),
            generalisation: self.generalisation(),
            cheating: self.cheating(),
            findings: self.findings,
            truncated_steps: self.truncated_steps,
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

pub(super) fn zrr(series: &Series) -> f64 {
    f64::from(u8::from(series.zrr()))
}

pub(super) fn turns(series: &Series) -> f64 {
    f64::from(series.turns())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{entry, leaderboard};

    #[test]
    fn gamma_changes_the_order() {
        let early = entry("early", &[("r", &[&[1.0, 0.0]])]);
        let late = entry("late", &[("r", &[&[0.0, 1.0]])]);
        let data = leaderboard(vec![late, early]);
        let order = |gamma: f64| {
            let rows = data.rank(Gamma::new(gamma).unwrap(), Convention::Paper);
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
        let a = entry("a", &[("r", &[&[0.1]]), ("r", &[&[0.2]]), ("r", &[&[0.3]])]);
        let b = entry("b", &[("r", &[&[0.3]]), ("r", &[&[0.2]]), ("r", &[&[0.1]])]);
        let rows = leaderboard(vec![b, a]).rank(Gamma::ONE, Convention::Paper);
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
        let row = &leaderboard(vec![model]).rank(Gamma::ONE, Convention::Paper)[0];
        assert!((row.evoscore - 0.75).abs() < 1e-12);
        assert!((row.solved_rate - (1.0 / 3.0 + 1.0) / 2.0).abs() < 1e-12);
        assert!((row.average_turns - 1.5).abs() < 1e-12);
        assert_eq!((row.tasks, row.intervals), (2, None));
    }

    #[test]
    fn a_run_without_scores_has_no_row() {
        let mut counted = entry("c", &[("r", &[&[1.0]])]);
        counted.tasks_mut()[0].samples[0].paper = None;
        let data = leaderboard(vec![entry("m", &[]), counted]);
        assert!(data.rank(Gamma::ONE, Convention::Paper).is_empty());
        assert_eq!(data.rank(Gamma::ONE, Convention::Reference).len(), 1);
        assert_eq!(data.unscored(Convention::Paper).count(), 2);
    }
}
