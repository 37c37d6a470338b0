//! Where the scores of successive runs change.

use rand_pcg::Pcg32;
use rand_pcg::rand_core::SeedableRng;

use super::paired::SIGNIFICANT;
use super::resample::below;
use crate::SAME;

/// Orders of the runs that a test draws.
const ORDERS: u32 = 1_999;

/// The scores of a task in successive runs, in the order of the runs.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskHistory {
    /// Below the number of repositories.
    pub repository: usize,
    /// One per run.
    pub scores: Vec<f64>,
}

/// Between two runs, the later ones score otherwise than the earlier ones.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChangePoint {
    /// The index of the first run after it, from 1.
    pub run: usize,
    /// How often chance alone produces a change at least as large at any place of
    /// its stretch of runs: above 0, below 0.05.
    pub p_value: f64,
}

/// The points at which the scores of `runs` runs change, in order. The largest
/// change is tested first, then the stretches on both sides of it, each at 5 %.
///
/// The test draws the order of the runs anew for each repository: without a change
/// all orders are equally likely. So it needs no assumption about how scores
/// spread, and tasks of one repository count together.
///
/// # Panics
/// When a task has another number of scores, or an unknown repository.
pub fn change_points(
    tasks: &[TaskHistory],
    repositories: usize,
    runs: usize,
    seed: u64,
) -> Vec<ChangePoint> {
    let mut sums = vec![vec![0.0; runs]; repositories];
    for task in tasks {
        assert_eq!(task.scores.len(), runs, "a score for each run");
        for (sum, score) in sums[task.repository].iter_mut().zip(&task.scores) {
            *sum += score;
        }
    }
    // The order of equal scores does not matter.
    sums.retain(|of_runs| of_runs.iter().any(|sum| (sum - of_runs[0]).abs() > SAME));
    let mut found = Vec::new();
    split(&sums, 0, runs, seed, &mut found);
    found.sort_unstable_by_key(|point| point.run);
    found
}

/// Looks for changes among the runs from `begin` to before `end`.
fn split(sums: &[Vec<f64>], begin: usize, end: usize, seed: u64, found: &mut Vec<ChangePoint>) {
    let mut stretch: Vec<Vec<f64>> = sums.iter().map(|of| of[begin..end].to_vec()).collect();
    let Some((run, largest)) = largest_change(&stretch) else {
        return;
    };
    let mut random = Pcg32::seed_from_u64(seed);
    let mut as_large = 1u32;
    for _ in 0..ORDERS {
        for of_runs in &mut stretch {
            shuffle(of_runs, &mut random);
        }
        let drawn = largest_change(&stretch).map_or(0.0, |(_, change)| change);
        as_large += u32::from(drawn >= largest - SAME);
    }
    // The observed order counts as one of them, so p is never 0.
    let p_value = f64::from(as_large) / f64::from(ORDERS + 1);
    if p_value < SIGNIFICANT {
        let run = begin + run;
        found.push(ChangePoint { run, p_value });
        split(sums, begin, run, seed, found);
        split(sums, run, end, seed, found);
    }
}

/// The run that begins the largest change of the sum over repositories, and its
/// size. A difference of two means counts by how many runs both rest on, as its
/// standard error does. `None` with fewer than two runs.
fn largest_change(sums: &[Vec<f64>]) -> Option<(usize, f64)> {
    let runs = sums.first()?.len();
    let total = |run: usize| -> f64 { sums.iter().map(|of_runs| of_runs[run]).sum() };
    let totals: Vec<f64> = (0..runs).map(total).collect();
    let all: f64 = totals.iter().sum();
    let mut before = 0.0;
    let mut largest: Option<(usize, f64)> = None;
    for run in 1..runs {
        before += totals[run - 1];
        let (m, n) = (run as f64, (runs - run) as f64);
        let difference = (all - before) / n - before / m;
        let change = difference.abs() * (m * n / (m + n)).sqrt();
        if largest.is_none_or(|(_, most)| change > most + SAME) {
            largest = Some((run, change));
        }
    }
    largest
}

/// Fisher and Yates.
fn shuffle(values: &mut [f64], random: &mut Pcg32) {
    for last in (1..values.len()).rev() {
        values.swap(last, below(random, last + 1));
    }
}

#[cfg(test)]
mod tests {
    use rand_pcg::rand_core::Rng;

    use super::*;

    /// Tasks of a repository each, around these means of the runs.
    fn noisy(means: &[f64], tasks: usize, spread: f64, seed: u64) -> Vec<TaskHistory> {
        let mut random = Pcg32::seed_from_u64(seed);
        let mut noise = || f64::from(random.next_u32()) / f64::from(u32::MAX) - 0.5;
        let mut task = |repository| TaskHistory {
            repository,
            scores: means.iter().map(|mean| mean + spread * noise()).collect(),
        };
        (0..tasks).map(&mut task).collect()
    }

    fn found(tasks: &[TaskHistory], runs: usize) -> Vec<usize> {
        let points = change_points(tasks, tasks.len(), runs, 1);
        points.iter().map(|point| point.run).collect()
    }

    #[test]
    fn changes_are_found_where_they_are() {
        let check = |means: &[f64], expect: &[usize]| {
            assert_eq!(found(&noisy(means, 30, 0.4, 2), means.len()), expect);
        };
        check(&[0.5; 6], &[]);
        check(&[0.5, 0.5, 0.5, 0.2, 0.2], &[3]);
        // The newest run alone.
        check(&[0.5, 0.5, 0.5, 0.2], &[3]);
        check(&[0.1, 0.1, 0.6, 0.6, 0.6, 0.1], &[2, 5]);
        check(&[0.1, 0.6], &[1]);
        check(&[0.1], &[]);
        check(&[], &[]);
    }

    #[test]
    fn too_few_repositories_show_nothing() {
        assert!(found(&noisy(&[0.0, 1.0], 4, 0.0, 1), 2).is_empty());
        assert_eq!(found(&noisy(&[0.0, 1.0], 8, 0.0, 1), 2), [1]);
        // Eight tasks of one repository are one draw.
        let mut alike = noisy(&[0.0, 1.0], 8, 0.0, 1);
        for task in &mut alike {
            task.repository = 0;
        }
        assert!(found(&alike, 2).is_empty());
        assert!(found(&[], 3).is_empty());
    }

    /// One of two runs in a repository: of four repositories 2 in 16 orders are as
    /// far apart.
    #[test]
    fn p_counts_orders() {
        let tasks = noisy(&[0.0, 1.0], 6, 0.0, 1);
        let point = change_points(&tasks, 6, 2, 1)[0];
        assert!((point.p_value - 2.0 / 64.0).abs() < 0.01, "{point:?}");
    }

    /// Without a change, one history in twenty shows one at most.
    #[test]
    fn chance_alone_rarely_looks_like_a_change() {
        let wrong = (0..200).filter(|seed| !found(&noisy(&[0.5; 5], 12, 1.0, *seed), 5).is_empty());
        assert!(wrong.count() <= 17);
    }
}
