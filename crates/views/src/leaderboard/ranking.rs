//! The ranking of a leaderboard under one γ and convention.

use std::sync::{Arc, OnceLock};

use swe_ci_core::metrics::{Convention, Gamma};
use swe_ci_core::uncertainty::RankInterval;

use super::rank::{Intervals, Row};
use super::{LeaderboardData, UncertaintyModel};

/// Ranks and ties are known for all rows. The other intervals of a row are
/// computed when it is first shown: of a thousand rows, a page shows few.
#[derive(Debug)]
pub struct Ranking {
    data: Arc<LeaderboardData>,
    model: UncertaintyModel,
    gamma: Gamma,
    convention: Convention,
    rows: Vec<Row>,
    ranks: Vec<Option<RankInterval>>,
    intervals: Vec<OnceLock<Option<Intervals>>>,
}

impl Default for Ranking {
    fn default() -> Self {
        Self::new(Arc::default(), Gamma::ONE, Convention::default())
    }
}

impl Ranking {
    pub fn new(data: Arc<LeaderboardData>, gamma: Gamma, convention: Convention) -> Self {
        let model = UncertaintyModel::new(&data);
        let (rows, ranks) = model.ranks(&data, gamma, convention);
        Self {
            intervals: rows.iter().map(|_| OnceLock::new()).collect(),
            data,
            model,
            gamma,
            convention,
            rows,
            ranks,
        }
    }

    /// The ranked runs, in the order of their submission.
    pub fn data(&self) -> &Arc<LeaderboardData> {
        &self.data
    }

    /// The number of repositories of the counted tasks.
    pub fn repositories(&self) -> usize {
        self.model.repositories()
    }

    /// All rows, best first, without intervals.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// All rows, best first, with their intervals.
    pub fn with_intervals(&self) -> Vec<Row> {
        self.best(usize::MAX)
    }

    /// The first rows, at most this many, with their intervals.
    pub fn best(&self, most: usize) -> Vec<Row> {
        let places = 0..self.rows.len().min(most);
        places.map(|place| self.row(place)).collect()
    }

    /// The row of a run with its intervals; `None` when it has no rank.
    pub fn row_of(&self, run_id: &str) -> Option<Row> {
        let place = self.rows.iter().position(|row| row.run_id == run_id)?;
        Some(self.row(place))
    }

    /// The rows of a model with their intervals, best first.
    pub fn rows_of(&self, model: &str) -> Vec<Row> {
        let places = 0..self.rows.len();
        let of_model = places.filter(|place| self.rows[*place].model == model);
        of_model.map(|place| self.row(place)).collect()
    }

    /// The row at a place, from 0, with its intervals.
    ///
    /// # Panics
    /// When there are fewer rows.
    pub fn row(&self, place: usize) -> Row {
        let row = &self.rows[place];
        let intervals = self.intervals[place].get_or_init(|| {
            let mut entries = self.data.entries.iter();
            let entry = entries.find(|entry| entry.run_id == row.run_id)?;
            self.model
                .intervals(entry, self.gamma, self.convention, self.ranks[place]?)
        });
        Row {
            intervals: *intervals,
            ..row.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{entry, sheet};

    #[test]
    fn a_row_at_a_time_is_as_all_at_once() {
        let run = |model: &str, score: f64| {
            let scores: Vec<[f64; 1]> = (0..9).map(|i| [score + f64::from(i % 3) / 10.0]).collect();
            let samples: Vec<[&[f64]; 1]> = scores.iter().map(|s| [s.as_slice()]).collect();
            let repos: Vec<String> = (0..9).map(|i| format!("r{i}")).collect();
            let tasks = repos.iter().map(String::as_str);
            let tasks: Vec<(&str, &[&[f64]])> = tasks
                .zip(samples.iter().map(<[&[f64]; 1]>::as_slice))
                .collect();
            entry(model, &tasks)
        };
        let data = sheet(vec![run("a", 0.1), run("b", 0.5), run("c", 0.12)]);
        let all = UncertaintyModel::new(&data).rank(&data, Gamma::ONE, Convention::Paper);
        let ranking = Ranking::new(Arc::new(data), Gamma::ONE, Convention::Paper);
        assert!(ranking.rows().iter().all(|row| row.intervals.is_none()));
        assert!(all.iter().all(|row| row.intervals.is_some()));
        assert_eq!(ranking.with_intervals(), all);
        assert_eq!(ranking.row_of(&all[1].run_id).as_ref(), Some(&all[1]));
        assert_eq!(ranking.row_of("nobody"), None);
    }
}
