//! Whether a difference keeps to a bound: the statistics of a gate, which lets a
//! candidate pass that loses little against a baseline.

use serde::{Deserialize, Serialize};

use super::paired::{Difference, by_repository, interval_at};
use super::resample::{Clusters, Interval};

/// Before this many repositories no early look decides: its interval rests on the
/// central limit theorem.
const FEWEST_REPOSITORIES: usize = 10;

/// The variance of an early look counts one more repository, with a difference of
/// this size. Otherwise a few equal results would look like certainty, although
/// one repository in twenty may lose half.
const UNSEEN_DIFFERENCE: f64 = 0.5;

/// When a gate looks at two runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// Once, when both are over.
    Once,
    /// While they go on, as often as one likes, until tasks of this many
    /// repositories are done.
    Early { planned: usize },
    /// After early looks, when both are over.
    Last,
}

/// What the data says of a bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum BoundDecision {
    /// The mean difference is above the bound.
    Kept,
    /// It is below.
    Broken,
    /// The data leaves it open.
    Open,
}

/// The mean difference of candidate minus baseline, against a lower bound.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct BoundTest {
    pub bound: f64,
    /// Mean over the shared tasks.
    pub difference: f64,
    /// Of confidence 1 − `alpha`; absent with too few repositories for one.
    pub interval: Option<Interval>,
    /// The part of the error rate that this look spends, above 0 and below 1.
    pub alpha: f64,
    pub decision: BoundDecision,
}

impl BoundTest {
    /// `alpha` is the error rate of all looks together. `None` without a difference.
    pub fn of(
        differences: &[Difference],
        bound: f64,
        alpha: f64,
        look: Look,
        repositories: usize,
    ) -> Option<Self> {
        let clusters = by_repository(differences, repositories);
        let difference = clusters.mean()?;
        // Early looks spend one half, the last look the other.
        let alpha = match look {
            Look::Once => alpha,
            Look::Early { .. } | Look::Last => alpha / 2.0,
        };
        let interval = match look {
            Look::Once | Look::Last => interval_at(&clusters, alpha),
            Look::Early { planned } => at_any_time(&clusters, difference, alpha, planned),
        };
        let may_decide = match look {
            Look::Once | Look::Last => true,
            Look::Early { .. } => clusters.used() >= FEWEST_REPOSITORIES,
        };
        let decision = match interval.filter(|_| may_decide) {
            Some(interval) if interval.low > bound => BoundDecision::Kept,
            Some(interval) if interval.high < bound => BoundDecision::Broken,
            _ => BoundDecision::Open,
        };
        Some(Self {
            bound,
            difference,
            interval,
            alpha,
            decision,
        })
    }
}

/// An asymptotic confidence sequence (Waudby-Smith, Arbour, Sinha, Kennedy and
/// Ramdas, 2024): its intervals contain the true mean at all looks together with
/// probability 1 − `alpha`. The units are repositories; the interval is narrowest
/// for its size at the planned number of them.
fn at_any_time(clusters: &Clusters, mean: f64, alpha: f64, planned: usize) -> Option<Interval> {
    let units = clusters.used();
    if units < 2 {
        return None;
    }
    let n = units as f64;
    let log = -2.0 * alpha.ln();
    let rho_squared = (log + log.ln() + 1.0) / planned.max(units) as f64;
    let deviations = clusters.squared_deviations(mean) + UNSEEN_DIFFERENCE * UNSEEN_DIFFERENCE;
    let spread = n * rho_squared + 1.0;
    let factor = 2.0 * spread / (n * n * rho_squared) * (spread.sqrt() / alpha).ln();
    let half = (deviations / n * factor).sqrt();
    Some(Interval {
        low: mean - half,
        high: mean + half,
    })
}

#[cfg(test)]
mod tests {
    use rand_pcg::Pcg32;
    use rand_pcg::rand_core::{Rng, SeedableRng};

    use super::*;

    const ALPHA: f64 = 0.05;

    fn of_repositories(values: &[f64]) -> Vec<Difference> {
        let values = values.iter().enumerate();
        values
            .map(|(repository, value)| Difference {
                repository,
                value: *value,
            })
            .collect()
    }

    fn test(values: &[f64], bound: f64, look: Look) -> BoundTest {
        BoundTest::of(&of_repositories(values), bound, ALPHA, look, values.len()).unwrap()
    }

    #[test]
    fn one_look_decides_by_its_interval() {
        let check = |values: &[f64], bound: f64, expect: BoundDecision| {
            assert_eq!(
                test(values, bound, Look::Once).decision,
                expect,
                "{values:?}"
            );
        };
        let near = [0.01, -0.01, 0.0, 0.02, -0.02, 0.01, 0.0, -0.01];
        check(&near, -0.05, BoundDecision::Kept);
        check(&near, 0.05, BoundDecision::Broken);
        check(&near, 0.0, BoundDecision::Open);
        // Equal runs keep to a bound that allows a loss.
        check(&[0.0; 6], -0.02, BoundDecision::Kept);
        // Of five repositories no test can tell: 2 of 32 sign flips are as far.
        check(&[0.5; 5], -0.02, BoundDecision::Open);
        check(&[0.5], -0.02, BoundDecision::Open);
        let alone = test(&[0.5], -0.02, Look::Once);
        assert_eq!((alone.interval, alone.difference), (None, 0.5));
    }

    #[test]
    fn looks_share_the_error_rate() {
        let early = Look::Early { planned: 8 };
        let spent = [Look::Once, early, Look::Last].map(|look| test(&[0.1; 8], 0.0, look).alpha);
        assert_eq!(spent, [ALPHA, ALPHA / 2.0, ALPHA / 2.0]);
        // 2 of 64 sign flips are as far: below 5 %, but not below 2.5 %.
        assert_eq!(
            test(&[0.1; 6], 0.0, Look::Last).decision,
            BoundDecision::Open
        );
    }

    #[test]
    fn an_early_look_waits_for_repositories() {
        let look = |n: usize| test(&vec![2.0; n], 0.0, Look::Early { planned: 50 }).decision;
        assert_eq!(look(9), BoundDecision::Open);
        assert_eq!(look(10), BoundDecision::Kept);
        // Ten equal results are not certain.
        assert_eq!(
            test(&[0.0; 10], -0.02, Look::Early { planned: 50 }).decision,
            BoundDecision::Open
        );
    }

    #[test]
    fn tasks_of_one_repository_count_together() {
        let one_each: Vec<f64> = (0..20).map(|i| 0.3 + 0.1 * f64::from(i % 2)).collect();
        let early = Look::Early { planned: 20 };
        let alone = test(&one_each, 0.0, early).interval.unwrap();
        // The same tasks thrice: more tasks, but not more repositories.
        let mut thrice = Vec::new();
        for _ in 0..3 {
            thrice.extend(of_repositories(&one_each));
        }
        let thrice = BoundTest::of(&thrice, 0.0, ALPHA, early, 20).unwrap();
        assert!((thrice.interval.unwrap().low - alone.low).abs() < 1e-9);
    }

    /// The share of made-up pairs of runs, with a true mean at the bound, that are
    /// decided wrongly at any of 28 looks.
    fn wrong(
        draw: impl Fn(&mut Pcg32) -> f64,
        mut decide: impl FnMut(&[f64]) -> BoundDecision,
    ) -> f64 {
        let mut random = Pcg32::seed_from_u64(7);
        let wrong = (0..400).filter(|_| {
            let values: Vec<f64> = (0..60).map(|_| draw(&mut random)).collect();
            let mut looks = (5..=values.len()).step_by(2);
            looks.any(|n| decide(&values[..n]) == BoundDecision::Kept)
        });
        wrong.count() as f64 / 400.0
    }

    fn uniform(random: &mut Pcg32) -> f64 {
        f64::from(random.next_u32()) / f64::from(u32::MAX)
    }

    #[test]
    fn many_looks_keep_the_error_rate() {
        let bound = -0.02;
        let early = |values: &[f64]| test(values, bound, Look::Early { planned: 60 }).decision;
        // Even spread; one repository in 25 loses half; all or nothing.
        let even = |random: &mut Pcg32| bound + 0.8 * (uniform(random) - 0.5);
        let rare = |random: &mut Pcg32| if uniform(random) < 0.04 { -0.5 } else { 0.0 };
        let all = |random: &mut Pcg32| match uniform(random) {
            x if x < 0.16 => -1.0,
            x if x < 0.3 => 1.0,
            _ => 0.0,
        };
        assert!(wrong(even, early) <= ALPHA);
        assert!(wrong(rare, early) <= ALPHA);
        assert!(wrong(all, early) <= ALPHA);
        // What it is for: the interval of one look, looked at again and again.
        let again = |values: &[f64]| {
            let clusters = by_repository(&of_repositories(values), values.len());
            match interval_at(&clusters, ALPHA) {
                Some(interval) if interval.low > bound => BoundDecision::Kept,
                _ => BoundDecision::Open,
            }
        };
        assert!(wrong(even, again) > 2.0 * ALPHA);
    }

    #[test]
    fn early_looks_find_what_is_large() {
        let mut random = Pcg32::seed_from_u64(3);
        let worse: Vec<f64> = (0..20)
            .map(|_| -0.3 + 0.4 * (uniform(&mut random) - 0.5))
            .collect();
        let early = Look::Early { planned: 60 };
        assert_eq!(test(&worse, -0.02, early).decision, BoundDecision::Broken);
    }
}
