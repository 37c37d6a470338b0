//! EvoScore against γ, a line per run: which agents keep code easy to change?
//! Not in the paper.

use serde::{Deserialize, Serialize};
use swe_ci_core::metrics::{Convention, Gamma};
use swe_ci_core::uncertainty::Interval;

use super::{Cell, Column, Others, Study, Subject, Table};
use crate::leaderboard::Entry;

pub use swe_ci_core::curve::{Curve, GAMMA_MAX, GAMMA_MIN, GammaPlane};

/// The γs of tables, from 0.5 to 2.
pub(super) fn gammas() -> impl Iterator<Item = Gamma> {
    let steps = (10..=40).map(|step| Gamma::new(f64::from(step) / 20.0));
    steps.filter_map(Result::ok)
}

pub(super) fn gamma_column(name: &str, gamma: f64) -> Column {
    Column::new(format!("{name}_gamma_{gamma:.2}"), format!("γ {gamma:.2}"))
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Curves {
    pub gamma: Gamma,
    /// Best first at the selected γ.
    pub curves: Vec<ScoredCurve>,
    /// At each of the γs of the table.
    pub others: Option<Others>,
    /// The picture shows differences from the run that leads at the selected γ:
    /// lines that cross the leader's overtake it.
    pub from_leader: bool,
}

/// A run's line, and the interval of its score at the selected γ.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ScoredCurve {
    pub run: Subject,
    pub curve: Curve,
    /// Absent with tasks of fewer than two repositories.
    pub interval: Option<Interval>,
}

pub fn curves(study: &Study) -> Curves {
    let curves = study.runs().filter_map(|(run, entry, row)| {
        Some(ScoredCurve {
            run,
            curve: entry.curve(study.convention)?,
            interval: row.intervals.map(|i| i.evoscore),
        })
    });
    Curves {
        gamma: study.gamma,
        curves: curves.collect(),
        others: study.middle_of_others(|entry, _| {
            let curve = entry.curve(study.convention);
            let at_all = |curve: Curve| gammas().map(|gamma| curve.at(gamma)).collect();
            curve.map(at_all).unwrap_or_default()
        }),
        from_leader: false,
    }
}

impl Entry {
    /// Its line; `None` without a score in the convention.
    pub fn curve(&self, convention: Convention) -> Option<Curve> {
        let after = |i: usize| {
            // An evolution that ended early keeps its last value.
            self.mean_of(convention, |series| series.change_after(i))
        };
        self.evoscore(Gamma::ONE, convention)?;
        let iterations = 1..=self.max_iterations as usize;
        Some(Curve::new(iterations.map(after).collect::<Option<_>>()?))
    }
}

impl Curves {
    pub(super) fn table(&self) -> Table {
        let selected = format!("At γ {:.2}", self.gamma.get());
        let columns = gammas().map(|gamma| gamma_column("evoscore", gamma.get()));
        let rows = self.curves.iter().map(|line| {
            let score = line.curve.at(self.gamma);
            let at = move |gamma| Cell::number(Some(line.curve.at(gamma)), 3);
            let selected = Cell::with_interval(Some(score), line.interval, 3);
            (&line.run, selected.into_iter().chain(gammas().map(at)))
        });
        let selected = Column::with_interval("evoscore", selected);
        Table::of_runs(selected.into_iter().chain(columns), rows)
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{RunSpec, leaderboard, with_study};
    use super::*;

    /// Weights of two iterations: 2/3 and 1/3 at γ = 0.5, 1/3 and 2/3 at 2.
    /// The second task stops early and keeps its value.
    #[test]
    fn by_hand() {
        let data = leaderboard(&[
            RunSpec::new("early", &[&[1.0, 0.0], &[1.0, 0.0]]),
            RunSpec::new("late", &[&[0.0, 1.0], &[0.5]]),
        ]);
        with_study(&data, 2.0, |study| {
            let data = curves(study);
            let [late, early] = data.curves.as_slice() else {
                panic!("{data:?}")
            };
            let check = |line: &ScoredCurve, gamma, expect: f64| {
                let actual = line.curve.at(Gamma::new(gamma).unwrap());
                assert!(
                    (actual - expect).abs() < 1e-12,
                    "{} at {gamma}: {actual}",
                    line.run.model
                );
            };
            check(early, 0.5, 2.0 / 3.0);
            check(early, 2.0, 1.0 / 3.0);
            check(late, 0.5, (1.0 / 3.0 + 0.5) / 2.0);
            check(late, 2.0, (2.0 / 3.0 + 0.5) / 2.0);
            // It matches the score of the ranking.
            assert!((late.curve.at(study.gamma) - study.rows[0].evoscore).abs() < 1e-12);
            let table = data.table();
            assert_eq!(table.columns.len(), 4 + 3 + 31);
            let csv = table.csv();
            let head = csv.lines().next().unwrap();
            assert!(
                head.contains(",evoscore,low,high,evoscore_gamma_0.50,"),
                "{head}"
            );
            assert!(head.ends_with(",evoscore_gamma_2.00"), "{head}");
        });
    }
}
