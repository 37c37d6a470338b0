//! EvoScore against the tokens per task. Not in the paper.

use serde::{Deserialize, Serialize};
use swe_ci_core::uncertainty::Interval;

use super::{Cell, Column, LeftOut, Study, Subject, Table};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Spending {
    /// From the fewest tokens to the most.
    pub points: Vec<Spent>,
    pub left_out: LeftOut,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Spent {
    pub run: Subject,
    /// Sent and received tokens, the mean over the scored evolutions; above 0.
    pub tokens: f64,
    pub evoscore: f64,
    pub interval: Option<Interval>,
    /// No other run has both fewer tokens and a better score.
    pub on_front: bool,
}

pub fn spending(study: &Study) -> Spending {
    let (mut points, left_out) = study.each("their tokens were not counted", |run, entry, row| {
        let usage = entry.usage?;
        let total = usage.input_tokens as f64 + usage.output_tokens as f64;
        let evolutions: usize = entry.tasks.iter().map(|task| task.samples.len()).sum();
        (total > 0.0 && evolutions > 0).then(|| Spent {
            run,
            tokens: total / evolutions as f64,
            evoscore: row.evoscore,
            interval: row.intervals.map(|i| i.evoscore),
            on_front: false,
        })
    });
    points.sort_by(|a, b| {
        let cheaper = a.tokens.total_cmp(&b.tokens);
        cheaper.then_with(|| b.evoscore.total_cmp(&a.evoscore))
    });
    let mut best = f64::NEG_INFINITY;
    for point in &mut points {
        point.on_front = point.evoscore > best;
        best = best.max(point.evoscore);
    }
    Spending { points, left_out }
}

impl Spending {
    pub(super) fn table(&self) -> Table {
        let [score, low, high] = Column::with_interval("evoscore", "EvoScore");
        let tokens = Column::new("tokens_per_task", "Tokens per task");
        let on_front = Column::new("on_front", "On the front");
        let rows = self.points.iter().map(|point| {
            let [score, low, high] = Cell::with_interval(Some(point.evoscore), point.interval, 3);
            let tokens = Cell::number(Some(point.tokens), 0);
            let on_front = if point.on_front { "yes" } else { "no" };
            let on_front = Cell::Text(on_front.to_owned());
            (&point.run, [tokens, score, low, high, on_front])
        });
        Table::of_runs([tokens, score, low, high, on_front], rows)
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{RunSpec, leaderboard, with_study};
    use super::*;

    #[test]
    fn by_hand() {
        let run = |model, tokens, score: &'static [&'static [f64]]| RunSpec {
            tokens,
            ..RunSpec::new(model, score)
        };
        let data = leaderboard(&[
            run("dear and good", Some(9_000), &[&[0.8], &[0.8]]),
            run("cheap", Some(1_000), &[&[0.4], &[0.4]]),
            run("dear and bad", Some(8_000), &[&[0.3], &[0.3]]),
            run("silent", None, &[&[0.9], &[0.9]]),
            run("nothing", Some(0), &[&[0.9], &[0.9]]),
        ]);
        with_study(&data, 1.0, |study| {
            let data = spending(study);
            let points: Vec<(&str, f64, bool)> = data
                .points
                .iter()
                .map(|p| (p.run.model.as_str(), p.tokens, p.on_front))
                .collect();
            // Two tasks each, so half of the total.
            assert_eq!(
                points,
                [
                    ("cheap", 500.0, true),
                    ("dear and bad", 4_000.0, false),
                    ("dear and good", 4_500.0, true)
                ]
            );
            assert_eq!(data.left_out.models, ["nothing", "silent"]);
        });
    }
}
