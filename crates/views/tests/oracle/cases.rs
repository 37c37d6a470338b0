//! Generated runs for the comparison: common and pathological ones.

use proptest::prelude::*;
use proptest::sample::Index;
use swe_ci_views::leaderboard::{Entry, Sample, ScoredTask};
use swe_ci_views::testing;

pub use swe_ci_views::testing::leaderboard;

/// A task with only counts.
#[derive(Debug, Clone)]
pub struct CountedTask {
    pub base: u32,
    pub gap: u32,
    /// For each sample, the number of passing tests after each iteration.
    pub samples: Vec<Vec<Option<u32>>>,
}

/// A task with known outcomes; one letter for each test of T.
#[derive(Debug, Clone)]
pub struct TestedTask {
    pub base: String,
    /// Tests outside T that the base passes.
    pub beside: u32,
    pub samples: Vec<Vec<TestedIteration>>,
}

#[derive(Debug, Clone)]
pub struct TestedIteration {
    /// `None` where the code collapsed.
    pub letters: Option<String>,
    /// Tests outside T that pass.
    pub beside: u32,
}

pub fn gamma() -> impl Strategy<Value = f64> {
    prop_oneof![Just(1.0), Just(0.1), Just(10.0), 0.1f64..=10.0]
}

/// Counts around the base and the target, and above it; some sequences never
/// fall, most are shorter or longer than N.
fn counts() -> impl Strategy<Value = Vec<Option<u32>>> {
    let count = prop_oneof![1 => Just(None), 6 => (0u32..50).prop_map(Some)];
    let any = prop::collection::vec(count, 0..25);
    (any, one_in_four()).prop_map(|(mut counts, rising)| {
        if rising {
            counts.retain(Option::is_some);
            counts.sort_unstable();
        }
        counts
    })
}

fn one_in_four() -> impl Strategy<Value = bool> {
    prop::bool::weighted(0.25)
}

fn small() -> impl Strategy<Value = u32> {
    prop_oneof![1 => Just(0u32), 4 => 0u32..25]
}

pub fn counted_run() -> impl Strategy<Value = Vec<CountedTask>> {
    let samples = prop::collection::vec(counts(), 1..4);
    let task = (small(), small(), samples).prop_map(|(base, gap, samples)| CountedTask {
        base,
        gap,
        samples,
    });
    prop::collection::vec(task, 1..5)
}

fn letter() -> impl Strategy<Value = char> {
    prop_oneof![6 => Just('p'), 1 => prop::sample::select(vec!['f', 'e', 's', 'x', 'X', '-'])]
}

/// The changes of an iteration to the last scored code; `None` collapses.
type Edits = Option<Vec<(Index, char)>>;

fn edits() -> impl Strategy<Value = Edits> {
    let some = prop::collection::vec((any::<Index>(), letter()), 0..6);
    prop_oneof![1 => Just(None), 8 => some.prop_map(Some)]
}

fn apply_edits(base: &str, sample: Vec<(Edits, u32)>) -> Vec<TestedIteration> {
    let mut code: Vec<char> = base.chars().collect();
    let iteration = |(edits, beside): (Edits, u32)| TestedIteration {
        letters: edits.map(|edits| {
            for (at, letter) in edits {
                // An empty T has nothing to change.
                if !code.is_empty() {
                    let at = at.index(code.len());
                    code[at] = letter;
                }
            }
            code.iter().collect()
        }),
        beside,
    };
    sample.into_iter().map(iteration).collect()
}

pub fn tested_run() -> impl Strategy<Value = Vec<TestedTask>> {
    let base = prop::collection::vec(prop_oneof![letter(), Just('f')], 0..20);
    let samples = prop::collection::vec(prop::collection::vec((edits(), 0u32..4), 0..15), 1..4);
    let task = (base, 0u32..4, samples).prop_map(|(base, beside, samples)| {
        let base: String = base.into_iter().collect();
        let samples = samples.into_iter().map(|s| apply_edits(&base, s)).collect();
        TestedTask {
            base,
            beside,
            samples,
        }
    });
    prop::collection::vec(task, 1..5)
}

/// A run of the leaderboard; each task with its repository.
pub fn entry(model: &str, n: u32, tasks: Vec<(String, String, Vec<Sample>)>) -> Entry {
    let tasks = tasks.into_iter().map(|(task, repo, samples)| ScoredTask {
        origin: testing::origin(task, repo),
        revision: None,
        samples,
    });
    testing::run(model, n, tasks.collect())
}
