//! How long regressions lasted.

use serde::{Deserialize, Serialize};

use crate::outcomes::Outcomes;
use crate::report::Outcome;

/// How long an iteration's regression lasted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Recovery {
    /// The iteration that broke something, from 1.
    pub iteration: u32,
    /// Iterations until all it broke passed again, from 1; absent when the
    /// evolution ended before that.
    pub after: Option<u32>,
}

/// The time to repair each regression: the number of iterations until every
/// test lost there passes again on the same code. Collapsed iterations pass no
/// test, so they repair nothing.
///
/// `iterations` are the outcomes after each one, `None` where it collapsed.
pub fn recoveries(base: &Outcomes, iterations: &[Option<&Outcomes>]) -> Vec<Recovery> {
    let mut before = base;
    let mut result = Vec::new();
    for (index, outcomes) in iterations.iter().enumerate() {
        let lost = lost_tests(before, *outcomes);
        if !lost.is_empty() {
            let repaired = |later: &&Outcomes| passes_all(later, &lost);
            let after = (1..)
                .zip(&iterations[index + 1..])
                .find(|(_, later)| later.as_ref().is_some_and(repaired));
            result.push(Recovery {
                iteration: u32::try_from(index + 1).unwrap_or(u32::MAX),
                after: after.map(|(distance, _)| distance),
            });
        }
        before = outcomes.unwrap_or(before);
    }
    result
}

/// Positions that pass before and not after.
fn lost_tests(before: &Outcomes, after: Option<&Outcomes>) -> Vec<usize> {
    let passing = |o: Outcome| o == Outcome::Passed;
    let mut now = after.map(Outcomes::iter);
    let mut lost = Vec::new();
    for (position, then) in before.iter().enumerate() {
        let still = now.as_mut().and_then(Iterator::next).is_some_and(passing);
        if passing(then) && !still {
            lost.push(position);
        }
    }
    lost
}

fn passes_all(outcomes: &Outcomes, positions: &[usize]) -> bool {
    let letters = outcomes.letters().as_bytes();
    positions.iter().all(|at| letters.get(*at) == Some(&b'p'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recovery() {
        let check = |base: &str, iterations: &[&str], expect: &[(u32, Option<u32>)]| {
            let outcomes = |s: &str| Outcomes::from_letters(s.into());
            let rows: Vec<Option<Outcomes>> = iterations
                .iter()
                .map(|s| (*s != "collapsed").then(|| outcomes(s)))
                .collect();
            let rows: Vec<Option<&Outcomes>> = rows.iter().map(Option::as_ref).collect();
            let actual: Vec<_> = recoveries(&outcomes(base), &rows)
                .into_iter()
                .map(|r| (r.iteration, r.after))
                .collect();
            assert_eq!(actual, expect, "{base} {iterations:?}");
        };
        check("ppf", &[], &[]);
        check("ppf", &["ppp"], &[]);
        // The first test is lost and comes back two iterations later.
        check("ppf", &["fpp", "fpp", "ppp"], &[(1, Some(2))]);
        check("ppf", &["fpp", "fpp"], &[(1, None)]);
        // Two are lost at different times; each has its own count.
        check(
            "ppf",
            &["fpf", "ff-", "pff", "ppp"],
            &[(1, Some(2)), (2, Some(2))],
        );
        // A collapse loses everything; the next good code repairs it.
        check("ppf", &["collapsed", "ppf"], &[(1, Some(1))]);
        check(
            "ppf",
            &["collapsed", "collapsed", "pff"],
            &[(1, None), (2, None), (3, None)],
        );
        check("ff", &["collapsed"], &[]);
    }
}
