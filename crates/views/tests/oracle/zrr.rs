//! Zero-regression resolution, from its definition alone: an evolution has it
//! if it is resolved and nothing ever broke. Counted here from the letters of the
//! tests, without the rates that it joins.

use std::cell::Cell;

use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::{Config, TestRunner};
use swe_ci_core::metrics::{Convention, Gamma};
use swe_ci_views::leaderboard::Entry;

use super::cases::{TestedIteration, TestedTask, leaderboard};
use super::scores::{close, measured_run};

/// An iteration of an agent that mostly improves the code.
#[derive(Debug, Clone)]
enum Work {
    Repairs(Index),
    Breaks(Index),
    Collapses,
}

fn work() -> impl Strategy<Value = Work> {
    prop_oneof![
        12 => any::<Index>().prop_map(Work::Repairs),
        1 => any::<Index>().prop_map(Work::Breaks),
        1 => Just(Work::Collapses),
    ]
}

impl Work {
    /// The letters afterwards; none where the code collapsed.
    fn on(&self, code: &mut String) -> Option<String> {
        let mut letters: Vec<char> = code.chars().collect();
        match self {
            Self::Collapses => return None,
            Self::Repairs(share) => {
                let mut failing: Vec<&mut char> =
                    letters.iter_mut().filter(|l| **l != 'p').collect();
                let repaired = share.index(failing.len() + 2).min(failing.len());
                failing[..repaired].iter_mut().for_each(|l| **l = 'p');
            }
            Self::Breaks(test) if !letters.is_empty() => {
                let test = test.index(letters.len());
                letters[test] = 'f';
            }
            Self::Breaks(_) => {}
        }
        *code = letters.into_iter().collect();
        Some(code.clone())
    }
}

fn experiment() -> impl Strategy<Value = Vec<TestedTask>> {
    let base = prop::collection::vec(prop::sample::select(vec!['p', 'f', 'e', '-']), 0..12);
    let sample = prop::collection::vec((work(), 0u32..3), 0..9);
    let task = (base, 0u32..3, prop::collection::vec(sample, 1..4));
    let task = task.prop_map(|(base, beside, samples)| {
        let base: String = base.into_iter().collect();
        let course = |sample: Vec<(Work, u32)>| {
            let mut code = base.clone();
            let iteration = |(work, beside): (Work, u32)| TestedIteration {
                letters: work.on(&mut code),
                beside,
            };
            sample.into_iter().map(iteration).collect()
        };
        let samples = samples.into_iter().map(course).collect();
        TestedTask {
            base,
            beside,
            samples,
        }
    });
    prop::collection::vec(task, 1..5)
}

/// Test by test: no test that passed on the last code that ran stops passing, and
/// all of T passes in the end.
fn by_test(task: &TestedTask, iterations: &[TestedIteration]) -> bool {
    let mut last_run = task.base.clone();
    let mut end = task.base.clone();
    for iteration in iterations {
        let nothing = || "-".repeat(task.base.len());
        let now = iteration.letters.clone().unwrap_or_else(nothing);
        let pairs = last_run.chars().zip(now.chars());
        if pairs.into_iter().any(|(was, is)| was == 'p' && is != 'p') {
            return false;
        }
        end.clone_from(&now);
        if iteration.letters.is_some() {
            last_run = now;
        }
    }
    end.chars().all(|letter| letter == 'p')
}

/// By counts, as the authors' program does: the most tests that ever passed are
/// as many as the target's, and the number never falls.
fn by_count(task: &TestedTask, iterations: &[TestedIteration]) -> bool {
    let passing = |letters: &str| letters.matches('p').count() as u32;
    let base = passing(&task.base) + task.beside;
    let target = task.base.len() as u32 + task.beside;
    let counted = iterations.iter().map(|iteration| {
        let letters = iteration.letters.as_deref();
        letters.map_or(0, |letters| passing(letters) + iteration.beside)
    });
    let sequence: Vec<u32> = [base]
        .into_iter()
        .chain(counted.map(|count| count.min(target)))
        .collect();
    sequence.iter().max() == Some(&target) && sequence.is_sorted()
}

type Judge = fn(&TestedTask, &[TestedIteration]) -> bool;

/// The mean over the samples of a task, then over tasks.
fn zrr(tasks: &[TestedTask], n: u32, judge: Judge) -> f64 {
    let of_task = |task: &TestedTask| {
        let used = |sample: &Vec<TestedIteration>| sample.len().min(n as usize);
        let samples = task.samples.iter();
        let resolved = samples.filter(|sample| judge(task, &sample[..used(sample)]));
        resolved.count() as f64 / task.samples.len() as f64
    };
    tasks.iter().map(of_task).sum::<f64>() / tasks.len() as f64
}

fn agree(entry: &Entry, tasks: &[TestedTask], n: u32) -> Result<[f64; 2], TestCaseError> {
    let judges: [(Convention, Judge); 2] = [
        (Convention::Paper, by_test),
        (Convention::Reference, by_count),
    ];
    let mut seen = [0.0; 2];
    for (seen, (convention, judge)) in seen.iter_mut().zip(judges) {
        *seen = zrr(tasks, n, judge);
        let rows = leaderboard(vec![entry.clone()]).rank(Gamma::ONE, convention);
        close("ZRR", rows[0].zrr, *seen)?;
        let scores = entry.scores(Gamma::ONE, convention);
        close("ZRR of the run", scores.zrr.unwrap_or(-1.0), *seen)?;
        let samples = tasks
            .iter()
            .flat_map(|task| task.samples.iter().map(move |sample| (task, sample)));
        for (ours, (task, sample)) in scores.tasks.iter().zip(samples) {
            let used = sample.len().min(n as usize);
            prop_assert_eq!(ours.zrr, judge(task, &sample[..used]));
        }
        prop_assert!(*seen <= rows[0].solved_rate.min(rows[0].zero_regression_rate) + 1e-9);
    }
    Ok(seen)
}

#[test]
fn made_up_experiments() {
    let config = Config::default();
    let cases = config.cases;
    let mut runner = TestRunner::new(config);
    let (mixed, apart) = (Cell::new(0), Cell::new(0));
    let compared = runner.run(&(experiment(), 1u32..=9), |(tasks, n)| {
        let [paper, reference] = agree(&measured_run(&tasks, n), &tasks, n)?;
        mixed.set(mixed.get() + u32::from(paper > 0.0 && paper < 1.0));
        apart.set(apart.get() + u32::from((paper - reference).abs() > 1e-9));
        Ok(())
    });
    compared.unwrap();
    // The experiments are not all of one kind.
    assert!(
        mixed.get() > cases / 6 && apart.get() > cases / 20,
        "{mixed:?} {apart:?}"
    );
}
