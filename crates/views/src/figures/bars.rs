//! One number per run with its interval: Figures 6, 10 and 11, and
//! zero-regression resolution.

use serde::{Deserialize, Serialize};
use swe_ci_core::uncertainty::Interval;

use super::{Cell, Column, Others, Study, Subject, Table};
use crate::leaderboard::{Intervals, Row};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Measure {
    ZeroRegression,
    Solved,
    Zrr,
    Turns,
}

/// From the largest to the smallest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Bars {
    pub measure: Measure,
    /// The maximum that a run could reach.
    pub most: f64,
    pub bars: Vec<Bar>,
    pub others: Option<Others>,
    /// Results on the tasks of the paper, at any γ.
    pub published: Vec<PublishedBar>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PublishedBar {
    pub model: String,
    pub provider: String,
    pub value: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Bar {
    pub run: Subject,
    pub value: f64,
    /// Absent with tasks of fewer than two repositories.
    pub interval: Option<Interval>,
}

impl Measure {
    fn name(self) -> (&'static str, &'static str) {
        match self {
            Self::ZeroRegression => ("zero_regression_rate", "Zero-regression rate"),
            Self::Solved => ("solved_rate", "Solved rate"),
            Self::Zrr => ("zrr", "Zero-regression resolution"),
            Self::Turns => ("average_turns", "Iterations used"),
        }
    }

    /// The title of its axis.
    pub fn axis(self) -> &'static str {
        match self {
            Self::ZeroRegression => "share of tasks without a regression",
            Self::Solved => "share of tasks solved",
            Self::Zrr => "share of tasks solved without a regression",
            Self::Turns => "iterations used, mean over tasks",
        }
    }

    pub fn places(self) -> usize {
        match self {
            Self::Turns => 1,
            Self::ZeroRegression | Self::Solved | Self::Zrr => 2,
        }
    }

    /// The value of a row, and the one of its intervals.
    fn of(self, row: &Row) -> (f64, fn(Intervals) -> Interval) {
        match self {
            Self::ZeroRegression => (row.zero_regression_rate, |i| i.zero_regression_rate),
            Self::Solved => (row.solved_rate, |i| i.solved_rate),
            Self::Zrr => (row.zrr, |i| i.zrr),
            Self::Turns => (row.average_turns, |i| i.average_turns),
        }
    }
}

impl Bars {
    pub fn new(study: &Study, measure: Measure) -> Self {
        let runs = study.runs().map(|(run, _, row)| {
            let (value, interval) = measure.of(row);
            let interval = row.intervals.map(interval);
            Bar {
                run,
                value,
                interval,
            }
        });
        let mut bars: Vec<Bar> = runs.collect();
        bars.sort_by(|a, b| {
            let falling = b.value.total_cmp(&a.value);
            falling.then_with(|| a.run.model.cmp(&b.run.model))
        });
        let mut published = Vec::new();
        if measure == Measure::ZeroRegression {
            let rows = study.data.published.rows.iter();
            published.extend(rows.filter_map(|row| {
                Some(PublishedBar {
                    model: row.model.clone(),
                    provider: row.provider.clone(),
                    value: row.zero_regression_rate?,
                })
            }));
            published.sort_by(|a, b| b.value.total_cmp(&a.value));
        }
        let longest = study.runs().map(|(_, entry, _)| entry.max_iterations).max();
        let most = match measure {
            Measure::Turns => f64::from(longest.unwrap_or(1)),
            Measure::ZeroRegression | Measure::Solved | Measure::Zrr => 1.0,
        };
        Self {
            measure,
            most,
            bars,
            others: study.middle_of_others(|_, row| vec![measure.of(row).0]),
            published,
        }
    }

    pub(super) fn table(&self) -> Table {
        let (name, title) = self.measure.name();
        let places = self.measure.places();
        let row = |bar: &Bar| Cell::with_interval(Some(bar.value), bar.interval, places);
        let mut table = Table::of_runs(
            Column::with_interval(name, title),
            self.bars.iter().map(|bar| (&bar.run, row(bar))),
        );
        let published = self.published.iter().map(|bar| {
            let value = Cell::with_interval(Some(bar.value), None, places);
            Table::published(&bar.model, &bar.provider, value)
        });
        table.rows.extend(published);
        table
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{RunSpec, leaderboard, with_study};
    use super::*;

    /// Two tasks each. `falls` loses tests in one of them, `arrives` reaches
    /// the target in one, `calm` does neither; N is 3.
    #[test]
    fn by_hand() {
        let data = leaderboard(&[
            RunSpec::new("falls", &[&[0.5, 0.2, 0.4], &[0.5]]),
            RunSpec::new("arrives", &[&[0.5, 1.0], &[0.5]]),
            RunSpec::new("calm", &[&[0.5], &[0.5]]),
        ]);
        let check = |measure, expect: &[(&str, f64)]| {
            with_study(&data, 1.0, |study| {
                let bars = Bars::new(study, measure).bars;
                let actual: Vec<(&str, f64)> = bars
                    .iter()
                    .map(|b| (b.run.model.as_str(), b.value))
                    .collect();
                assert_eq!(actual, expect, "{measure:?}");
                assert!(bars.iter().all(|b| b.interval.is_some()), "{measure:?}");
            });
        };
        check(
            Measure::ZeroRegression,
            &[("arrives", 1.0), ("calm", 1.0), ("falls", 0.5)],
        );
        check(
            Measure::Solved,
            &[("arrives", 0.5), ("calm", 0.0), ("falls", 0.0)],
        );
        check(
            Measure::Zrr,
            &[("arrives", 0.5), ("calm", 0.0), ("falls", 0.0)],
        );
        check(
            Measure::Turns,
            &[("falls", 2.0), ("arrives", 1.5), ("calm", 1.0)],
        );
    }

    #[test]
    fn one_repository_has_no_interval() {
        let data = leaderboard(&[RunSpec::new("only", &[&[0.5]])]);
        with_study(&data, 1.0, |study| {
            let bars = Bars::new(study, Measure::Turns);
            assert_eq!(bars.bars[0].interval, None);
            let csv = bars.table().csv();
            assert_eq!(
                csv.lines().nth(1),
                Some("only,acme,run-only,measured,1,,"),
                "{csv}"
            );
        });
    }
}
