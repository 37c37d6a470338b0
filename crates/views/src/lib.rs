//! The types of the API and the pages, and their rules: leaderboards, figures,
//! comparisons, forms, transcripts, code style. Like `swe-ci-core`, it does no
//! IO and compiles to native code and WebAssembly.

use std::cmp::{Ordering, Reverse};
use std::collections::BTreeMap;

pub mod account;
pub mod background;
pub mod browse;
pub mod card;
pub mod container;
pub mod conversation;
pub mod credentials;
pub mod curation;
pub mod dataset;
pub mod disk;
pub mod event;
pub mod failures;
pub mod figures;
pub mod finding;
pub mod handover;
pub mod host;
pub mod hub_results;
pub mod inspection;
pub mod judge;
pub mod leaderboard;
pub mod likely_tests;
pub mod notification;
pub mod pace;
pub mod preflight;
pub mod preparation;
pub mod regrade;
pub mod run_list;
pub mod run_sentence;
pub mod run_state;
pub mod schedule;
pub mod steering;
pub mod style;
pub mod submission;
pub mod submitted;
pub mod task_results;
#[doc(hidden)]
pub mod testing;
pub mod training;
pub mod trajectories;
pub mod verification;
pub mod view;
pub mod workers;

pub use swe_ci_core::format;

/// The median of sorted values: for an even number, the mean of the two in the
/// middle.
pub(crate) fn median(sorted: &[f64]) -> Option<f64> {
    let upper = *sorted.get(sorted.len() / 2)?;
    Some(f64::midpoint(sorted[(sorted.len() - 1) / 2], upper))
}

/// Compares two values; missing ones always come last.
pub(crate) fn missing_last<T>(
    a: Option<T>,
    b: Option<T>,
    compare: impl Fn(T, T) -> Ordering,
) -> Ordering {
    match (a, b) {
        (Some(a), Some(b)) => compare(a, b),
        (a, b) => b.is_some().cmp(&a.is_some()),
    }
}

/// A number of things; beyond `u32::MAX`, that many.
pub(crate) fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

/// The distinct names with their counts, the most common first, then by name.
pub fn counted<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<(String, u32)> {
    let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
    for name in names {
        *counts.entry(name).or_default() += 1;
    }
    let mut counts: Vec<(String, u32)> =
        counts.into_iter().map(|(n, c)| (n.to_owned(), c)).collect();
    // Names are sorted already, and the sort is stable.
    counts.sort_by_key(|(_, count)| Reverse(*count));
    counts
}

/// Whether each word of a search text occurs in these names, in any case.
pub(crate) fn has_words(names: &str, text: &str) -> bool {
    let (names, words) = (names.to_lowercase(), text.to_lowercase());
    words.split_whitespace().all(|word| names.contains(word))
}
