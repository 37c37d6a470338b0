//! The code style of several runs against the oracle's, on the tasks all of
//! them solved.

use std::collections::HashSet;

use swe_ci_core::metrics::Convention;
use swe_ci_core::task::TaskId;

use crate::leaderboard::{Entry, ScoredTask, StyleIntervals, StyleRates, UncertaintyModel};
use crate::style::{Erosion, ErosionFigure, ErosionIntervals, StyleMetric};

/// The rates of each run with their intervals; empty when no task is solved and
/// measured in all.
pub(super) fn style(
    model: &UncertaintyModel,
    entries: &[Entry],
    convention: Convention,
) -> Vec<(StyleRates, StyleIntervals)> {
    let measured = |has: &dyn Fn(&ScoredTask) -> bool| measured_in_all(entries, has);
    let by = |metric| measured(&move |task| task.against(convention, metric).is_some());
    let (mi, pylint) = (by(StyleMetric::Mi), by(StyleMetric::Pylint));
    let lines = measured(&|task| task.changed_lines(convention).is_some());
    let eroded = ErosionFigure::ALL.map(|figure| {
        let has = move |task: &ScoredTask| task.erosion(convention).of(figure).is_some();
        (figure, measured(&has))
    });
    let eroded = |figure: ErosionFigure, run: usize| {
        let found = eroded.iter().find(|(of, _)| *of == figure);
        found.map_or(&[] as &[&ScoredTask], |(_, tasks)| tasks[run].as_slice())
    };
    let of_run = |run: usize| {
        let over = |tasks: &[&ScoredTask]| StyleRates::over(tasks, convention).unwrap_or_default();
        let rates = StyleRates {
            mi: over(&mi[run]).mi,
            pylint: over(&pylint[run]).pylint,
            lines_ratio: over(&lines[run]).lines_ratio,
            erosion: Erosion::each(|figure| over(eroded(figure, run)).erosion.of(figure)),
        };
        let interval = |figure| model.eroded(eroded(figure, run), convention, figure);
        let intervals = StyleIntervals {
            mi: model.wins(&mi[run], convention, StyleMetric::Mi),
            pylint: model.wins(&pylint[run], convention, StyleMetric::Pylint),
            erosion: ErosionIntervals::each(interval),
        };
        (rates, intervals)
    };
    let all: Vec<(StyleRates, StyleIntervals)> = (0..entries.len()).map(of_run).collect();
    if all.iter().all(|(rates, _)| *rates == StyleRates::default()) {
        return Vec::new();
    }
    all
}

/// By run.
type Tasks<'a> = Vec<Vec<&'a ScoredTask>>;

fn measured_in_all<'a>(entries: &'a [Entry], measured: &dyn Fn(&ScoredTask) -> bool) -> Tasks<'a> {
    let names = |entry: &'a Entry| {
        let tasks = entry.tasks.iter().filter(|task| measured(task));
        tasks.map(ScoredTask::task_id).collect::<HashSet<&TaskId>>()
    };
    let names: Vec<HashSet<&TaskId>> = entries.iter().map(names).collect();
    let everywhere = |task: &&ScoredTask| names.iter().all(|n| n.contains(task.task_id()));
    let tasks = entries.iter();
    tasks
        .map(|entry| entry.tasks.iter().filter(everywhere).collect())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{beside, entry, leaderboard, styled};

    /// Three tasks: `a` solves all, `b` the first two; its second has no
    /// Pylint score. So two tasks have a comparison of MI, and one of Pylint's
    /// score.
    #[test]
    fn by_hand() {
        let tasks = |last| [("p", [[1.0]]), ("p", [[1.0]]), ("q", [[last]])];
        let run = |model, last: f64| {
            let tasks = tasks(last);
            let samples = tasks.each_ref().map(|(_, s)| [s[0].as_slice()]);
            let tasks: Vec<(&str, &[&[f64]])> = tasks
                .iter()
                .zip(&samples)
                .map(|((repo, _), s)| (*repo, s.as_slice()))
                .collect();
            entry(model, &tasks)
        };
        let a = styled(run("a", 1.0), |task, _| {
            let mut style = beside([71.0, 70.0], [7.0, 8.0], [10, 10]);
            style.own.erosion.unused_code = (task != 1).then_some(4.5);
            style.oracle.erosion.unused_code = Some(4.0);
            Some(style)
        });
        let b = styled(run("b", 0.5), |task, _| {
            let mut style = beside([70.0 - task as f64, 70.0], [9.0, 8.0], [40, 10]);
            style.own.pylint = (task == 0).then_some(9.0);
            // The first run has no such number for the second task.
            style.own.erosion.unused_code = Some(5.0 + task as f64);
            style.oracle.erosion.unused_code = Some(4.0);
            Some(style)
        });
        let model = UncertaintyModel::new(&leaderboard(vec![a.clone(), b.clone()]));
        let result = style(&model, &[a.clone(), b], Convention::Paper);
        let (result, intervals): (Vec<_>, Vec<_>) = result.into_iter().unzip();
        let wins = |rates: &StyleRates| {
            let by = |metric| {
                let rates = rates.of(metric).unwrap();
                (rates.tasks, rates.win, rates.tie, rates.loss)
            };
            (by(StyleMetric::Mi), by(StyleMetric::Pylint))
        };
        assert_eq!(wins(&result[0]), ((2, 1.0, 0.0, 0.0), (1, 0.0, 0.0, 1.0)));
        assert_eq!(wins(&result[1]), ((2, 0.0, 0.5, 0.5), (1, 1.0, 0.0, 0.0)));
        let lines: Vec<Option<f64>> = result.iter().map(|rates| rates.lines_ratio).collect();
        assert_eq!(lines, [Some(1.0), Some(4.0)]);
        let unused: Vec<_> = result.iter().map(|r| r.erosion.unused_code).collect();
        assert_eq!(unused, [Some(0.5), Some(1.0)]);
        // The shared tasks are of one repository.
        assert_eq!(intervals, [StyleIntervals::default(); 2]);
        // A run without measurements: no rates.
        let bare = run("c", 1.0);
        assert!(style(&model, &[a, bare], Convention::Paper).is_empty());
        assert!(style(&model, &[], Convention::Paper).is_empty());
    }

    /// Of two repositories, one task each: a resample is either twice, or both.
    #[test]
    fn intervals_by_hand() {
        let run = |model, unused: [f64; 2], mi: f64| {
            let run = entry(model, &[("p", &[&[1.0]]), ("q", &[&[1.0]])]);
            styled(run, |task, _| {
                let mut style = beside([mi + task as f64, 70.5], [8.0; 2], [1, 1]);
                style.own.erosion.unused_code = Some(unused[task]);
                style.oracle.erosion.unused_code = Some(4.0);
                Some(style)
            })
        };
        let (a, b) = (run("a", [4.0, 7.0], 70.0), run("b", [5.0, 5.0], 60.0));
        let model = UncertaintyModel::new(&leaderboard(vec![a.clone(), b.clone()]));
        let result = style(&model, &[a.clone(), b], Convention::Paper);
        let ends = |run: usize| {
            let interval = result[run].1.erosion.of(ErosionFigure::Unused).unwrap();
            (interval.low, interval.high)
        };
        assert_eq!(result[0].0.erosion.unused_code, Some(1.5));
        assert_eq!((ends(0), ends(1)), ((0.0, 3.0), (1.0, 1.0)));
        let wins = result[0].1.of(StyleMetric::Mi).unwrap().win;
        assert_eq!((wins.low, wins.high), (0.0, 1.0));
        assert_eq!(result[0].1.erosion.of(ErosionFigure::Comments), None);
    }
}
