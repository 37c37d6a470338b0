//! The code style of several runs against the oracle's, on the tasks all of
//! them solved.

use std::collections::HashSet;

use swe_ci_core::metrics::Convention;
use swe_ci_core::task::TaskId;

use crate::leaderboard::{Entry, ScoredTask, StyleRates};
use crate::style::StyleMetric;

/// The rates of each run; empty when no task is solved and measured in all.
pub(super) fn style(entries: &[&Entry], convention: Convention) -> Vec<StyleRates> {
    let over = |measured: &dyn Fn(&ScoredTask) -> bool| {
        let tasks = measured_in_all(entries, measured);
        let rates = tasks.iter().map(|t| StyleRates::over(t, convention));
        rates.map(Option::unwrap_or_default).collect::<Vec<_>>()
    };
    let by = |metric| over(&move |task| task.against(convention, metric).is_some());
    let (mi, pylint) = (by(StyleMetric::Mi), by(StyleMetric::Pylint));
    let lines = over(&|task| task.changed_lines(convention).is_some());
    let all = mi.into_iter().zip(pylint).zip(lines);
    let rates = all.map(|((mi, pylint), lines)| StyleRates {
        mi: mi.mi,
        pylint: pylint.pylint,
        lines_ratio: lines.lines_ratio,
    });
    let rates: Vec<StyleRates> = rates.collect();
    if rates.iter().all(|rates| *rates == StyleRates::default()) {
        return Vec::new();
    }
    rates
}

fn measured_in_all<'a>(
    entries: &[&'a Entry],
    measured: &dyn Fn(&ScoredTask) -> bool,
) -> Vec<Vec<&'a ScoredTask>> {
    let names = |entry: &&'a Entry| {
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
    use crate::testing::{beside, entry, styled};

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
        let a = styled(run("a", 1.0), |_, _| {
            Some(beside([71.0, 70.0], [7.0, 8.0], [10, 10]))
        });
        let b = styled(run("b", 0.5), |task, _| {
            let mut style = beside([70.0 - task as f64, 70.0], [9.0, 8.0], [40, 10]);
            style.own.pylint = (task == 0).then_some(9.0);
            Some(style)
        });
        let result = style(&[&a, &b], Convention::Paper);
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
        // A run without measurements: no rates.
        let bare = run("c", 1.0);
        assert!(style(&[&a, &bare], Convention::Paper).is_empty());
        assert!(style(&[], Convention::Paper).is_empty());
    }
}
