//! Code style beside the oracle's, on the tasks a run solved: how often its
//! last code is better, as good or worse (Figure 8), and how much it changed
//! to get there (Figure 9).

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

use super::{Entry, Sample, ScoredTask, Sheet};
use crate::metrics::{Convention, Series, mean};
use crate::style::{Beside, StyleMetric, StylePoint};
use crate::uncertainty::Interval;

/// How a run's code compares with the oracle's, over the tasks it solved.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct StyleRates {
    /// By maintainability index; absent where no solved task has it measured
    /// on both sides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mi: Option<WinRates>,
    /// By Pylint's score; absent likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pylint: Option<WinRates>,
    /// Lines the run changed for each line the oracle changed, from 0: the
    /// median over solved tasks. Absent where the oracle changed none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines_ratio: Option<f64>,
}

/// Shares of the tasks that are solved and measured, 0 to 1 and together 1
/// (Figure 8). Within a task, over its solved and measured samples first.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct WinRates {
    /// The tasks the shares are of, from 1.
    pub tasks: u32,
    /// The run's code has the greater value.
    pub win: f64,
    /// Both are equal, to 10⁻⁹.
    pub tie: f64,
    /// The oracle's code has the greater value.
    pub loss: f64,
}

/// 95 % intervals of [`StyleRates`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct StyleIntervals {
    /// Absent where the tasks measured are of fewer than two repositories.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mi: Option<WinIntervals>,
    /// Absent likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pylint: Option<WinIntervals>,
}

/// 95 % intervals of [`WinRates`], each 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct WinIntervals {
    pub win: Interval,
    pub tie: Interval,
    pub loss: Interval,
}

impl StyleRates {
    #[must_use]
    pub fn of(&self, metric: StyleMetric) -> Option<WinRates> {
        match metric {
            StyleMetric::Mi => self.mi,
            StyleMetric::Pylint => self.pylint,
        }
    }

    /// `None` where nothing of these tasks is solved and measured.
    pub(super) fn over(tasks: &[&ScoredTask], convention: Convention) -> Option<Self> {
        let rates = |metric| {
            let shares = tasks.iter().filter_map(|t| t.against(convention, metric));
            WinRates::of(&shares.collect::<Vec<_>>())
        };
        let found = Self {
            mi: rates(StyleMetric::Mi),
            pylint: rates(StyleMetric::Pylint),
            lines_ratio: lines_ratio(tasks, convention),
        };
        (found != Self::default()).then_some(found)
    }
}

impl StyleIntervals {
    #[must_use]
    pub fn of(&self, metric: StyleMetric) -> Option<WinIntervals> {
        match metric {
            StyleMetric::Mi => self.mi,
            StyleMetric::Pylint => self.pylint,
        }
    }
}

impl WinRates {
    /// The plain mean over tasks; `None` of none.
    fn of(tasks: &[Shares]) -> Option<Self> {
        let share = |at: usize| mean(tasks.iter().map(|shares| shares[at]));
        Some(Self {
            tasks: u32::try_from(tasks.len()).unwrap_or(u32::MAX),
            win: share(0)?,
            tie: share(1)?,
            loss: share(2)?,
        })
    }
}

/// Of the solved and measured samples of one task, those that win, tie and
/// lose; together 1.
pub(super) type Shares = [f64; 3];

impl ScoredTask {
    /// How its solved and measured samples compare with the oracle; `None`
    /// without any.
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
    #[must_use]
    pub fn changed_lines(&self, convention: Convention) -> Option<(f64, f64)> {
        let lines = |of: fn(&Beside) -> u32| {
            let solved = self.solved(convention);
            mean(solved.map(|style| f64::from(of(style))))
        };
        Some((lines(|s| s.own_lines)?, lines(|s| s.oracle_lines)?))
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
    /// Its code beside the oracle's; `None` where nothing of it is solved and
    /// measured.
    #[must_use]
    pub fn style(&self, convention: Convention) -> Option<StyleRates> {
        let scored = self.is_scored(convention);
        let tasks: Vec<&ScoredTask> = self.tasks.iter().filter(|_| scored).collect();
        StyleRates::over(&tasks, convention)
    }
}

/// Both middle values' mean where their number is even.
fn lines_ratio(tasks: &[&ScoredTask], convention: Convention) -> Option<f64> {
    let ratio = |task: &&ScoredTask| {
        let (own, oracle) = task.changed_lines(convention)?;
        (oracle > 0.0).then(|| own / oracle)
    };
    let mut ratios: Vec<f64> = tasks.iter().filter_map(ratio).collect();
    ratios.sort_unstable_by(f64::total_cmp);
    let upper = *ratios.get(ratios.len() / 2)?;
    let lower = ratios[(ratios.len() - 1) / 2];
    Some(f64::midpoint(lower, upper))
}

impl Sheet {
    /// The same without what no ranking needs, which is most of what is known
    /// of style: a browser is sent the sheet to rank by it.
    #[must_use]
    pub fn for_ranking(&self) -> Self {
        let mut sheet = self.clone();
        let tasks = sheet.entries.iter_mut().flat_map(|entry| &mut entry.tasks);
        let samples = tasks.flat_map(|task| &mut task.samples);
        for style in samples.filter_map(|sample| sample.style.as_mut()) {
            style.course = Vec::new();
            style.base = StylePoint::default();
            style.own.complexity = None;
            style.oracle.complexity = None;
        }
        sheet
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::leaderboard::Judge;
    use crate::metrics::Gamma;
    use crate::testing::{beside, entry, sheet, styled};

    const SOLVED: &[f64] = &[1.0];
    const UNSOLVED: &[f64] = &[0.5];

    /// MI of the run against the oracle's 70; Pylint's score likewise against
    /// 8, where there is one.
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
                // Two solved samples, the one wins, the other ties; the third
                // is better than both and does not count.
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
            let found = (rates.tasks, rates.win, rates.tie, rates.loss);
            assert_eq!(found, expect, "{metric:?}");
        };
        check(StyleMetric::Mi, (2, 0.25, 0.25, 0.5));
        check(StyleMetric::Pylint, (2, 0.5, 0.5, 0.0));
    }

    /// Ratios 1 (100 lines on average) and 3: the median is 2.
    #[test]
    fn changed_lines_are_told_as_a_median() {
        let mut run = run();
        let ratio = |run: &Entry| run.style(Convention::Paper).unwrap().lines_ratio;
        assert_eq!(
            run.tasks[0].changed_lines(Convention::Paper),
            Some((100.0, 100.0))
        );
        assert_eq!(run.tasks[1].changed_lines(Convention::Paper), None);
        assert_eq!(ratio(&run), Some(2.0));
        for sample in &mut run.tasks[3].samples {
            sample.style.as_mut().unwrap().oracle_lines = 0;
        }
        assert_eq!(ratio(&run), Some(1.0));
    }

    #[test]
    fn what_is_not_measured_has_no_rates() {
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
        counts_only.tasks[0].samples[0].paper = None;
        check(counts_only.clone(), Convention::Paper, false);
        check(counts_only, Convention::Reference, true);
    }

    /// p alone (one draw in four) has win 0.5, tie 0.5, loss 0; q alone (one
    /// in four) loss 1; both together the rates themselves.
    #[test]
    fn intervals_are_of_the_measured_tasks_that_were_drawn() {
        let sheet = sheet(vec![run()]);
        let rank = || Judge::new(&sheet).rank(&sheet, Gamma::ONE, Convention::Paper);
        let row = &rank()[0];
        let intervals = row.intervals.unwrap().style.unwrap();
        let check = |metric, expect: [(f64, f64); 3]| {
            let found: WinIntervals = intervals.of(metric).unwrap();
            let found = [found.win, found.tie, found.loss].map(|i| (i.low, i.high));
            assert_eq!(found, expect, "{metric:?}");
        };
        check(StyleMetric::Mi, [(0.0, 0.5), (0.0, 0.5), (0.0, 1.0)]);
        check(StyleMetric::Pylint, [(0.0, 1.0), (0.0, 1.0), (0.0, 0.0)]);
        assert_eq!(row.style, sheet.entries[0].style(Convention::Paper));
        // From one seed, always the same.
        assert_eq!(rank()[0].intervals, row.intervals);
    }

    /// The run has two repositories, but what is measured is of one.
    #[test]
    fn one_measured_repository_has_no_interval() {
        let mut run = run();
        for sample in &mut run.tasks[3].samples {
            sample.style = None;
        }
        let sheet = sheet(vec![run]);
        let rows = Judge::new(&sheet).rank(&sheet, Gamma::ONE, Convention::Paper);
        assert!(rows[0].style.unwrap().mi.is_some());
        assert_eq!(rows[0].intervals.unwrap().style, None);
    }

    #[test]
    fn what_a_browser_is_sent_ranks_the_same() {
        let whole = sheet(vec![run()]);
        let sent = whole.for_ranking();
        let rank = |s: &Sheet| Judge::new(s).rank(s, Gamma::ONE, Convention::Paper);
        assert_eq!(rank(&whole), rank(&sent));
        let style = sent.entries[0].tasks[0].samples[0].style.as_ref();
        assert!(style.unwrap().course.is_empty());
        // And what has no style says nothing of it.
        let json = serde_json::to_string(&sent.entries[0].tasks[1]).unwrap();
        assert!(!json.contains("style"), "{json}");
    }
}
