//! A comparison as a sentence. The numbers come from [`Comparison`]; the
//! wording keeps readers from mistaking luck for skill.

use swe_ci_core::metrics::SAME;
use swe_ci_core::uncertainty::{Comparison, Interval};

use crate::format;

/// "A is ahead of B by 0.08 [0.01, 0.15]; on these 40 tasks of 20
/// repositories that is unlikely to be chance (p = 0.012)."
pub fn in_words(comparison: &Comparison, first: &str, second: &str) -> String {
    let tasks = these(comparison.tasks, "task", "tasks");
    let repositories = several(comparison.repositories, "repository", "repositories");
    let basis = format!("{tasks} of {repositories}");
    if comparison.wins + comparison.losses == 0 {
        return format!("{first} and {second} score the same on {basis}.");
    }
    let far = comparison.difference.abs();
    // Small differences have three decimals.
    let places = if (SAME..0.01).contains(&far) { 3 } else { 2 };
    let by = format::decimals(far, places);
    let lead = if far <= SAME {
        format!("{first} and {second} come to the same mean score")
    } else if comparison.difference > 0.0 {
        format!("{first} is ahead of {second} by {by}")
    } else {
        format!("{second} is ahead of {first} by {by}")
    };
    let p = probability(comparison.p_value);
    let verdict = match comparison.is_tie() {
        false => format!("that is unlikely to be chance ({p})"),
        true => format!("that may be chance ({p})"),
    };
    match comparison.interval {
        Some(interval) => {
            let interval = format::interval(ahead(comparison.difference, interval), places);
            format!("{lead} {interval}; on {basis} {verdict}.")
        }
        None if comparison.repositories == 1 => {
            format!(
                "{lead} on {basis}; a single repository says nothing about how far that is chance."
            )
        }
        None => format!("{lead}; on {basis} {verdict}. So few repositories bound no difference."),
    }
}

/// The interval from the perspective of the leading run.
fn ahead(difference: f64, Interval { low, high }: Interval) -> Interval {
    if difference < 0.0 {
        Interval {
            low: -high,
            high: -low,
        }
    } else {
        Interval { low, high }
    }
}

/// "p = 0.012", "p = 0.41", "p < 0.001".
pub fn probability(p: f64) -> String {
    if p < 0.001 {
        "p < 0.001".to_owned()
    } else if p < 0.0995 {
        format!("p = {p:.3}")
    } else {
        format!("p = {p:.2}")
    }
}

/// "these 40 tasks", "this 1 task".
fn these(n: u32, one: &str, many: &str) -> String {
    let word = if n == 1 { "this" } else { "these" };
    format!("{word} {}", several(n, one, many))
}

fn several(n: u32, one: &str, many: &str) -> String {
    let noun = if n == 1 { one } else { many };
    format!("{n} {noun}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn comparison(difference: f64, interval: Option<(f64, f64)>, p_value: f64) -> Comparison {
        Comparison {
            tasks: 40,
            repositories: 20,
            difference,
            interval: interval.map(|(low, high)| Interval { low, high }),
            p_value,
            wins: 25,
            ties: 5,
            losses: 10,
        }
    }

    #[test]
    fn a_difference_in_words() {
        let check = |difference, interval, p_value, expect: &str| {
            let sentence = in_words(&comparison(difference, Some(interval), p_value), "A", "B");
            assert_eq!(sentence, expect);
        };
        let basis = "on these 40 tasks of 20 repositories";
        check(
            0.08,
            (0.01, 0.15),
            0.012,
            &format!(
                "A is ahead of B by 0.08 [0.01, 0.15]; {basis} that is unlikely to be chance (p = 0.012)."
            ),
        );
        check(
            -0.08,
            (-0.15, -0.01),
            0.0002,
            &format!(
                "B is ahead of A by 0.08 [0.01, 0.15]; {basis} that is unlikely to be chance (p < 0.001)."
            ),
        );
        check(
            -0.004,
            (-0.05, 0.042),
            0.41,
            &format!(
                "B is ahead of A by 0.004 [\u{2212}0.042, 0.050]; {basis} that may be chance (p = 0.41)."
            ),
        );
        check(
            0.05,
            (0.001, 0.1),
            0.0996,
            &format!(
                "A is ahead of B by 0.05 [0.00, 0.10]; {basis} that may be chance (p = 0.10)."
            ),
        );
        check(
            0.0,
            (-0.1, 0.1),
            1.0,
            &format!(
                "A and B come to the same mean score [\u{2212}0.10, 0.10]; {basis} that may be chance (p = 1.00)."
            ),
        );
    }

    #[test]
    fn little_data_is_stated() {
        let mut few = comparison(0.2, None, 0.25);
        (few.tasks, few.repositories) = (3, 3);
        assert_eq!(
            in_words(&few, "A", "B"),
            "A is ahead of B by 0.20; on these 3 tasks of 3 repositories that may be chance \
             (p = 0.25). So few repositories bound no difference."
        );
        let mut one = comparison(0.2, None, 1.0);
        (one.tasks, one.repositories) = (1, 1);
        assert_eq!(
            in_words(&one, "A", "B"),
            "A is ahead of B by 0.20 on this 1 task of 1 repository; a single repository says \
             nothing about how far that is chance."
        );
        let mut same = comparison(0.0, Some((0.0, 0.0)), 1.0);
        (same.wins, same.ties, same.losses) = (0, 40, 0);
        assert_eq!(
            in_words(&same, "A", "B"),
            "A and B score the same on these 40 tasks of 20 repositories."
        );
    }
}
