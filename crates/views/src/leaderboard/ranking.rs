//! The ranking of a leaderboard under one γ and convention.

use std::sync::{Arc, OnceLock};

use swe_ci_core::metrics::{Convention, Gamma};
use swe_ci_core::uncertainty::RankInterval;

use super::rows::{Intervals, Ranked, Row};
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
    uncertain: Vec<Uncertain>,
}

/// The uncertainty of a row.
#[derive(Debug)]
struct Uncertain {
    /// The index of the row's run among the entries.
    entry: usize,
    rank: Option<RankInterval>,
    intervals: OnceLock<Option<Intervals>>,
}

impl Default for Ranking {
    fn default() -> Self {
        Self::new(Arc::default(), Gamma::ONE, Convention::default())
    }
}

impl Ranking {
    pub fn new(data: Arc<LeaderboardData>, gamma: Gamma, convention: Convention) -> Self {
        let model = UncertaintyModel::new(&data);
        let ranked = model.ranks(&data, gamma, convention).into_iter();
        let ranked = ranked.map(|(Ranked { row, entry, .. }, rank)| {
            let intervals = OnceLock::new();
            let uncertain = Uncertain {
                entry,
                rank,
                intervals,
            };
            (row, uncertain)
        });
        let (rows, uncertain) = ranked.unzip();
        Self {
            data,
            model,
            gamma,
            convention,
            rows,
            uncertain,
        }
    }

    /// The ranked runs, in the order of their submission.
    pub fn data(&self) -> &Arc<LeaderboardData> {
        &self.data
    }

    pub fn gamma(&self) -> Gamma {
        self.gamma
    }

    pub fn convention(&self) -> Convention {
        self.convention
    }

    /// The number of repositories of the counted tasks.
    pub fn repositories(&self) -> usize {
        self.model.repositories()
    }

    /// All rows, best first, without intervals.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// The rows at these indices with their intervals. The first call for a row
    /// computes thousands of means: not for a thread that serves requests.
    ///
    /// # Panics
    /// When there are fewer rows.
    pub fn with_intervals(&self, places: impl IntoIterator<Item = usize>) -> Vec<Row> {
        places.into_iter().map(|place| self.row(place)).collect()
    }

    fn row(&self, place: usize) -> Row {
        let (row, uncertain) = (&self.rows[place], &self.uncertain[place]);
        let intervals = uncertain.intervals.get_or_init(|| {
            let entry = &self.data.entries[uncertain.entry];
            self.model
                .intervals(entry, self.gamma, self.convention, uncertain.rank?)
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
    use crate::testing::{entry, leaderboard};

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
        let data = leaderboard(vec![run("a", 0.1), run("b", 0.5), run("c", 0.12)]);
        let all = UncertaintyModel::new(&data).rank(&data, Gamma::ONE, Convention::Paper);
        let ranking = Ranking::new(Arc::new(data), Gamma::ONE, Convention::Paper);
        assert!(ranking.rows().iter().all(|row| row.intervals.is_none()));
        assert!(all.iter().all(|row| row.intervals.is_some()));
        assert_eq!(
            ranking.with_intervals([2, 0]),
            [all[2].clone(), all[0].clone()]
        );
        assert_eq!(ranking.with_intervals(0..3), all);
    }
}
