//! EvoScore against γ, a line per run: which agents keep code easy to change?
//! Not in the paper.

use serde::{Deserialize, Serialize};
use swe_ci_core::metrics::{Convention, Gamma, Weights};
use swe_ci_core::uncertainty::Interval;

use super::{Cell, Column, Study, Subject, Table};
use crate::count;
use crate::leaderboard::Entry;

/// The range of γ in figures.
pub const GAMMA_MIN: f64 = 0.5;
pub const GAMMA_MAX: f64 = 2.0;

/// Where the chart of EvoScore against γ has its data, in pixels of the picture.
/// Pages draw the lines once and move only the marks.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct GammaPlane {
    pub width: u32,
    pub height: u32,
    pub left: f64,
    pub right: f64,
    pub top: f64,
    pub bottom: f64,
    /// The scores at the bottom and at the top.
    pub low: f64,
    pub high: f64,
}

impl GammaPlane {
    /// Where a γ is; one outside the chart is shown at its edge.
    pub fn x(&self, gamma: Gamma) -> f64 {
        let share = (gamma.get().clamp(GAMMA_MIN, GAMMA_MAX) - GAMMA_MIN) / (GAMMA_MAX - GAMMA_MIN);
        self.left + share * (self.right - self.left)
    }

    pub fn y(&self, score: f64) -> f64 {
        let share = (score - self.low) / (self.high - self.low);
        self.bottom - share * (self.bottom - self.top)
    }
}

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

/// The run's mean normalized change after each of its N iterations. A weighted
/// mean of means is the mean of the weighted means, so these few numbers give
/// the score at every γ.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Curve {
    changes: Vec<f64>,
}

pub fn curves(study: &Study) -> Curves {
    let curves = study.runs().filter_map(|(run, entry, row)| {
        Some(ScoredCurve {
            run,
            curve: Curve::of(entry, study.convention)?,
            interval: row.intervals.map(|i| i.evoscore),
        })
    });
    Curves {
        gamma: study.gamma,
        curves: curves.collect(),
        from_leader: false,
    }
}

impl Curve {
    /// `None` without a score in the convention.
    pub fn of(entry: &Entry, convention: Convention) -> Option<Self> {
        let after = |i: usize| {
            // An evolution that ended early keeps its last value.
            entry.mean_of(convention, |series| series.change_after(i))
        };
        entry.evoscore(Gamma::ONE, convention)?;
        let iterations = 1..=entry.max_iterations as usize;
        let changes = iterations.map(after).collect::<Option<_>>()?;
        Some(Self { changes })
    }

    /// After iterations 1 to N, -1 to 1. Their mean is the score at γ = 1.
    pub fn changes(&self) -> &[f64] {
        &self.changes
    }

    /// The curve with few digits, for transfer.
    pub fn rounded(&self) -> Self {
        // A millionth is invisible in pictures and labels.
        let round = |change: &f64| (change * 1e6).round() / 1e6;
        Self {
            changes: self.changes.iter().map(round).collect(),
        }
    }

    pub fn at(&self, gamma: Gamma) -> f64 {
        let n = count(self.changes.len());
        Weights::new(gamma, n).evoscore(self.changes.iter().copied())
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

    #[test]
    fn few_digits_are_enough() {
        let data = leaderboard(&[RunSpec::new("m", &[&[0.5], &[0.25], &[0.25]])]);
        let exact = Curve::of(&data.entries[0], Convention::Paper).unwrap();
        let json = serde_json::to_string(&exact.rounded()).unwrap();
        assert_eq!(json, "[0.333333]");
        let error = exact.at(Gamma::ONE) - exact.rounded().at(Gamma::ONE);
        assert!(error.abs() < 1e-6);
    }
}
