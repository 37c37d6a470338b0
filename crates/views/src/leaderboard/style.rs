//! Code style against the oracle's, on the tasks a run solved: how often its
//! last code is better, equal or worse (Figure 8), and how many lines it
//! changed (Figure 9).

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};
use swe_ci_core::metrics::{Convention, Series, mean};
use swe_ci_core::uncertainty::Interval;

use super::{Entry, Sample, ScoredTask};
use crate::style::{Beside, Erosion, ErosionIntervals, StyleMetric};
use crate::{count, median};

/// The comparison of a run's code with the oracle's, over the tasks it solved.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct StyleRates {
    /// By maintainability index; absent when no solved task has it on both
    /// sides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mi: Option<WinRates>,
    /// By Pylint's score; absent in the same case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pylint: Option<WinRates>,
    /// Lines the run changed per line the oracle changed, from 0: the median
    /// over solved tasks. Absent when the oracle changed none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines_ratio: Option<f64>,
    /// The erosion of its code minus the oracle's: the mean over solved tasks that
    /// have the number on both sides.
    #[serde(default)]
    pub erosion: Erosion,
}

/// Shares of the solved and measured tasks, 0 to 1 and together 1 (Figure 8).
/// Within a task, over its solved and measured samples first.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct WinRates {
    /// Number of tasks behind the shares, from 1.
    pub tasks: u32,
    /// The run's code has the greater value.
    pub win: f64,
    /// Both are equal, to 10⁻⁹.
    pub tie: f64,
    /// The oracle's code has the greater value.
    pub loss: f64,
}

/// 95 % intervals of [`StyleRates`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct StyleIntervals {
    /// Absent when the measured tasks are of fewer than two repositories.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mi: Option<WinIntervals>,
    /// Absent in the same case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pylint: Option<WinIntervals>,
    #[serde(default)]
    pub erosion: ErosionIntervals,
}

/// 95 % intervals of [`WinRates`], each 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct WinIntervals {
    pub win: Interval,
    pub tie: Interval,
    pub loss: Interval,
}

impl StyleRates {
    pub fn of(&self, metric: StyleMetric) -> Option<WinRates> {
        metric.pick(self.mi, self.pylint)
    }

    /// `None` when no task is solved and measured.
    pub(super) fn over(tasks: &[&ScoredTask], convention: Convention) -> Option<Self> {
        let rates = |metric| {
            let shares = tasks.iter().filter_map(|t| t.against(convention, metric));
            WinRates::average(&shares.collect::<Vec<_>>())
        };
        let rates = Self {
            mi: rates(StyleMetric::Mi),
            pylint: rates(StyleMetric::Pylint),
            lines_ratio: lines_ratio(tasks, convention),
            erosion: {
                let tasks = tasks.iter().map(|task| task.erosion(convention));
                Erosion::mean(&tasks.collect::<Vec<_>>())
            },
        };
        (rates != Self::default()).then_some(rates)
    }
}

impl StyleIntervals {
    pub fn of(&self, metric: StyleMetric) -> Option<WinIntervals> {
        metric.pick(self.mi, self.pylint)
    }
}

impl WinRates {
    /// The mean over tasks; `None` without tasks.
    fn average(tasks: &[Shares]) -> Option<Self> {
        let share = |index: usize| mean(tasks.iter().map(|shares| shares[index]));
        Some(Self {
            tasks: count(tasks.len()),
            win: share(0)?,
            tie: share(1)?,
            loss: share(2)?,
        })
    }
}

/// The shares of one task's solved and measured samples that win, tie and
/// lose; together 1.
pub(super) type Shares = [f64; 3];

impl ScoredTask {
    /// The comparison of its solved and measured samples with the oracle;
    /// `None` without any.
    pub(super) fn against(&self, convention: Convention, metric: StyleMetric) -> Option<Shares> {
        let solved = self.solved(convention);
        let orders: Vec<Ordering> = solved.filter_map(|style| style.against(metric)).collect();
        let share = |wanted| {
            let is = |order: &Ordering| f64::from(u8::from(*order == wanted));
            mean(orders.iter().map(is))
        };
        let orders = [Ordering::Greater, Ordering::Equal, Ordering::Less];
        let [win, tie, loss] = orders.map(share);
        Some([win?, tie?, loss?])
    }

    /// Lines of source changed since the base, the run's own first, then the
    /// oracle's: the mean over the solved and measured samples (Figure 9).
    pub fn changed_lines(&self, convention: Convention) -> Option<(f64, f64)> {
        let lines = |value: fn(&Beside) -> u32| {
            let solved = self.solved(convention);
            mean(solved.map(|style| f64::from(value(style))))
        };
        Some((lines(|s| s.own_lines)?, lines(|s| s.oracle_lines)?))
    }

    /// The erosion of its code minus the oracle's: the mean over the solved and
    /// measured samples.
    pub(super) fn erosion(&self, convention: Convention) -> Erosion {
        let solved = self.solved(convention);
        let beside = solved.map(|style| style.own.erosion.minus(style.oracle.erosion));
        Erosion::mean(&beside.collect::<Vec<_>>())
    }

    fn solved(&self, convention: Convention) -> impl Iterator<Item = &Beside> {
        let solved = move |sample: &&Sample| {
            let series = sample.series(convention);
            series.is_some_and(Series::solved)
        };
        let samples = self.samples.iter().filter(solved);
        samples.filter_map(|sample| sample.style.as_ref())
    }
}

impl Entry {
    /// Its code against the oracle's; `None` when no task is solved and
    /// measured.
    pub fn style(&self, convention: Convention) -> Option<StyleRates> {
        let scored = self.is_scored(convention);
        let tasks: Vec<&ScoredTask> = self.tasks.iter().filter(|_| scored).collect();
        StyleRates::over(&tasks, convention)
    }
}

fn lines_ratio(tasks: &[&ScoredTask], convention: Convention) -> Option<f64> {
    let ratio = |task: &&ScoredTask| {
        let (own, oracle) = task.changed_lines(convention)?;
        (oracle > 0.0).then(|| own / oracle)
    };
    let mut ratios: Vec<f64> = tasks.iter().filter_map(ratio).collect();
    ratios.sort_unstable_by(f64::total_cmp);
    median(&ratios)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::leaderboard::UncertaintyModel;
    use crate::style::ErosionFigure;
    use crate::testing::{beside, entry, leaderboard, styled};
    use swe_ci_core::metrics::Gamma;

    const SOLVED: &[f64] = &[1.0];
    const UNSOLVED: &[f64] = &[0.5];

    /// MI of the run against the oracle's 70; Pylint's score, if any, against
    /// 8.
    fn code(mi: f64, pylint: Option<f64>, lines: u32) -> Beside {
        let mut style = beside([mi, 70.0], [0.0, 8.0], [lines, 100]);
        style.own.pylint = pylint;
        style
    }

    /// Four tasks of two repositories; the style of each sample, or none.
    fn run() -> Entry {
        let run = entry(
            "m",
            &[
                // Two solved samples: one wins, the other ties; the third is
                // better than both but does not count.
                ("p", &[SOLVED, SOLVED, UNSOLVED]),
                ("p", &[SOLVED]),
                ("q", &[UNSOLVED]),
                ("q", &[SOLVED, SOLVED]),
            ],
        );
        styled(run, |task, sample| match (task, sample) {
            (0, 0) => Some(code(70.5, Some(8.0), 50)),
            (0, 1) => Some(code(70.0 + 1e-10, None, 150)),
            (0, 2) => Some(code(99.0, Some(9.0), 1)),
            (1, 0) => None,
            (2, 0) => Some(code(99.0, Some(9.9), 1)),
            (3, _) => Some(code(60.0, Some(8.5), 300)),
            _ => unreachable!("there is no such sample"),
        })
    }

    /// MI: the first task wins half and ties half, the last one loses; the
    /// second is not measured and the third not solved. Pylint: only one
    /// sample of the first is measured, and it ties.
    #[test]
    fn by_hand() {
        let check = |metric, expect: (u32, f64, f64, f64)| {
            let rates = run().style(Convention::Paper).unwrap().of(metric).unwrap();
            let actual = (rates.tasks, rates.win, rates.tie, rates.loss);
            assert_eq!(actual, expect, "{metric:?}");
        };
        check(StyleMetric::Mi, (2, 0.25, 0.25, 0.5));
        check(StyleMetric::Pylint, (2, 0.5, 0.5, 0.0));
    }

    /// Ratios 1 (100 lines on average) and 3: the median is 2.
    #[test]
    fn lines_ratio_is_a_median() {
        let mut run = run();
        let ratio = |run: &Entry| run.style(Convention::Paper).unwrap().lines_ratio;
        assert_eq!(
            run.tasks[0].changed_lines(Convention::Paper),
            Some((100.0, 100.0))
        );
        assert_eq!(run.tasks[1].changed_lines(Convention::Paper), None);
        assert_eq!(ratio(&run), Some(2.0));
        for sample in &mut run.tasks_mut()[3].samples {
            sample.style.as_mut().unwrap().oracle_lines = 0;
        }
        assert_eq!(ratio(&run), Some(1.0));
    }

    /// Task 1 has two samples, 2 and 4 more than the oracle; task 4 has 0 and, in the
    /// other, no number: the mean of 3 and 0. Unsolved samples do not count.
    #[test]
    fn erosion_is_a_mean_of_differences() {
        let mut run = run();
        let mut set = |task: usize, sample: usize, own: Option<f64>| {
            let style = run.tasks_mut()[task].samples[sample]
                .style
                .as_mut()
                .unwrap();
            style.own.erosion.unused_code = own;
            style.oracle.erosion.unused_code = Some(10.0);
        };
        set(0, 0, Some(12.0));
        set(0, 1, Some(14.0));
        set(0, 2, Some(90.0));
        set(2, 0, Some(90.0));
        set(3, 0, Some(10.0));
        set(3, 1, None);
        let expect = Erosion {
            unused_code: Some(1.5),
            ..Erosion::default()
        };
        assert_eq!(run.style(Convention::Paper).unwrap().erosion, expect);
    }

    #[test]
    fn unmeasured_runs_have_no_rates() {
        let check = |run: Entry, convention, expect: bool| {
            assert_eq!(run.style(convention).is_some(), expect);
        };
        let solved = || entry("m", &[("p", &[SOLVED])]);
        let style = |_, _| Some(code(70.0, None, 1));
        check(solved(), Convention::Paper, false);
        check(entry("m", &[]), Convention::Paper, false);
        let unsolved = entry("m", &[("p", &[UNSOLVED])]);
        check(styled(unsolved, style), Convention::Paper, false);
        let measured = styled(solved(), style);
        assert_eq!(measured.style(Convention::Paper).unwrap().pylint, None);
        check(measured.clone(), Convention::Paper, true);
        let mut counts_only = measured;
        counts_only.tasks_mut()[0].samples[0].paper = None;
        check(counts_only.clone(), Convention::Paper, false);
        check(counts_only, Convention::Reference, true);
    }

    /// p alone (one draw in four) has win 0.5, tie 0.5, loss 0; q alone (one
    /// in four) loss 1; both together the rates themselves.
    #[test]
    fn intervals_are_of_the_measured_tasks_that_were_drawn() {
        let data = leaderboard(vec![run()]);
        let rank = || UncertaintyModel::new(&data).rank(&data, Gamma::ONE, Convention::Paper);
        let row = &rank()[0];
        let intervals = row.intervals.unwrap().style.unwrap();
        let check = |metric, expect: [(f64, f64); 3]| {
            let wins: WinIntervals = intervals.of(metric).unwrap();
            let bounds = [wins.win, wins.tie, wins.loss].map(|i| (i.low, i.high));
            assert_eq!(bounds, expect, "{metric:?}");
        };
        check(StyleMetric::Mi, [(0.0, 0.5), (0.0, 0.5), (0.0, 1.0)]);
        check(StyleMetric::Pylint, [(0.0, 1.0), (0.0, 1.0), (0.0, 0.0)]);
        assert_eq!(row.style, data.entries[0].style(Convention::Paper));
        // From one seed, always the same.
        assert_eq!(rank()[0].intervals, row.intervals);
    }

    /// The unused code of p's task is 1 point above the oracle's, that of q's 3.
    #[test]
    fn erosion_has_an_interval() {
        let run = entry("m", &[("p", &[SOLVED]), ("q", &[SOLVED])]);
        let run = styled(run, |task, _| {
            let mut style = beside([70.0; 2], [8.0; 2], [1, 1]);
            style.own.erosion.unused_code = Some([5.0, 7.0][task]);
            style.oracle.erosion.unused_code = Some(4.0);
            Some(style)
        });
        let data = leaderboard(vec![run]);
        let row = &UncertaintyModel::new(&data).rank(&data, Gamma::ONE, Convention::Paper)[0];
        let erosion = row.intervals.unwrap().style.unwrap().erosion;
        let interval = erosion.of(ErosionFigure::Unused).unwrap();
        assert_eq!((interval.low, interval.high), (1.0, 3.0));
        assert_eq!(erosion.of(ErosionFigure::Cognitive), None);
    }

    /// The run has two repositories, but only one has measured tasks.
    #[test]
    fn one_measured_repository_has_no_interval() {
        let mut run = run();
        for sample in &mut run.tasks_mut()[3].samples {
            sample.style = None;
        }
        let data = leaderboard(vec![run]);
        let rows = UncertaintyModel::new(&data).rank(&data, Gamma::ONE, Convention::Paper);
        assert!(rows[0].style.unwrap().mi.is_some());
        assert_eq!(rows[0].intervals.unwrap().style, None);
    }
}
