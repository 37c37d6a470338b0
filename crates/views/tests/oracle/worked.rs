//! The running example of `docs/metrics.md`: three tasks of two repositories
//! with only counts, N = 8. Every number of that page's example is here.

use swe_ci_core::metrics::{Convention, Gamma};
use swe_ci_views::leaderboard::{Entry, UncertaintyModel};

use super::cases::{CountedTask, leaderboard};
use super::scores::imported_run;

/// A and C are of one repository, B of another.
fn run() -> Entry {
    let task = |base, gap, counts: &[Option<u32>]| CountedTask {
        base,
        gap,
        samples: vec![counts.to_vec()],
    };
    let tasks = [
        task(10, 10, &[Some(12), Some(9), Some(20)]),
        task(10, 10, &[Some(8), None]),
        task(0, 5, &[Some(0), Some(5)]),
    ];
    let mut run = imported_run(&tasks, 8);
    for (task, repo) in run.tasks_mut().iter_mut().zip(["alpha", "beta", "alpha"]) {
        task.origin_mut().repo = repo.into();
    }
    run
}

fn check(name: &str, actual: impl IntoIterator<Item = f64>, expect: &[f64]) {
    let actual: Vec<f64> = actual.into_iter().collect();
    let is_close = |(a, b): (&f64, &f64)| (a - b).abs() < 1e-9;
    assert_eq!(actual.len(), expect.len(), "{name}: {actual:?}");
    assert!(
        actual.iter().zip(expect).all(is_close),
        "{name}: {actual:?}"
    );
}

#[test]
fn changes_and_scores() {
    let run = run();
    let changes = |task: usize| run.tasks[task].samples[0].reference.changes();
    check("A", changes(0), &[0.2, -0.1, 1.0]);
    check("B", changes(1), &[-0.2, -1.0]);
    check("C", changes(2), &[0.0, 1.0]);
    let scores = |gamma| run.scores(Gamma::new(gamma).unwrap(), Convention::Reference);
    let each = |gamma| scores(gamma).tasks.into_iter().map(|t| t.evoscore);
    check("γ = 1", each(1.0), &[0.7625, -0.9, 0.875]);
    check("its mean", scores(1.0).evoscore, &[0.7375 / 3.0]);
    // 2 + 4 + … + 256 = 510; A: 2 · 0.2 − 4 · 0.1 + (8 + … + 256).
    let doubled = [504.0 / 510.0, -508.4 / 510.0, 508.0 / 510.0];
    check("γ = 2", each(2.0), &doubled);
    let solved: Vec<bool> = scores(1.0).tasks.iter().map(|t| t.solved).collect();
    assert_eq!(solved, [true, false, true]);
    check("solved", scores(1.0).solved_rate, &[2.0 / 3.0]);
    check(
        "zero regression",
        scores(1.0).zero_regression_rate,
        &[1.0 / 3.0],
    );
    check("ZRR", scores(1.0).zrr, &[1.0 / 3.0]);
    check("turns", scores(1.0).average_turns, &[7.0 / 3.0]);
}

#[test]
fn iteration_by_iteration() {
    let profile = run().profile(Convention::Reference);
    let rows = || profile.iterations.iter();
    let active: Vec<u32> = rows().map(|i| i.active).collect();
    assert_eq!(active, [3, 3, 1, 0, 0, 0, 0, 0]);
    let rates = rows().filter_map(|i| i.regression_rate);
    check("rates", rates, &[1.0 / 3.0, 2.0 / 3.0, 0.0]);
    let magnitudes = rows().filter_map(|i| i.regression_magnitude);
    check("magnitudes", magnitudes, &[0.2, 0.625]);
    check(
        "correlation of the rates",
        profile.rate_correlation,
        &[-0.5],
    );
    assert_eq!(profile.magnitude_correlation, None);
    let best = rows().take(3).map(|i| i.best_change);
    check("best so far", best, &[0.0, 1.0 / 3.0, 0.6]);
    check(
        "bins",
        profile.bins.iter().map(|b| b.best_change),
        &[0.6, 0.6],
    );
}

/// Two repositories: a resample has only one of them, or both.
#[test]
fn interval() {
    let data = leaderboard(vec![run()]);
    let row = &UncertaintyModel::new(&data).rank(&data, Gamma::ONE, Convention::Reference)[0];
    let interval = row.intervals.unwrap().evoscore;
    check("interval", [interval.low, interval.high], &[-0.9, 0.81875]);
}
