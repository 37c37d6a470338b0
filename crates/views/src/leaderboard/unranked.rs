//! Runs that have scores and take no rank.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};
use swe_ci_core::finding::Unranked;
use swe_ci_core::metrics::{Convention, Gamma};
use swe_ci_core::uncertainty::RankInterval;

use super::{Board, Entry, LeaderboardData, Published, Row, UncertaintyModel};

/// A run as the note under the table names it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct UnrankedRun {
    pub run_id: String,
    pub model: String,
    pub unranked: Unranked,
}

impl LeaderboardData {
    /// The data of a board; sets the entries with a reason to take no rank
    /// apart.
    pub fn new(board: Board, entries: Vec<Entry>, published: Published) -> Self {
        let (unranked, entries) = entries.into_iter().partition(|e| e.unranked.is_some());
        Self {
            split: board.split,
            mode: board.mode,
            entries,
            unranked,
            published,
        }
    }

    /// Takes the runs of another mode in, without a rank: for comparing them.
    pub fn add_other_mode(&mut self, other: &Self) {
        let known: HashSet<&str> = self.all().map(|entry| entry.run_id.as_str()).collect();
        let new = other
            .all()
            .filter(|entry| !known.contains(entry.run_id.as_str()));
        let new = new.map(|entry| Entry {
            unranked: entry.unranked.clone().or(Some(Unranked::OtherMode)),
            ..entry.clone()
        });
        let new: Vec<Entry> = new.collect();
        self.unranked.extend(new);
    }

    /// Takes in a run that has no place on the board, such as one that is private
    /// or has no scores yet: for comparing it.
    pub fn add_beside(&mut self, entry: Entry) {
        self.unranked.push(entry);
    }

    pub fn has(&self, run_id: &str) -> bool {
        self.all().any(|entry| entry.run_id == run_id)
    }

    /// All runs, ranked or not.
    pub(super) fn all(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter().chain(&self.unranked)
    }

    /// The unranked runs, by model.
    pub fn unranked_runs(&self) -> Vec<UnrankedRun> {
        let runs = self.unranked.iter().filter_map(|entry| {
            Some(UnrankedRun {
                run_id: entry.run_id.clone(),
                model: entry.model.clone(),
                unranked: entry.unranked.clone()?,
            })
        });
        let mut runs: Vec<UnrankedRun> = runs.collect();
        runs.sort_by(|a, b| (&a.model, &a.run_id).cmp(&(&b.model, &b.run_id)));
        runs
    }

    /// The scores of the unranked runs, best first, without intervals and ranks.
    pub fn unranked_rows(&self, gamma: Gamma, convention: Convention) -> Vec<Row> {
        without_ranks(self.of_unranked().rank(gamma, convention))
    }

    /// The same with intervals, from a model that knows the repositories of
    /// these runs too.
    pub(super) fn unranked_rows_by(
        &self,
        model: &UncertaintyModel,
        gamma: Gamma,
        convention: Convention,
    ) -> Vec<Row> {
        without_ranks(model.rank(&self.of_unranked(), gamma, convention))
    }

    /// The unranked runs as if they were the leaderboard.
    fn of_unranked(&self) -> Self {
        Self {
            split: self.split.clone(),
            mode: self.mode,
            entries: self.unranked.clone(),
            ..Self::default()
        }
    }
}

/// Their order among themselves is no rank.
fn without_ranks(mut rows: Vec<Row>) -> Vec<Row> {
    for row in &mut rows {
        (row.rank, row.tie_group) = (0, 0);
        if let Some(intervals) = &mut row.intervals {
            intervals.rank = RankInterval { best: 0, worst: 0 };
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::entry;
    use swe_ci_core::requirement::Mode;

    fn board() -> LeaderboardData {
        let good = entry("good", &[("p", &[&[0.5]]), ("q", &[&[0.5]])]);
        let won: &[&[f64]] = &[&[1.0]];
        let mut best = entry("best", &[("p", won), ("q", won), ("r", won)]);
        best.unranked = Some(Unranked::HeldForReview { open: 2 });
        LeaderboardData::new("s".into(), vec![best, good], Published::default())
    }

    #[test]
    fn an_unranked_run_takes_no_rank() {
        let data = board();
        let rows = UncertaintyModel::new(&data).rank(&data, Gamma::ONE, Convention::Paper);
        let ranks: Vec<(u32, &str)> = rows.iter().map(|r| (r.rank, r.model.as_str())).collect();
        assert_eq!(ranks, [(1, "good")]);
        let apart = data.unranked_rows(Gamma::ONE, Convention::Paper);
        let row = &apart[0];
        assert_eq!((apart.len(), row.rank, row.tie_group), (1, 0, 0));
        assert_eq!((row.model.as_str(), row.evoscore), ("best", 1.0));
        assert_eq!(row.unranked, Some(Unranked::HeldForReview { open: 2 }));
        let named = data.unranked_runs();
        assert_eq!(named[0].run_id, "run-best");
        // Nor does any other view of the data count it.
        let matrix = data.matrix(Gamma::ONE, Convention::Paper, Default::default());
        assert_eq!(matrix.columns.len(), 1);
        let unseen = data.unseen().data;
        assert_eq!((unseen.entries.len(), unseen.unranked.len()), (1, 1));
    }

    #[test]
    fn runs_of_both_modes_are_compared_without_a_common_rank() {
        let one = |name: &str, mode| {
            let entry = Entry {
                mode,
                ..entry(name, &[("p", &[&[0.5]])])
            };
            LeaderboardData::new(Board::new("s", mode), vec![entry], Published::default())
        };
        let mut data = one("with-tests", Mode::Tdd);
        data.add_other_mode(&one("without", Mode::Rdd));
        let again = data.clone();
        data.add_other_mode(&again);
        let ids = ["run-without".to_owned(), "run-with-tests".to_owned()];
        let versus = data.versus(&ids, Gamma::ONE, Convention::Paper, None);
        let rows = versus.unwrap().runs;
        let seen: Vec<(u32, Mode, bool)> = rows
            .iter()
            .map(|row| {
                (
                    row.rank,
                    row.mode,
                    row.unranked == Some(Unranked::OtherMode),
                )
            })
            .collect();
        assert_eq!(seen, [(0, Mode::Rdd, true), (1, Mode::Tdd, false)]);
    }

    /// Its reader wants to see why it is held.
    #[test]
    fn an_unranked_run_can_be_compared() {
        let ids = ["run-good".to_owned(), "run-best".to_owned()];
        let versus = board().versus(&ids, Gamma::ONE, Convention::Paper, None);
        let versus = versus.unwrap();
        let ranks: Vec<(u32, &str)> = versus
            .runs
            .iter()
            .map(|row| (row.rank, row.model.as_str()))
            .collect();
        assert_eq!(ranks, [(1, "good"), (0, "best")]);
        assert!(versus.runs[1].unranked.is_some());
        assert_eq!(versus.tasks.len(), 2);
    }
}
