//! The numbers that columns show: one line for each, from which the order of rows,
//! the CSV table and the cells of pages follow.

use swe_ci_core::uncertainty::Interval;

use super::{Column, Intervals, Rate, Row};
use crate::style::StyleMetric;

/// A number of a row.
#[derive(Debug, Clone, Copy)]
pub struct Measure {
    /// The header of its value in a CSV table.
    head: &'static str,
    pub unit: Unit,
    source: Source,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// −1 to 1.
    Score,
    /// 0 to 1.
    Share,
    Iterations,
    Tokens,
    /// US dollars.
    Dollars,
    Seconds,
}

#[derive(Debug, Clone, Copy)]
enum Source {
    Known(fn(&Row) -> f64, fn(&Intervals) -> Interval),
    WithoutInterval(fn(&Row) -> f64),
    Wins(StyleMetric),
    Generalisation,
    Cheating,
    Took(Rate),
}

impl Column {
    /// The number that it shows; none for text, and for counts without an interval.
    pub fn measure(self) -> Option<Measure> {
        use Source::{Cheating, Generalisation, Known, Took, Wins, WithoutInterval};
        use Unit::{Dollars, Iterations, Score, Seconds, Share, Tokens};
        let (head, unit, source) = match self {
            Self::EvoScore => ("evoscore", Score, Known(|r| r.evoscore, |i| i.evoscore)),
            Self::ZeroRegression => {
                let known = Known(|r| r.zero_regression_rate, |i| i.zero_regression_rate);
                ("zero_regression_rate", Share, known)
            }
            Self::NetZeroRegression => {
                let known = WithoutInterval(|r| r.net_zero_regression_rate);
                ("net_zero_regression_rate", Share, known)
            }
            Self::Solved => {
                let known = Known(|r| r.solved_rate, |i| i.solved_rate);
                ("solved_rate", Share, known)
            }
            Self::Zrr => ("zrr", Share, Known(|r| r.zrr, |i| i.zrr)),
            Self::Turns => {
                let known = Known(|r| r.average_turns, |i| i.average_turns);
                ("average_turns", Iterations, known)
            }
            Self::MiWins => ("mi_win_rate", Share, Wins(StyleMetric::Mi)),
            Self::PylintWins => ("pylint_win_rate", Share, Wins(StyleMetric::Pylint)),
            Self::Generalisation => ("generalisation", Share, Generalisation),
            Self::Cheating => ("cheating_rate", Share, Cheating),
            Self::TokensPerTask => ("tokens_per_task", Tokens, Took(Rate::TokensPerTask)),
            Self::CostPerTask => ("cost_usd_per_task", Dollars, Took(Rate::UsdPerTask)),
            Self::TokensPerTest => {
                let took = Took(Rate::TokensPerClosedTest);
                ("tokens_per_closed_test", Tokens, took)
            }
            Self::CostPerTest => {
                let took = Took(Rate::UsdPerClosedTest);
                ("cost_usd_per_closed_test", Dollars, took)
            }
            Self::AgentTime => {
                let took = Took(Rate::AgentSecondsPerIteration);
                ("agent_seconds_per_iteration", Seconds, took)
            }
            Self::WallTime => {
                let took = Took(Rate::WallSecondsPerIteration);
                ("wall_seconds_per_iteration", Seconds, took)
            }
            _ => return None,
        };
        Some(Measure { head, unit, source })
    }
}

impl Measure {
    /// `None` where it is unknown.
    pub fn value(&self, row: &Row) -> Option<f64> {
        match self.source {
            Source::Known(value, _) | Source::WithoutInterval(value) => Some(value(row)),
            Source::Wins(metric) => row.wins(metric).map(|rates| rates.win),
            Source::Generalisation => row.generalisation.map(|rate| rate.share),
            Source::Cheating => row.cheating.map(|rate| rate.share),
            Source::Took(rate) => row.took(rate),
        }
    }

    /// Its 95 % interval, where it has one.
    pub fn interval(&self, row: &Row) -> Option<Interval> {
        let intervals = row.intervals?;
        match self.source {
            Source::Known(_, interval) => Some(interval(&intervals)),
            Source::WithoutInterval(_) => None,
            Source::Wins(metric) => intervals.wins(metric).map(|interval| interval.win),
            Source::Generalisation => intervals.generalisation,
            Source::Cheating => intervals.cheating,
            Source::Took(rate) => intervals.took(rate),
        }
    }

    /// The headers of value and interval in a CSV table.
    pub(super) fn heads(&self) -> Vec<String> {
        let ends: &[&str] = match self.source {
            Source::WithoutInterval(_) => &[""],
            _ => &["", "_low", "_high"],
        };
        ends.iter()
            .map(|end| format!("{}{end}", self.head))
            .collect()
    }
}
