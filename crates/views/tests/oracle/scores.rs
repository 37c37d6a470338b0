//! Scores, rates and profiles of whole runs, in both conventions.

use proptest::prelude::*;
use swe_ci_core::metrics::SuiteCounts;
use swe_ci_core::metrics::{Convention, Gamma, Series, Verdict};
use swe_ci_core::outcomes::Outcomes;
use swe_ci_core::recovery::recoveries;
use swe_ci_core::results::{Record, Recorded};
use swe_ci_views::leaderboard::{Effort, Entry, Sample};

use super::book::{self, Counted};
use super::cases::{
    CountedTask, TestedIteration, TestedTask, counted_run, entry, gamma, leaderboard, tested_run,
};

type Verified = Result<(), TestCaseError>;

pub fn close(what: &str, ours: f64, book: f64) -> Verified {
    prop_assert!(
        (ours - book).abs() < 1e-9,
        "{what}: {ours}, by the book {book}"
    );
    Ok(())
}

fn both(what: &str, ours: Option<f64>, book: Option<f64>) -> Verified {
    match (ours, book) {
        (Some(ours), Some(book)) => close(what, ours, book),
        _ => {
            prop_assert_eq!(ours, book, "{}", what);
            Ok(())
        }
    }
}

fn yes(holds: bool) -> f64 {
    if holds { 1.0 } else { 0.0 }
}

/// Compares every number of a run.
fn agree(entry: &Entry, tasks: &[Vec<Counted>], gamma: f64, convention: Convention) -> Verified {
    let n = entry.max_iterations as usize;
    let data = leaderboard(vec![entry.clone()]);
    let rows = data.rank(Gamma::new(gamma).unwrap(), convention);
    let [row] = rows.as_slice() else {
        return Err(TestCaseError::fail("a scored run has one row"));
    };
    let evoscore = book::average(tasks, |s| s.evoscore(gamma, n));
    close("EvoScore", row.evoscore, evoscore)?;
    let clean = book::average(tasks, |s| yes(s.zero_regression));
    close("zero regression", row.zero_regression_rate, clean)?;
    close(
        "solved",
        row.solved_rate,
        book::average(tasks, |s| yes(s.solved)),
    )?;
    close(
        "turns",
        row.average_turns,
        book::average(tasks, Counted::turns),
    )?;
    close(
        "ZRR",
        row.zrr,
        book::average(tasks, |s| yes(s.solved && s.zero_regression)),
    )?;
    let scores = entry.scores(Gamma::new(gamma).unwrap(), convention);
    prop_assert_eq!(scores.tasks.len(), tasks.iter().flatten().count());
    for (ours, sample) in scores.tasks.iter().zip(tasks.iter().flatten()) {
        close("EvoScore of one", ours.evoscore, sample.evoscore(gamma, n))?;
        prop_assert_eq!(ours.solved, sample.solved);
        prop_assert_eq!(ours.zero_regression, sample.zero_regression);
    }
    profiles_agree(entry, tasks, convention)
}

fn profiles_agree(entry: &Entry, tasks: &[Vec<Counted>], convention: Convention) -> Verified {
    let profile = entry.profile(convention);
    let (mut rates, mut magnitudes) = (Vec::new(), Vec::new());
    prop_assert_eq!(profile.iterations.len(), entry.max_iterations as usize);
    for (i, ours) in (1..).zip(&profile.iterations) {
        let at = book::at(tasks, i);
        prop_assert_eq!(ours.active, at.active);
        both("regression rate", ours.regression_rate, at.rate)?;
        both(
            "regression magnitude",
            ours.regression_magnitude,
            at.magnitude,
        )?;
        close("best change", ours.best_change, at.best)?;
        rates.extend(at.rate.map(|rate| (i as f64, rate)));
        magnitudes.extend(at.magnitude.map(|magnitude| (i as f64, magnitude)));
    }
    both(
        "rate correlation",
        profile.rate_correlation,
        book::pearson(&rates),
    )?;
    both(
        "magnitude correlation",
        profile.magnitude_correlation,
        book::pearson(&magnitudes),
    )?;
    for (index, bin) in profile.bins.iter().enumerate() {
        let last = (4 * index + 4).min(entry.max_iterations as usize);
        prop_assert_eq!((bin.from as usize, bin.to as usize), (4 * index + 1, last));
        close("bin", bin.best_change, book::at(tasks, last).best)?;
    }
    Ok(())
}

/// The sample of an import.
fn imported(task: &CountedTask, counts: &[Option<u32>], n: u32) -> Sample {
    let recorded = |passed: &Option<u32>| Recorded {
        passed: *passed,
        solved: false,
        architect: None,
        programmer: None,
    };
    let record = Record {
        base_passed: task.base,
        gap: task.gap,
        iterations: counts.iter().map(recorded).collect(),
    };
    let count = |convention| Series::count(convention, record.suite(), n, &record.verdicts());
    Sample {
        number: 1,
        paper: count(Convention::Paper),
        reference: count(Convention::Reference).unwrap(),
        style: None,
        effort: Effort::default(),
        generalisation: None,
        cheating: None,
    }
}

/// The sample as the engine counts it: against the last scored code; a
/// collapse passes no test.
fn measured(task: &TestedTask, iterations: &[TestedIteration], n: u32) -> Sample {
    let base = Outcomes::from_letters(task.base.clone());
    let gone = Outcomes::from_letters("-".repeat(task.base.len()));
    let mut before = base.clone();
    let mut verdicts = Vec::new();
    for iteration in iterations {
        verdicts.push(match &iteration.letters {
            None => Verdict::Collapsed {
                lost: gone.lost_since(&before),
            },
            Some(letters) => {
                let now = Outcomes::from_letters(letters.clone());
                let lost = now.lost_since(&before);
                before = now;
                Verdict::Scored {
                    in_target: before.passed(),
                    passed: before.passed() + iteration.beside,
                    lost,
                }
            }
        });
    }
    let suite = SuiteCounts {
        base_in_target: base.passed(),
        target: u32::try_from(task.base.len()).unwrap(),
        base_passed: base.passed() + task.beside,
        counts_only: false,
    };
    Sample {
        number: 1,
        paper: Series::count(Convention::Paper, suite, n, &verdicts),
        reference: Series::count(Convention::Reference, suite, n, &verdicts).unwrap(),
        style: None,
        effort: Effort::default(),
        generalisation: None,
        cheating: None,
    }
}

fn run<T>(n: u32, tasks: &[T], samples: impl Fn(&T) -> Vec<Sample>) -> Entry {
    let named = tasks.iter().enumerate();
    let tasks = named.map(|(at, task)| (format!("task-{at}"), format!("r{at}"), samples(task)));
    entry("m", n, tasks.collect())
}

pub fn imported_run(tasks: &[CountedTask], n: u32) -> Entry {
    run(n, tasks, |task| {
        task.samples
            .iter()
            .map(|counts| imported(task, counts, n))
            .collect()
    })
}

pub fn measured_run(tasks: &[TestedTask], n: u32) -> Entry {
    run(n, tasks, |task| {
        task.samples
            .iter()
            .map(|iterations| measured(task, iterations, n))
            .collect()
    })
}

/// Both conventions of a task with known outcomes, by hand.
fn by_hand(task: &TestedTask, iterations: &[TestedIteration], n: usize) -> [Counted; 2] {
    let letters: Vec<Option<String>> = iterations.iter().map(|i| i.letters.clone()).collect();
    let count = |i: &TestedIteration| {
        let passing = book::passing(i.letters.as_ref()?).len();
        Some(u32::try_from(passing).unwrap() + i.beside)
    };
    let counts: Vec<Option<u32>> = iterations.iter().map(count).collect();
    let paper = Counted::by_test(&task.base, &letters, n);
    let (base, gap) = (paper.base + task.beside, paper.target - paper.base);
    let reference = Counted::by_count(base, gap, &counts, n);
    [paper, reference]
}

proptest! {
    #[test]
    fn imported_counts_by_the_book(tasks in counted_run(), n in 1u32..=21, gamma in gamma()) {
        let entry = imported_run(&tasks, n);
        let by_hand: Vec<Vec<Counted>> = tasks.iter().map(|task| {
            let count = |counts: &Vec<_>| Counted::by_count(task.base, task.gap, counts, n as usize);
            task.samples.iter().map(count).collect()
        }).collect();
        agree(&entry, &by_hand, gamma, Convention::Reference)?;
        prop_assert!(!entry.is_scored(Convention::Paper));
    }

    #[test]
    fn measured_tests_by_the_book(tasks in tested_run(), n in 1u32..=17, gamma in gamma()) {
        let entry = measured_run(&tasks, n);
        for (index, convention) in [Convention::Paper, Convention::Reference].into_iter().enumerate() {
            let counted: Vec<Vec<Counted>> = tasks.iter().map(|task| {
                task.samples.iter().map(|s| by_hand(task, s, n as usize)[index].clone()).collect()
            }).collect();
            agree(&entry, &counted, gamma, convention)?;
        }
    }

    #[test]
    fn recoveries_by_the_book(tasks in tested_run()) {
        for (task, sample) in tasks.iter().flat_map(|t| t.samples.iter().map(move |s| (t, s))) {
            let letters: Vec<Option<String>> = sample.iter().map(|i| i.letters.clone()).collect();
            let outcomes: Vec<Option<Outcomes>> =
                letters.iter().map(|l| l.clone().map(Outcomes::from_letters)).collect();
            let rows: Vec<Option<&Outcomes>> = outcomes.iter().map(Option::as_ref).collect();
            let ours: Vec<_> = recoveries(&Outcomes::from_letters(task.base.clone()), &rows)
                .into_iter()
                .map(|r| (r.iteration, r.after))
                .collect();
            prop_assert_eq!(ours, book::recoveries(&task.base, &letters));
        }
    }
}
