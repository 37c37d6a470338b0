//! Properties that hold for all runs. Properties of a single formula are next
//! to it in `core/src`.

use proptest::prelude::*;
use proptest::sample::Index;
use swe_ci_core::metrics::{Convention, Gamma, Weights};
use swe_ci_views::leaderboard::{Entry, Row, UncertaintyModel};

use super::cases::{CountedTask, counted_run, gamma, leaderboard, tested_run};
use super::scores::{close, imported_run, measured_run};

fn row(run: &Entry, gamma: f64) -> Row {
    let data = leaderboard(vec![run.clone()]);
    let model = UncertaintyModel::with(&data, 50, 1);
    let gamma = Gamma::new(gamma).unwrap();
    model.rank(&data, gamma, Convention::Reference).remove(0)
}

/// All normalized changes of a run in a convention, one list per sample.
fn changes(run: &Entry, convention: Convention) -> Vec<Vec<f64>> {
    let samples = run.tasks.iter().flat_map(|task| &task.samples);
    samples
        .filter_map(|s| s.series(convention))
        .map(|series| series.changes().collect())
        .collect()
}

/// Makes an iteration of a sample worse than the code before it, if there is
/// an iteration and a passing test.
fn with_a_regression(mut tasks: Vec<CountedTask>, at: (Index, Index, Index)) -> Vec<CountedTask> {
    let task = at.0.index(tasks.len());
    let task = &mut tasks[task];
    let target = task.base + task.gap;
    let sample = at.1.index(task.samples.len());
    let counts = &mut task.samples[sample];
    if counts.is_empty() {
        return tasks;
    }
    let place = at.2.index(counts.len());
    let before = counts[..place].iter().rev().find_map(|n| *n);
    let before = before.unwrap_or(task.base).min(target);
    if before > 0 {
        counts[place] = Some(before - 1);
    }
    tasks
}

proptest! {
    #[test]
    fn changes_and_scores_stay_within_one(tasks in tested_run(), n in 1u32..=17, gamma in gamma()) {
        let run = measured_run(&tasks, n);
        let weights = Weights::new(Gamma::new(gamma).unwrap(), n);
        for changes in Convention::ALL.into_iter().flat_map(|c| changes(&run, c)) {
            let low = changes.iter().copied().reduce(f64::min).unwrap_or(0.0);
            let high = changes.iter().copied().reduce(f64::max).unwrap_or(0.0);
            let e = weights.evoscore(changes.iter().copied());
            prop_assert!(-1.0 <= low && high <= 1.0, "{changes:?}");
            prop_assert!(low - 1e-9 <= e && e <= high + 1e-9, "{e} of {changes:?}");
        }
    }

    /// Scores, rates and turns; intervals too, as long as tasks stay with
    /// their repositories.
    #[test]
    fn the_order_of_tasks_changes_nothing(
        (tasks, shuffled) in counted_run().prop_flat_map(|tasks| {
            let order: Vec<usize> = (0..tasks.len()).collect();
            (Just(tasks), Just(order).prop_shuffle())
        }),
        gamma in gamma(),
    ) {
        let run = imported_run(&tasks, 20);
        let mut turned = run.clone();
        *turned.tasks_mut() = shuffled.iter().map(|at| run.tasks[*at].clone()).collect();
        let (there, back) = (row(&run, gamma), row(&turned, gamma));
        close("EvoScore", back.evoscore, there.evoscore)?;
        close("zero regression", back.zero_regression_rate, there.zero_regression_rate)?;
        close("solved", back.solved_rate, there.solved_rate)?;
        close("turns", back.average_turns, there.average_turns)?;
        prop_assert_eq!(there.intervals.is_some(), back.intervals.is_some());
        if let (Some(there), Some(back)) = (there.intervals, back.intervals) {
            close("low", back.evoscore.low, there.evoscore.low)?;
            close("high", back.evoscore.high, there.evoscore.high)?;
        }
    }

    #[test]
    fn one_more_regression_never_raises_the_zero_regression_rate(
        tasks in counted_run(),
        at in any::<(Index, Index, Index)>(),
    ) {
        let before = row(&imported_run(&tasks, 20), 1.0).zero_regression_rate;
        let after = row(&imported_run(&with_a_regression(tasks, at), 20), 1.0).zero_regression_rate;
        prop_assert!(after <= before + 1e-12, "{before} became {after}");
    }

    #[test]
    fn with_gamma_one_it_is_the_mean(changes in prop::collection::vec(-1.0f64..=1.0, 1..50)) {
        let e = Weights::new(Gamma::ONE, changes.len() as u32).evoscore(changes.iter().copied());
        close("EvoScore", e, changes.iter().sum::<f64>() / changes.len() as f64)?;
    }

    /// The weight of all iterations but the last is below 1 / γ, so it tends
    /// to the last value as γ grows; N = 1,000 overflows nothing.
    #[test]
    fn the_greater_gamma_the_more_the_end_counts(
        changes in prop::collection::vec(-1.0f64..=1.0, 1..1_000),
        gamma in 1.01f64..=10.0,
    ) {
        let last = changes[changes.len() - 1];
        for n in [changes.len() as u32, 1_000] {
            let e = Weights::new(Gamma::new(gamma).unwrap(), n).evoscore(changes.iter().copied());
            prop_assert!((e - last).abs() <= 2.0 / gamma + 1e-9, "{e} and {last}");
        }
    }
}
