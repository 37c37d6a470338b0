//! Which number of the code style predicts later regressions?

use serde::{Deserialize, Serialize};
use swe_ci_core::metrics::Convention;
use swe_ci_core::uncertainty::{Interval, RESAMPLES, RankedPoints, Resamples, SEED};

use super::{Cell, Column, Study, Table};
use crate::count;
use crate::leaderboard::Sample;
use crate::style::{ErosionFigure, StylePoint};

/// One for each number of the code style, in the order of the pages.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StylePredictions {
    pub predictors: Vec<StylePrediction>,
}

/// Over the evolutions of all runs, the correlation of a number halfway with the
/// regressions after that.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StylePrediction {
    /// One word, for CSV.
    pub name: String,
    pub title: String,
    /// How many evolutions there are to correlate.
    pub evolutions: u32,
    /// Spearman's rank correlation, -1 to 1; absent when all are equal in the
    /// number or in their regressions.
    pub correlation: Option<f64>,
    /// Absent with evolutions of fewer than two repositories.
    pub interval: Option<Interval>,
}

/// Reads a number of a version of the code.
enum Predictor {
    Mi,
    Pylint,
    Complexity,
    Erosion(ErosionFigure),
}

impl Predictor {
    fn all() -> impl Iterator<Item = Self> {
        let first = [Self::Mi, Self::Pylint, Self::Complexity];
        let erosion = ErosionFigure::ALL.into_iter().map(Self::Erosion);
        first.into_iter().chain(erosion)
    }

    fn of(&self, point: &StylePoint) -> Option<f64> {
        match self {
            Self::Mi => point.mi,
            Self::Pylint => point.pylint,
            Self::Complexity => point.complexity,
            Self::Erosion(figure) => point.erosion.of(*figure),
        }
    }

    fn name(&self) -> &'static str {
        match self {
            Self::Mi => "mi",
            Self::Pylint => "pylint",
            Self::Complexity => "complexity",
            Self::Erosion(figure) => figure.name(),
        }
    }

    fn title(&self) -> &'static str {
        match self {
            Self::Mi => "MI",
            Self::Pylint => "Pylint score",
            Self::Complexity => "Mean complexity",
            Self::Erosion(figure) => figure.title(),
        }
    }
}

pub fn style_predictions(study: &Study) -> StylePredictions {
    let repositories = study.repositories();
    let resamples = Resamples::new(repositories.len(), RESAMPLES, SEED);
    let mut halves = Vec::new();
    for (_, entry, _) in study.runs() {
        for task in entry.tasks.iter() {
            let Some(repository) = repositories.get(task.repo()) else {
                continue;
            };
            let samples = task.samples.iter();
            let known = samples.filter_map(|sample| halfway(sample, study.convention));
            halves.extend(known.map(|half| (*repository, half)));
        }
    }
    let prediction = |predictor: Predictor| {
        let mut points = RankedPoints::default();
        for (repository, half) in &halves {
            let (own, oracle) = (predictor.of(&half.own), predictor.of(&half.oracle));
            if let Some((own, oracle)) = own.zip(oracle) {
                points.add(*repository, own - oracle, half.regressions);
            }
        }
        let correlation = points.correlation();
        StylePrediction {
            name: predictor.name().to_owned(),
            title: predictor.title().to_owned(),
            evolutions: count(points.len()),
            correlation,
            interval: correlation.and_then(|_| points.interval(&resamples)),
        }
    };
    StylePredictions {
        predictors: Predictor::all().map(prediction).collect(),
    }
}

/// An evolution halfway: its code, the oracle's, and what came then.
struct Halfway {
    own: StylePoint,
    oracle: StylePoint,
    /// The share of the later iterations that broke a test, 0 to 1.
    regressions: f64,
}

/// `None` with fewer than two iterations, or without a measurement after the last
/// one of the first half.
fn halfway(sample: &Sample, convention: Convention) -> Option<Halfway> {
    let (style, series) = (sample.style.as_ref()?, sample.series(convention)?);
    let half = series.turns() / 2;
    let (_, own) = style.course.iter().find(|(n, _)| *n == half && half > 0)?;
    let later = series.regressions().iter().filter(|r| r.iteration > half);
    let after = series.turns() - half;
    Some(Halfway {
        own: *own,
        oracle: style.oracle,
        regressions: f64::from(count(later.count())) / f64::from(after),
    })
}

impl StylePredictions {
    pub(super) fn is_empty(&self) -> bool {
        self.predictors.iter().all(|one| one.correlation.is_none())
    }

    pub(super) fn table(&self) -> Table {
        let first = [
            Column::new("figure", "Figure"),
            Column::new("evolutions", "Evolutions"),
        ];
        let columns = first
            .into_iter()
            .chain(Column::with_interval("correlation", "Correlation"));
        let row = |one: &StylePrediction| {
            let first = [
                Cell::Text(one.title.clone()),
                Cell::whole(Some(one.evolutions)),
            ];
            let numbers = Cell::with_interval(one.correlation, one.interval, 2);
            first.into_iter().chain(numbers).collect()
        };
        let known = self.predictors.iter().filter(|one| one.evolutions > 0);
        Table {
            columns: columns.collect(),
            rows: known.map(row).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{leaderboard_of, with_study};
    use super::*;
    use crate::style::{Beside, Erosion};
    use crate::testing::{beside, entry, styled};

    /// After the second iteration, this much more unused code than the oracle's, and
    /// this much less MI.
    fn style(unused: f64, mi: f64) -> Beside {
        let point = |unused, mi| StylePoint {
            mi: Some(mi),
            erosion: Erosion {
                unused_code: Some(unused),
                ..Erosion::default()
            },
            ..StylePoint::default()
        };
        Beside {
            oracle: point(10.0, 70.0),
            course: vec![(1, point(99.0, 1.0)), (2, point(10.0 + unused, 70.0 - mi))],
            ..beside([70.0; 2], [7.0; 2], [0; 2])
        }
    }

    /// Four evolutions of four iterations break tests in 0, 1, 1 and 2 of the last
    /// two; the first halves do not count. Their ranks are 1, 2.5, 2.5 and 4. Unused
    /// code has the ranks 1, 2, 4, 3: both deviate from 2.5 by −1.5, 0, 0, 1.5 and
    /// −1.5, −0.5, 1.5, 0.5, so r = 3 / √(4.5 · 5). MI loses 4, 3, 2 and 1: its ranks
    /// rise by regressions, r = 4.5 / √(4.5 · 5). The fifth is too short, and the
    /// sixth not measured.
    #[test]
    fn by_hand() {
        let calm: &[f64] = &[0.4, 0.2, 0.5, 0.6];
        let falls: &[f64] = &[0.1, 0.2, 0.1, 0.6];
        let twice: &[f64] = &[0.1, 0.3, 0.2, 0.1];
        let run = entry(
            "m",
            &[
                ("p", &[calm]),
                ("p", &[falls]),
                ("q", &[falls, twice]),
                ("q", &[&[0.5]]),
                ("q", &[twice]),
            ],
        );
        let run = styled(run, |task, sample| match (task, sample) {
            (0, 0) => Some(style(0.0, 4.0)),
            (1, 0) => Some(style(1.0, 3.0)),
            (2, 0) => Some(style(5.0, 2.0)),
            (2, 1) => Some(style(2.0, 1.0)),
            (3, 0) => Some(style(9.0, 9.0)),
            _ => None,
        });
        let data = leaderboard_of(vec![run]);
        with_study(&data, 1.0, |study| {
            let data = style_predictions(study);
            let of = |name: &str| data.predictors.iter().find(|p| p.name == name).unwrap();
            let close = |name: &str, expect: f64| {
                let found = of(name);
                assert_eq!(found.evolutions, 4, "{name}");
                let r = found.correlation.unwrap();
                assert!((r - expect).abs() < 1e-12, "{name}: {r} and {expect}");
                assert!(found.interval.is_some(), "{name}");
            };
            close("unused_code", 3.0 / (4.5f64 * 5.0).sqrt());
            close("mi", 4.5 / (4.5f64 * 5.0).sqrt());
            assert_eq!(of("pylint").evolutions, 0);
            assert_eq!(data.table().rows.len(), 2);
        });
    }

    /// One repository says nothing about the variance of several, and equal numbers
    /// correlate with nothing.
    #[test]
    fn unknown_is_not_nought() {
        let changes: &[f64] = &[0.2, 0.4];
        let run = |mi: [f64; 2]| {
            let run = entry("m", &[("p", &[changes]), ("p", &[&[0.4, 0.2]])]);
            let course = move |task: usize| {
                let style = style(1.0, mi[task]);
                let half = style.course[1].1;
                Beside {
                    course: vec![(1, half)],
                    ..style
                }
            };
            styled(run, move |task, _| Some(course(task)))
        };
        let check = |mi, expect: Option<f64>| {
            let data = leaderboard_of(vec![run(mi)]);
            with_study(&data, 1.0, |study| {
                let data = style_predictions(study);
                assert_eq!(data.predictors[0].correlation, expect);
                assert_eq!(data.predictors[0].interval, None);
                assert_eq!(data.is_empty(), expect.is_none());
            });
        };
        check([1.0, 1.0], None);
        check([1.0, 2.0], Some(-1.0));
    }
}
