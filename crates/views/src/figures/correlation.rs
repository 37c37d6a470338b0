//! Whether regressions become more frequent and larger: Figure 7.

use serde::{Deserialize, Serialize};
use swe_ci_core::uncertainty::Interval;

use super::{Cell, Column, Study, Subject, Table};

/// In descending order of the rate's correlation; undefined ones last.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Correlations {
    pub runs: Vec<Correlated>,
}

/// Pearson's correlations of one run with the iteration, each -1 to 1.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Correlated {
    pub run: Subject,
    pub rate: Option<f64>,
    /// 95 %; absent with fewer than four iterations that have one.
    pub rate_interval: Option<Interval>,
    pub magnitude: Option<f64>,
    pub magnitude_interval: Option<Interval>,
}

pub fn correlations(study: &Study) -> Correlations {
    let mut runs: Vec<Correlated> = study
        .runs()
        .map(|(run, entry, _)| {
            let profile = entry.profile(study.convention);
            Correlated {
                run,
                rate: profile.rate_correlation,
                rate_interval: profile.rate_interval(),
                magnitude: profile.magnitude_correlation,
                magnitude_interval: profile.magnitude_interval(),
            }
        })
        .collect();
    let height = |r: &Correlated| r.rate.unwrap_or(f64::NEG_INFINITY);
    runs.sort_by(|a, b| {
        let falling = height(b).total_cmp(&height(a));
        falling.then_with(|| a.run.model.cmp(&b.run.model))
    });
    Correlations { runs }
}

impl Correlations {
    pub(super) fn table(&self) -> Table {
        let columns = ["rate", "magnitude"].into_iter().flat_map(|name| {
            [
                Column::new(format!("{name}_correlation"), format!("r of the {name}")),
                Column::new(format!("{name}_low"), "95\u{a0}% from"),
                Column::new(format!("{name}_high"), "95\u{a0}% to"),
            ]
        });
        let rows = self.runs.iter().map(|run| {
            let rate = Cell::with_interval(run.rate, run.rate_interval, 2);
            let magnitude = Cell::with_interval(run.magnitude, run.magnitude_interval, 2);
            (&run.run, rate.into_iter().chain(magnitude))
        });
        Table::of_runs(columns, rows)
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{RunSpec, leaderboard, with_study};
    use super::*;

    /// `later` falls only in its third iteration: rates 0, 0, 1 at 1, 2, 3,
    /// so r = 1 / √(2 · 2/3) = √3 / 2; one magnitude has no correlation.
    /// `calm` never falls, so it has neither.
    #[test]
    fn by_hand() {
        let data = leaderboard(&[
            RunSpec::new("calm", &[&[0.1, 0.2, 0.3]]),
            RunSpec::new("later", &[&[0.1, 0.2, 0.1]]),
        ]);
        with_study(&data, 1.0, |study| {
            let data = correlations(study);
            let [later, calm] = data.runs.as_slice() else {
                panic!("{data:?}")
            };
            assert!((later.rate.unwrap() - 3f64.sqrt() / 2.0).abs() < 1e-12);
            assert_eq!((later.magnitude, calm.rate), (None, None));
            assert_eq!(later.rate_interval, None, "three iterations are too few");
            let csv = data.table().csv();
            assert!(
                csv.ends_with("calm,acme,run-calm,measured,,,,,,\r\n"),
                "{csv}"
            );
        });
    }
}
