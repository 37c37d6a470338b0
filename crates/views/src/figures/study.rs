//! The input of the figures, and the types that several figures share.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use swe_ci_core::metrics::{Convention, Gamma};
use swe_ci_core::run::Kind;

use super::{Cell, Column, Others, Table};
use crate::leaderboard::{Entry, LeaderboardData, Ranking, Row, ScoredTask};
use crate::{count, format};

/// A leaderboard under one γ and convention, and the runs of it that figures
/// show.
#[derive(Debug, Clone)]
pub struct Study {
    pub data: Arc<LeaderboardData>,
    pub gamma: Gamma,
    pub convention: Convention,
    /// Best first, with their intervals.
    pub rows: Vec<Row>,
    /// Those after them, without intervals.
    pub others: Vec<Row>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subject {
    /// Its index among the entries of the leaderboard, which determines its
    /// colour.
    pub index: usize,
    pub run_id: String,
    pub model: String,
    pub provider: String,
    pub kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Basis {
    pub runs: usize,
    /// Distinct tasks of all runs.
    pub tasks: usize,
    pub repositories: usize,
}

impl Basis {
    /// "40 tasks of 20 repositories, the best 30 of 60 runs": `worse` runs are
    /// left out.
    pub fn in_words(&self, worse: usize) -> String {
        let count = |n, noun| format::count(count(n), noun);
        let repositories = match self.repositories {
            1 => "1 repository".to_owned(),
            n => format!("{n} repositories"),
        };
        let runs = match worse {
            0 => count(self.runs, "run"),
            _ => format!(
                "the best {} of {}",
                self.runs,
                count(self.runs + worse, "run")
            ),
        };
        format!("{} of {repositories}, {runs}", count(self.tasks, "task"))
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    pub models: Vec<String>,
    /// Completes "left out: …, because".
    pub because: String,
}

impl Study {
    /// The best runs of a ranking, at most this many. It computes their
    /// intervals: not for a thread that serves requests.
    pub fn of(ranking: &Ranking, most: usize) -> Self {
        let most = ranking.rows().len().min(most);
        Self {
            rows: ranking.with_intervals(0..most),
            others: ranking.rows()[most..].to_vec(),
            data: ranking.data().clone(),
            gamma: ranking.gamma(),
            convention: ranking.convention(),
        }
    }

    /// The runs with scores in the convention, best first.
    pub(super) fn runs(&self) -> impl Iterator<Item = (Subject, &Entry, &Row)> {
        let entries = self.data.by_run();
        self.rows.iter().filter_map(move |row| {
            let (index, entry) = *entries.get(row.run_id.as_str())?;
            let run = Subject {
                index,
                run_id: entry.run_id.clone(),
                model: entry.model.clone(),
                provider: entry.provider.clone(),
                kind: entry.kind,
            };
            Some((run, entry, row))
        })
    }

    /// The middle of the values that `make` gives for the others.
    pub(super) fn middle_of_others(
        &self,
        make: impl Fn(&Entry, &Row) -> Vec<f64>,
    ) -> Option<Others> {
        let entries = self.data.by_run();
        Others::of(self.others.iter().filter_map(|row| {
            let (_, entry) = *entries.get(row.run_id.as_str())?;
            Some(make(entry, row))
        }))
    }

    /// What `make` gives for each run, best first, and the runs without it.
    pub(super) fn each<T>(
        &self,
        because: &str,
        make: impl Fn(Subject, &Entry, &Row) -> Option<T>,
    ) -> (Vec<T>, LeftOut) {
        let mut models = Vec::new();
        let made = self.runs().filter_map(|(run, entry, row)| {
            let made = make(run, entry, row);
            if made.is_none() {
                models.push(row.model.clone());
            }
            made
        });
        let made = made.collect();
        let because = because.to_owned();
        (made, LeftOut { models, because })
    }

    pub fn basis(&self) -> Basis {
        let tasks = || self.runs().flat_map(|(_, entry, _)| entry.tasks.iter());
        Basis {
            runs: self.rows.len(),
            tasks: tasks()
                .map(ScoredTask::task_id)
                .collect::<BTreeSet<_>>()
                .len(),
            repositories: tasks().map(ScoredTask::repo).collect::<BTreeSet<_>>().len(),
        }
    }
}

impl Table {
    /// A table with rows about runs: their first cells say which run.
    pub(super) fn of_runs<'a, C: IntoIterator<Item = Cell>>(
        columns: impl IntoIterator<Item = Column>,
        rows: impl IntoIterator<Item = (&'a Subject, C)>,
    ) -> Self {
        let of_run = [
            Column::new("model", "Model"),
            Column::new("provider", "Provider"),
            Column::new("run_id", "Run"),
            Column::new("kind", "Kind"),
        ];
        let row = |(run, cells): (&Subject, C)| {
            let of_run = [&run.model, &run.provider, &run.run_id, run.kind.name()];
            let of_run = of_run.map(|text| Cell::Text(text.to_owned()));
            of_run.into_iter().chain(cells).collect()
        };
        Self {
            columns: of_run.into_iter().chain(columns).collect(),
            rows: rows.into_iter().map(row).collect(),
        }
    }

    /// A row of such a table about a published result, which is of no run.
    pub(super) fn published(
        model: &str,
        provider: &str,
        cells: impl IntoIterator<Item = Cell>,
    ) -> Vec<Cell> {
        let text = |text: &str| Cell::Text(text.to_owned());
        let of_model = [
            text(model),
            text(provider),
            Cell::Nothing,
            text("published"),
        ];
        of_model.into_iter().chain(cells).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{RunSpec, leaderboard, with_study};

    #[test]
    fn basis() {
        let data = leaderboard(&[
            RunSpec::new("a", &[&[0.5], &[0.5]]),
            RunSpec::new("b", &[&[0.5], &[0.5], &[0.5]]),
        ]);
        with_study(&data, 1.0, |study| {
            let basis = study.basis();
            assert_eq!((basis.runs, basis.tasks, basis.repositories), (2, 3, 3));
        });
    }

    /// The index of a run does not depend on its rank.
    #[test]
    fn runs_have_the_index_of_their_entry() {
        let data = leaderboard(&[
            RunSpec::new("bad", &[&[-0.5]]),
            RunSpec::new("good", &[&[0.5]]),
        ]);
        with_study(&data, 1.0, |study| {
            let runs: Vec<(usize, String)> =
                study.runs().map(|(s, _, _)| (s.index, s.model)).collect();
            assert_eq!(runs, [(1, "good".into()), (0, "bad".into())]);
        });
    }
}
