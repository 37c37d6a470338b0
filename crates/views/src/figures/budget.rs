//! EvoScore with fewer iterations. Not in the paper.

use super::{Line, Lines, Study};
use crate::leaderboard::Entry;

/// For n = 1 … N, the EvoScore of the run if it had only n iterations. Its
/// first n iterations would be the same, because an agent does not know N.
#[must_use]
pub fn budget(study: &Study<'_>) -> Lines {
    let lines: Vec<Line> = study
        .runs()
        .map(|(run, entry, _)| Line {
            run,
            values: scores(study, entry),
        })
        .collect();
    let longest = lines.iter().map(|line| line.values.len()).max();
    let steps = 1..=longest.unwrap_or(0);
    Lines {
        along: "iterations counted".into(),
        value: "EvoScore".into(),
        prefix: "first".into(),
        steps: steps.map(|n| n.to_string()).collect(),
        lines,
    }
    .sorted()
}

fn scores(study: &Study<'_>, entry: &Entry) -> Vec<f64> {
    let mut shorter = entry.clone();
    let score = |n| {
        shorter.max_iterations = n;
        shorter.evoscore(study.gamma, study.convention)
    };
    (1..=entry.max_iterations).map_while(score).collect()
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{RunSpec, leaderboard, with_study};
    use super::*;

    /// Two tasks, changes 1, 0 and 0.5 (padded). γ = 1: after one iteration
    /// (1 + 0.5) / 2, after two (0.5 + 0.5) / 2. γ = 2: the weights of two
    /// iterations are 1/3 and 2/3, so (1/3 + 0.5) / 2.
    #[test]
    fn by_hand() {
        let data = leaderboard(&[RunSpec::new("a", &[&[1.0, 0.0], &[0.5]])]);
        let check = |gamma, expect: [f64; 2]| {
            with_study(&data, gamma, |study| {
                let lines = budget(study);
                assert_eq!(lines.steps, ["1", "2"]);
                let values = &lines.lines[0].values;
                assert!(
                    values
                        .iter()
                        .zip(expect)
                        .all(|(v, e)| (v - e).abs() < 1e-12),
                    "γ {gamma}: {values:?}"
                );
                // With all iterations it is the run's score.
                assert_eq!(values.last(), Some(&study.rows[0].evoscore));
            });
        };
        check(1.0, [0.75, 0.5]);
        check(2.0, [0.75, 5.0 / 12.0]);
    }
}
