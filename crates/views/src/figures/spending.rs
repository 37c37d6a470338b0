//! EvoScore against what a task takes: tokens, money or time. Not in the paper.

use serde::{Deserialize, Serialize};
use swe_ci_core::uncertainty::Interval;

use super::{Cell, Column, LeftOut, Study, Subject, Table};
use crate::leaderboard::Rate;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Resource {
    /// Sent and received.
    Tokens,
    /// US dollars.
    Money,
    /// Seconds of the agents, without waiting for the provider.
    Time,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Spending {
    pub resource: Resource,
    /// From the least to the most.
    pub points: Vec<Spent>,
    pub left_out: LeftOut,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Spent {
    pub run: Subject,
    /// Of the resource, the mean over the scored evolutions; above 0.
    pub amount: f64,
    /// 95 %; absent with tasks of fewer than two repositories.
    pub amount_interval: Option<Interval>,
    pub evoscore: f64,
    pub interval: Option<Interval>,
    /// Share of tasks without any regression, 0 to 1.
    pub zero_regression: f64,
    /// No other run has both less of it and a better score.
    pub on_front: bool,
}

impl Resource {
    /// Its name in CSV, and its title.
    fn name(self) -> (&'static str, &'static str) {
        match self {
            Self::Tokens => ("tokens_per_task", "Tokens per task"),
            Self::Money => ("usd_per_task", "US dollars per task"),
            Self::Time => ("agent_seconds_per_task", "Seconds of the agents per task"),
        }
    }

    fn unknown(self) -> &'static str {
        match self {
            Self::Tokens => "their tokens were not counted",
            Self::Money => "their cost is not recorded, or nothing",
            Self::Time => "the time of their agents is not recorded",
        }
    }

    fn places(self) -> usize {
        match self {
            Self::Tokens => 0,
            Self::Money => 4,
            Self::Time => 1,
        }
    }

    fn rate(self) -> Rate {
        match self {
            Self::Tokens => Rate::TokensPerTask,
            Self::Money => Rate::UsdPerTask,
            Self::Time => Rate::AgentSecondsPerTask,
        }
    }
}

pub fn spending(study: &Study, resource: Resource) -> Spending {
    let (mut points, left_out) = study.each(resource.unknown(), |run, _, row| {
        let amount = row.took(resource.rate()).filter(|amount| *amount > 0.0)?;
        Some(Spent {
            run,
            amount,
            amount_interval: row.took_interval(resource.rate()),
            evoscore: row.evoscore,
            interval: row.intervals.map(|i| i.evoscore),
            zero_regression: row.zero_regression_rate,
            on_front: false,
        })
    });
    points.sort_by(|a, b| {
        let cheaper = a.amount.total_cmp(&b.amount);
        cheaper.then_with(|| b.evoscore.total_cmp(&a.evoscore))
    });
    let mut best = f64::NEG_INFINITY;
    for point in &mut points {
        point.on_front = point.evoscore > best;
        best = best.max(point.evoscore);
    }
    Spending {
        resource,
        points,
        left_out,
    }
}

impl Spending {
    pub(super) fn table(&self) -> Table {
        let (name, title) = self.resource.name();
        let [score, low, high] = Column::with_interval("evoscore", "EvoScore");
        let amounts = [
            Column::new(name, title),
            Column::new(format!("{name}_low"), "95\u{a0}% from"),
            Column::new(format!("{name}_high"), "95\u{a0}% to"),
        ];
        let zero_regression = Column::new("zero_regression_rate", "Zero regression");
        let on_front = Column::new("on_front", "On the front");
        let rows = self.points.iter().map(|point| {
            let [score, low, high] = Cell::with_interval(Some(point.evoscore), point.interval, 3);
            let [amount, least, most] = Cell::with_interval(
                Some(point.amount),
                point.amount_interval,
                self.resource.places(),
            );
            let on_front = if point.on_front { "yes" } else { "no" };
            let on_front = Cell::Text(on_front.to_owned());
            let kept = Cell::number(Some(point.zero_regression), 2);
            (
                &point.run,
                [amount, least, most, score, low, high, kept, on_front],
            )
        });
        let [amount, least, most] = amounts;
        let columns = [
            amount,
            least,
            most,
            score,
            low,
            high,
            zero_regression,
            on_front,
        ];
        Table::of_runs(columns, rows)
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{RunSpec, leaderboard, with_study};
    use super::*;
    use crate::leaderboard::{Effort, LeaderboardData};
    use crate::testing::with_effort;

    fn board() -> LeaderboardData {
        let run = |model, tokens, score: &'static [&'static [f64]]| RunSpec {
            tokens,
            ..RunSpec::new(model, score)
        };
        leaderboard(&[
            run("dear and good", Some(4_500), &[&[0.8], &[0.8]]),
            run("cheap", Some(500), &[&[0.4], &[0.4]]),
            run("dear and bad", Some(4_000), &[&[0.3], &[0.3]]),
            run("silent", None, &[&[0.9], &[0.9]]),
            run("nothing", Some(0), &[&[0.9], &[0.9]]),
        ])
    }

    #[test]
    fn by_hand() {
        with_study(&board(), 1.0, |study| {
            let data = spending(study, Resource::Tokens);
            let points: Vec<(&str, f64, bool)> = data
                .points
                .iter()
                .map(|p| (p.run.model.as_str(), p.amount, p.on_front))
                .collect();
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

    /// Each resource has a front of its own.
    #[test]
    fn money_and_time() {
        let mut board = board();
        let known = [(2_000_000, 5_000), (1_000_000, 30_000)].into_iter();
        let mut known = known.map(Some).chain(std::iter::repeat(None));
        for entry in &mut board.entries {
            let effort = known.next().flatten();
            let effort = effort.map_or_else(Effort::default, |(micro_usd, agent_ms)| Effort {
                micro_usd: Some(micro_usd),
                agent_ms: Some(agent_ms),
                ..Effort::default()
            });
            *entry = with_effort(entry.clone(), |_, _| effort);
        }
        with_study(&board, 1.0, |study| {
            let points = |resource| {
                let data = spending(study, resource);
                let points = data.points.into_iter();
                let points = points.map(|p| (p.run.model, p.amount, p.on_front));
                points.collect::<Vec<_>>()
            };
            let [good, cheap] = ["dear and good", "cheap"].map(str::to_owned);
            assert_eq!(
                points(Resource::Money),
                [(cheap.clone(), 1.0, true), (good.clone(), 2.0, true)]
            );
            assert_eq!(
                points(Resource::Time),
                [(good, 5.0, true), (cheap, 30.0, false)]
            );
            let csv = spending(study, Resource::Money).table().csv();
            let head = csv.lines().next().unwrap();
            assert!(
                head.contains("usd_per_task,usd_per_task_low,usd_per_task_high,evoscore"),
                "{csv}"
            );
            assert!(
                head.ends_with("low,high,zero_regression_rate,on_front"),
                "{csv}"
            );
            // Nothing was ever broken in these tasks.
            let mut lines = csv.lines().skip(1);
            assert!(lines.all(|line| line.ends_with(",1,yes")), "{csv}");
        });
    }

    /// One task took 300 tokens, the other, of another repository, 700.
    #[test]
    fn amounts_have_intervals() {
        let mut board = leaderboard(&[RunSpec::new("m", &[&[0.8], &[0.4]])]);
        let entry = board.entries[0].clone();
        board.entries[0] = with_effort(entry, |task, _| Effort {
            tokens: Some([300, 700][task]),
            ..Effort::default()
        });
        with_study(&board, 1.0, |study| {
            let csv = spending(study, Resource::Tokens).table().csv();
            let line = csv.lines().nth(1).unwrap();
            assert!(line.contains(",500,300,700,0.6"), "{line}");
        });
    }
}
