//! How often a run's code is better than the oracle's: Figure 8.

use serde::{Deserialize, Serialize};

use super::{Cell, Column, LeftOut, Study, Subject, Table};
use crate::leaderboard::{StyleIntervals, StyleRates, WinIntervals, WinRates};
use crate::style::StyleMetric;

/// Why runs without a task that is both solved and measured are left out.
pub(super) const UNMEASURED: &str = "no task they solved has its code style measured";

/// In descending order of wins by maintainability index, then by Pylint's
/// score.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StyleWins {
    pub runs: Vec<StyleBars>,
    pub left_out: LeftOut,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StyleBars {
    pub run: Subject,
    pub rates: StyleRates,
    /// Absent when the measured tasks are of fewer than two repositories.
    pub intervals: Option<StyleIntervals>,
}

pub fn style_wins(study: &Study) -> StyleWins {
    let (mut runs, left_out) = study.each(UNMEASURED, |run, _, row| {
        let measured = row.style.filter(|s| s.mi.is_some() || s.pylint.is_some());
        Some(StyleBars {
            run,
            rates: measured?,
            intervals: row.intervals.and_then(|i| i.style),
        })
    });
    let wins = |bars: &StyleBars, metric| {
        let rates = bars.rates.of(metric);
        rates.map_or(f64::NEG_INFINITY, |rates| rates.win)
    };
    runs.sort_by(|a, b| {
        let falling = |metric| wins(b, metric).total_cmp(&wins(a, metric));
        falling(StyleMetric::Mi)
            .then_with(|| falling(StyleMetric::Pylint))
            .then_with(|| a.run.model.cmp(&b.run.model))
    });
    StyleWins { runs, left_out }
}

impl StyleBars {
    pub fn wins(&self, metric: StyleMetric) -> Option<WinRates> {
        self.rates.of(metric)
    }

    pub fn interval(&self, metric: StyleMetric) -> Option<WinIntervals> {
        self.intervals.and_then(|intervals| intervals.of(metric))
    }

    /// Tasks, then each share with its interval, under [`columns`].
    fn cells(&self, metric: StyleMetric) -> Vec<Cell> {
        let rates = self.wins(metric);
        let intervals = self.interval(metric);
        let mut cells = vec![Cell::whole(rates.map(|r| r.tasks))];
        let shares = [
            (rates.map(|r| r.win), intervals.map(|i| i.win)),
            (rates.map(|r| r.tie), intervals.map(|i| i.tie)),
            (rates.map(|r| r.loss), intervals.map(|i| i.loss)),
        ];
        for (share, interval) in shares {
            cells.extend(Cell::with_interval(share, interval, 2));
        }
        cells
    }
}

fn columns(metric: StyleMetric) -> Vec<Column> {
    let (name, title) = (metric.name(), metric.pick("MI", "Pylint"));
    let tasks = Column::new(format!("{name}_tasks"), format!("{title}: tasks"));
    let mut columns = vec![tasks];
    for (share, label) in [("win", "better"), ("tie", "equal"), ("loss", "worse")] {
        let column = |end: &str, title: String| Column::new(format!("{name}_{share}{end}"), title);
        columns.extend([
            column("_rate", format!("{title}: {label}")),
            column("_low", "95\u{a0}% from".into()),
            column("_high", "95\u{a0}% to".into()),
        ]);
    }
    columns
}

impl StyleWins {
    pub(super) fn table(&self) -> Table {
        let rows = self.runs.iter().map(|bars| {
            let cells = StyleMetric::ALL
                .into_iter()
                .flat_map(move |m| bars.cells(m));
            (&bars.run, cells)
        });
        Table::of_runs(StyleMetric::ALL.into_iter().flat_map(columns), rows)
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{RunSpec, leaderboard, with_study};
    use super::*;
    use crate::testing::{beside, styled};

    /// Two solved tasks each. `half` wins one by MI and ties the other,
    /// `none` loses both and has no Pylint score, `silent` is not measured.
    #[test]
    fn by_hand() {
        let tasks: &[&[f64]] = &[&[1.0], &[1.0]];
        let runs = ["none", "silent", "half"].map(|model| RunSpec::new(model, tasks));
        let mut data = leaderboard(&runs);
        let [none, _, half] = &mut data.entries[..] else {
            panic!("three runs")
        };
        *none = styled(none.clone(), |_, _| {
            let mut style = beside([60.0, 70.0], [0.0, 8.0], [1, 1]);
            style.own.pylint = None;
            Some(style)
        });
        *half = styled(half.clone(), |task, _| {
            let mi = [71.0 - task as f64, 70.0];
            Some(beside(mi, [9.0, 8.0], [1, 1]))
        });
        with_study(&data, 1.0, |study| {
            let data = style_wins(study);
            let models: Vec<&str> = data.runs.iter().map(|r| r.run.model.as_str()).collect();
            assert_eq!(models, ["half", "none"]);
            assert_eq!(data.left_out.models, ["silent"]);
            let csv = data.table().csv();
            let expect = [
                "model,provider,run_id,kind,mi_tasks,mi_win_rate,mi_win_low,mi_win_high,\
                 mi_tie_rate,mi_tie_low,mi_tie_high,mi_loss_rate,mi_loss_low,mi_loss_high,\
                 pylint_tasks,pylint_win_rate,pylint_win_low,pylint_win_high,\
                 pylint_tie_rate,pylint_tie_low,pylint_tie_high,\
                 pylint_loss_rate,pylint_loss_low,pylint_loss_high",
                "half,acme,run-half,measured,2,0.5,0,1,0.5,0,1,0,0,0,2,1,1,1,0,0,0,0,0,0",
                "none,acme,run-none,measured,2,0,0,0,0,0,0,1,1,1,,,,,,,,,,",
            ];
            assert_eq!(csv.lines().collect::<Vec<_>>(), expect);
        });
    }
}
