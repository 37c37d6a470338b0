//! A ranking in two sentences.

use std::borrow::Borrow;

use swe_ci_core::run::Kind;
use swe_ci_core::uncertainty::Interval;

use super::Row;
use crate::format;

/// With fewer repositories, the bootstrap intervals are too narrow.
const FEW_REPOSITORIES: usize = 10;
/// How many tied models are named; the others are counted.
const NAMED: usize = 2;

/// Who leads, by how much that can be trusted, and what it never broke: "A leads
/// with EvoScore 0.710 (95 % interval 0.60 to 0.80), tied with B. It never broke a
/// passing test in 44 % of its tasks; the human baseline, with EvoScore 1.000, in
/// 100 %." Empty without a model's row.
///
/// `rows` is a whole ranking, best first; `repositories` is the number of
/// repositories of its tasks.
pub fn verdict(rows: &[impl Borrow<Row>], repositories: usize) -> String {
    let rows = || rows.iter().map(Borrow::borrow);
    let models: Vec<&Row> = rows().filter(|row| row.kind != Kind::Human).collect();
    let human = rows().find(|row| row.kind == Kind::Human);
    let Some((leader, others)) = models.split_first() else {
        let words =
            |row: &Row| format!("The human baseline scores {}.", format::score(row.evoscore));
        return human.map(words).unwrap_or_default();
    };
    let interval = leader.intervals.map(|intervals| {
        let Interval { low, high } = intervals.evoscore;
        format!(
            " (95\u{a0}% interval {} to {})",
            format::share(low),
            format::share(high)
        )
    });
    let tied: Vec<&str> = others
        .iter()
        .take(ranks_below(leader).unwrap_or(usize::MAX))
        .take_while(|row| row.tie_group == leader.tie_group)
        .map(|row| row.model.as_str())
        .collect();
    let lead = match others {
        [] => "is the only model, with",
        _ => "leads with",
    };
    let distance = match (others.first(), tied.as_slice()) {
        (None, _) => String::new(),
        (Some(second), []) => format!(", significantly ahead of {}", second.model),
        (Some(_), tied) => format!(", tied with {}", named(tied)),
    };
    let few = (repositories < FEW_REPOSITORIES && !others.is_empty())
        .then(|| format!("With {} the order may be luck.", few(repositories)));
    let first = format!(
        "{} {lead} EvoScore {}{}{distance}.",
        leader.model,
        format::score(leader.evoscore),
        interval.unwrap_or_default()
    );
    let kept = kept(leader, human);
    let sentences = [Some(first), Some(kept), few];
    sentences
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join(" ")
}

/// "It never broke a passing test in 44 % of its tasks."
fn kept(leader: &Row, human: Option<&Row>) -> String {
    let percent = |row: &Row| format!("{:.0} %", row.zero_regression_rate * 100.0);
    let human = human.map(|human| {
        let score = format::score(human.evoscore);
        format!(
            "; the human baseline, with EvoScore {score}, in {}",
            percent(human)
        )
    });
    format!(
        "It never broke a passing test in {} of its tasks{}.",
        percent(leader),
        human.unwrap_or_default()
    )
}

/// How far down its rank is in 95 % of the resamples, at least to the next row;
/// unknown without intervals. A group of ties goes further: each of its rows is
/// tied with the one above.
fn ranks_below(row: &Row) -> Option<usize> {
    let worst = row.intervals?.rank.worst;
    Some(worst.saturating_sub(row.rank).max(1) as usize)
}

fn few(repositories: usize) -> String {
    match repositories {
        1 => "one repository".to_owned(),
        n => format!("{n} repositories"),
    }
}

/// "A", "A and B", "A, B and 3 others".
fn named(names: &[&str]) -> String {
    let (first, rest) = names.split_at(names.len().min(NAMED));
    let first_names = || first.join(", ");
    match (first, rest.len()) {
        ([a, b], 0) => format!("{a} and {b}"),
        (_, 0) => first_names(),
        (_, 1) => format!("{} and one other", first_names()),
        (_, n) => format!("{} and {n} others", first_names()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::leaderboard::Intervals;
    use crate::testing::{leaderboard, spread_run};
    use swe_ci_core::metrics::{Convention, Gamma};
    use swe_ci_core::uncertainty::RankInterval;

    #[test]
    fn a_ranking_in_sentences() {
        let row = leaderboard(vec![spread_run("m", &[&[0.5]])]).rank(Gamma::ONE, Convention::Paper);
        let ranked = |rows: &[(&str, f64, u32)]| -> Vec<Row> {
            let rows = rows.iter().map(|(model, evoscore, tie_group)| Row {
                model: (*model).to_owned(),
                evoscore: *evoscore,
                tie_group: *tie_group,
                kind: if *model == "human" {
                    Kind::Human
                } else {
                    Kind::Measured
                },
                ..row[0].clone()
            });
            rows.collect()
        };
        let check = |rows: &[(&str, f64, u32)], repositories, expect: &str| {
            assert_eq!(verdict(&ranked(rows), repositories), expect);
        };
        check(&[], 0, "");
        check(&[("human", 1.0, 1)], 4, "The human baseline scores 1.000.");
        check(
            &[("a", 0.5, 1)],
            20,
            "a is the only model, with EvoScore 0.500. It never broke a passing test in 100 % of its tasks.",
        );
        check(
            &[("human", 1.0, 1), ("a", 0.5, 2), ("b", 0.4, 3)],
            20,
            "a leads with EvoScore 0.500, significantly ahead of b. It never broke a passing test in 100 % of its tasks; the human baseline, with EvoScore 1.000, in 100 %.",
        );
        check(
            &[("a", 0.5, 1), ("b", 0.5, 1), ("c", 0.4, 2)],
            4,
            "a leads with EvoScore 0.500, tied with b. It never broke a passing test in 100 % of its tasks. With 4 repositories the order may be luck.",
        );
        // Few repositories: the leader holds its rank in all resamples, and is tied.
        let mut held = ranked(&[("a", 0.5, 1), ("b", 0.4, 1), ("c", 0.1, 1)]);
        let interval = Interval {
            low: 0.4,
            high: 0.6,
        };
        held[0].intervals = Some(Intervals {
            evoscore: interval,
            zero_regression_rate: interval,
            solved_rate: interval,
            zrr: interval,
            average_turns: interval,
            style: None,
            effort: None,
            generalisation: None,
            cheating: None,
            rank: RankInterval { best: 1, worst: 1 },
            repositories: 4,
        });
        let words = verdict(&held, 20);
        assert!(words.contains("tied with b. It never"), "{words}");
        let many = [
            ("a", 0.5, 1),
            ("b", 0.5, 1),
            ("c", 0.4, 1),
            ("d", 0.4, 1),
            ("e", 0.1, 1),
        ];
        check(
            &many,
            12,
            "a leads with EvoScore 0.500, tied with b, c and 2 others. It never broke a passing test in 100 % of its tasks.",
        );
    }

    #[test]
    fn names_in_a_row() {
        assert_eq!(named(&["a"]), "a");
        assert_eq!(named(&["a", "b"]), "a and b");
        assert_eq!(named(&["a", "b", "c"]), "a, b and one other");
    }
}
