//! A run over its iterations: regression rate and magnitude (Figure 7) and the
//! best change so far (Figure 12).

use serde::{Deserialize, Serialize};

use crate::correlation::fisher;
use crate::uncertainty::Interval;
use crate::{Regression, Series, mean, pearson};

/// Turns per interval of Figure 12; longer runs have more intervals.
const BIN: u32 = 4;

/// One run in one convention, iteration by iteration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Profile {
    /// One for each iteration up to N.
    pub iterations: Vec<IterationProfile>,
    /// Pearson correlation of the regression rate with the iteration; absent
    /// with fewer than three iterations that have one, or no variance.
    pub rate_correlation: Option<f64>,
    /// The same of the regression magnitude.
    pub magnitude_correlation: Option<f64>,
    /// Figure 12.
    pub bins: Vec<Bin>,
}

/// One iteration over all tasks.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct IterationProfile {
    /// From 1.
    pub iteration: u32,
    /// Tasks with an evolution that came this far.
    pub active: u32,
    /// Share of the active tasks that regress here, 0 to 1; absent when none
    /// is active.
    pub regression_rate: Option<f64>,
    /// Mean over the tasks that regress here of the share of passing tests
    /// they lose, above 0 to 1; absent when none regresses.
    pub regression_magnitude: Option<f64>,
    /// Mean over all tasks of the best normalized change so far, -1 to 1.
    pub best_change: f64,
}

/// The best change reached by the end of a turn interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Bin {
    /// First turn of the interval.
    pub from: u32,
    /// Last turn of the interval.
    pub to: u32,
    /// Mean over the tasks, -1 to 1; never falls from bin to bin.
    pub best_change: f64,
}

impl Profile {
    /// The profile of a run's tasks, each with its samples. The samples of a
    /// task are averaged first.
    pub fn from_tasks(tasks: &[Vec<&Series>], max_iterations: u32) -> Self {
        let mut best: Vec<Vec<_>> = tasks
            .iter()
            .map(|samples| samples.iter().map(|s| running_best(s)).collect())
            .collect();
        let iterations: Vec<IterationProfile> = (1..=max_iterations)
            .map(|i| {
                let best_change = best
                    .iter_mut()
                    .filter_map(|samples| mean(samples.iter_mut().filter_map(Iterator::next)));
                iteration_profile(tasks, i, mean(best_change).unwrap_or(0.0))
            })
            .collect();
        let correlation = |value: fn(&IterationProfile) -> Option<f64>| {
            let points: Vec<(f64, f64)> = iterations
                .iter()
                .filter_map(|i| Some((f64::from(i.iteration), value(i)?)))
                .collect();
            pearson(&points)
        };
        Self {
            rate_correlation: correlation(|i| i.regression_rate),
            magnitude_correlation: correlation(|i| i.regression_magnitude),
            bins: bins(&iterations),
            iterations,
        }
    }

    /// The 95 % interval of the rate's correlation, over the iterations that have
    /// a rate.
    pub fn rate_interval(&self) -> Option<Interval> {
        let rates = self.iterations.iter().filter_map(|i| i.regression_rate);
        fisher(self.rate_correlation?, rates.count())
    }

    /// The same of the magnitude's.
    pub fn magnitude_interval(&self) -> Option<Interval> {
        let magnitudes = self.iterations.iter();
        let magnitudes = magnitudes.filter_map(|i| i.regression_magnitude);
        fisher(self.magnitude_correlation?, magnitudes.count())
    }
}

fn iteration_profile(tasks: &[Vec<&Series>], iteration: u32, best_change: f64) -> IterationProfile {
    let regression = |s: &Series| -> Option<Regression> {
        s.regressions()
            .iter()
            .find(|r| r.iteration == iteration)
            .copied()
    };
    let mut active = 0;
    let (mut rates, mut magnitudes) = (Vec::new(), Vec::new());
    for samples in tasks {
        let active_samples = || samples.iter().filter(|s| s.turns() >= iteration);
        let Some(rate) =
            mean(active_samples().map(|s| f64::from(u8::from(regression(s).is_some()))))
        else {
            continue;
        };
        active += 1;
        rates.push(rate);
        let regressions = active_samples().filter_map(|s| regression(s));
        magnitudes.extend(mean(regressions.map(Regression::magnitude)));
    }
    IterationProfile {
        iteration,
        active,
        regression_rate: mean(rates),
        regression_magnitude: mean(magnitudes),
        best_change,
    }
}

/// max(a_1..a_i) for each iteration i; a series that ended early keeps its
/// maximum. 0, the base, when there is no iteration at all.
fn running_best(series: &Series) -> impl Iterator<Item = f64> + '_ {
    let mut changes = series.changes();
    let mut best: Option<f64> = None;
    std::iter::repeat_with(move || {
        if let Some(change) = changes.next() {
            best = Some(best.map_or(change, |best| best.max(change)));
        }
        best.unwrap_or(0.0)
    })
}

fn bins(iterations: &[IterationProfile]) -> Vec<Bin> {
    iterations
        .chunks(BIN as usize)
        .filter_map(|chunk| {
            let (first, last) = (chunk.first()?, chunk.last()?);
            Some(Bin {
                from: first.iteration,
                to: last.iteration,
                best_change: last.best_change,
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SuiteCounts;
    use crate::{Convention, Verdict};

    /// Base 10, target 20, by counts.
    fn series(passes: &[Option<u32>]) -> Series {
        let mut before = 10u32;
        let verdicts: Vec<Verdict> = passes
            .iter()
            .map(|n| match n {
                Some(n) => {
                    let lost = before.saturating_sub(*n);
                    before = *n;
                    Verdict::Scored {
                        in_target: *n,
                        passed: *n,
                        lost,
                    }
                }
                None => Verdict::Collapsed { lost: before },
            })
            .collect();
        let suite = SuiteCounts::counts_only(10, 10);
        Series::count(Convention::Reference, suite, 100, &verdicts).unwrap()
    }

    #[test]
    fn worked_example() {
        let a = series(&[Some(12), Some(9), Some(20)]);
        let b = series(&[Some(8), None]);
        let profile = Profile::from_tasks(&[vec![&a], vec![&b]], 8);
        let row = |i: usize| {
            let p = profile.iterations[i - 1];
            (p.active, p.regression_rate, p.regression_magnitude)
        };
        // 1: b loses 2 of 10. 2: a loses 3 of 12, b all 8. 3: only a is left.
        assert_eq!(row(1), (2, Some(0.5), Some(0.2)));
        assert_eq!(row(2), (2, Some(1.0), Some((0.25 + 1.0) / 2.0)));
        assert_eq!(row(3), (1, Some(0.0), None));
        assert_eq!(row(4), (0, None, None));
        // Three rates 0.5, 1, 0: r = -0.5. Two magnitudes: undefined.
        assert!((profile.rate_correlation.unwrap() + 0.5).abs() < 1e-12);
        assert_eq!(profile.magnitude_correlation, None);
        // Best: a 0.2, 0.2, 1; b -0.2, -0.2, and no more iterations.
        let best: Vec<f64> = profile.iterations.iter().map(|p| p.best_change).collect();
        let expect = [0.0, 0.0, 0.4, 0.4, 0.4, 0.4, 0.4, 0.4];
        assert!(best.iter().zip(expect).all(|(b, e)| (b - e).abs() < 1e-12));
        assert_eq!(
            profile
                .bins
                .iter()
                .map(|b| (b.from, b.to))
                .collect::<Vec<_>>(),
            [(1, 4), (5, 8)]
        );
    }

    #[test]
    fn samples_first() {
        let (good, bad) = (series(&[Some(12)]), series(&[Some(5)]));
        let profile = Profile::from_tasks(&[vec![&good, &bad], vec![&good]], 1);
        let only = profile.iterations[0];
        assert_eq!(only.regression_rate, Some(0.25));
        assert_eq!(only.regression_magnitude, Some(0.5));
        assert!((only.best_change - (-0.15 + 0.2) / 2.0).abs() < 1e-12);
    }

    #[test]
    fn empty_profiles() {
        let profile = Profile::from_tasks(&[], 20);
        assert_eq!(profile.bins.len(), 5);
        assert_eq!(
            (profile.rate_correlation, profile.magnitude_correlation),
            (None, None)
        );
        let unmoved = series(&[]);
        let still = Profile::from_tasks(&[vec![&unmoved]], 3);
        assert_eq!(still.iterations[0].active, 0);
        assert_eq!(still.bins[0].to, 3);
    }
}
