//! The runs of a model over time, and where its scores change.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};
use swe_ci_core::metrics::{Convention, Gamma, mean};
use swe_ci_core::requirement::Mode;
use swe_ci_core::run::Progress;
use swe_ci_core::task::TaskId;
use swe_ci_core::uncertainty::{SEED, TaskHistory, change_points};

use super::freshness::{Scored, change};
use super::{Entry, LeaderboardData, ScoreChange, ScoredTask};
use crate::count;

/// Two runs are a comparison.
const FEWEST_RUNS: usize = 3;

/// The newest runs count.
const MOST_RUNS: usize = 30;

/// The finished runs of a model on one split, in one mode and with one harness, in
/// the order of submission. They are at least three, the newest 30.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct RunHistory {
    pub convention: Convention,
    pub split: String,
    pub mode: Mode,
    pub harness: String,
    /// Tasks all of these runs were scored on.
    pub tasks: u32,
    /// Repositories of those tasks.
    pub repositories: u32,
    /// The oldest first.
    pub runs: Vec<PastRun>,
    /// The points at which the scores change beyond chance, the earliest first.
    pub changes: Vec<HistoryChange>,
}

/// A run of a history.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct PastRun {
    pub run_id: String,
    pub harness_version: String,
    /// Equation 3, the mean over the tasks of the history, -1 to 1.
    pub evoscore: f64,
}

/// From one stretch of a history to the next.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct HistoryChange {
    /// The first run after it.
    pub run_id: String,
    /// How often chance alone produces a change at least as large: above 0, below
    /// 0.05.
    pub p_value: f64,
    /// From the mean of the runs since the change before it, to the mean of those
    /// until the next.
    #[serde(flatten)]
    pub change: ScoreChange,
}

impl RunHistory {
    /// One for each harness, of those on a board. Handovers have none.
    pub fn all(
        board: &LeaderboardData,
        model: &str,
        gamma: Gamma,
        convention: Convention,
    ) -> Vec<Self> {
        let mut by_harness: BTreeMap<&str, Vec<&Entry>> = BTreeMap::new();
        let runs = board.entries.iter().filter(|run| {
            run.model == model && run.progress == Progress::Finished && run.is_scored(convention)
        });
        for run in runs {
            by_harness.entry(&run.harness).or_default().push(run);
        }
        let histories = by_harness.into_values();
        histories
            .filter_map(|runs| Self::of(&board.split, runs, gamma, convention))
            .collect()
    }

    fn of(
        split: &str,
        mut runs: Vec<&Entry>,
        gamma: Gamma,
        convention: Convention,
    ) -> Option<Self> {
        // Ids of runs are in the order of their submission.
        runs.sort_by_key(|run| &run.run_id);
        let runs = runs.split_off(runs.len().saturating_sub(MOST_RUNS));
        let newest = runs.last().filter(|_| runs.len() >= FEWEST_RUNS)?;
        let scores = SharedScores::of(&runs, gamma, convention);
        let past = runs.iter().enumerate().map(|(at, run)| {
            Some(PastRun {
                run_id: run.run_id.clone(),
                harness_version: run.harness_version.clone(),
                evoscore: mean(scores.tasks.iter().map(|(_, scores)| scores[at]))?,
            })
        });
        Some(Self {
            convention,
            split: split.to_owned(),
            mode: newest.mode,
            harness: newest.harness.clone(),
            tasks: count(scores.tasks.len()),
            repositories: count(scores.repositories.len()),
            runs: past.collect::<Option<_>>()?,
            changes: scores.changes(&runs),
        })
    }
}

/// The tasks all runs were scored on, each with its score in every run.
struct SharedScores<'a> {
    tasks: Vec<(&'a ScoredTask, Vec<f64>)>,
    /// Their repositories, numbered.
    repositories: BTreeMap<&'a str, usize>,
}

impl<'a> SharedScores<'a> {
    fn of(runs: &[&'a Entry], gamma: Gamma, convention: Convention) -> Self {
        let mut scores: HashMap<&TaskId, Vec<f64>> = HashMap::new();
        for run in runs {
            for (task, score) in run.scored_tasks(gamma, convention) {
                scores.entry(task.task_id()).or_default().push(score);
            }
        }
        // Tasks are in order of name, so the result does not depend on the map's.
        let tasks = runs.first().into_iter().flat_map(|run| run.tasks.iter());
        let tasks = tasks.filter_map(|task| {
            let scores = scores.remove(task.task_id())?;
            (scores.len() == runs.len()).then_some((task, scores))
        });
        let tasks: Vec<(&ScoredTask, Vec<f64>)> = tasks.collect();
        let mut repositories = BTreeMap::new();
        for (task, _) in &tasks {
            let next = repositories.len();
            repositories.entry(task.repo()).or_insert(next);
        }
        Self {
            tasks,
            repositories,
        }
    }

    fn changes(&self, runs: &[&Entry]) -> Vec<HistoryChange> {
        let tasks = self.tasks.iter().map(|(task, scores)| TaskHistory {
            repository: self.repositories[task.repo()],
            scores: scores.clone(),
        });
        let tasks: Vec<TaskHistory> = tasks.collect();
        let points = change_points(&tasks, self.repositories.len(), runs.len(), SEED);
        let ends = points.iter().map(|point| point.run).skip(1);
        let ends = ends.chain([runs.len()]);
        let mut begin = 0;
        let changes = points.iter().zip(ends).filter_map(|(point, end)| {
            let before = self.means(begin, point.run);
            begin = point.run;
            Some(HistoryChange {
                run_id: runs[point.run].run_id.clone(),
                p_value: point.p_value,
                change: change(&before, &self.means(point.run, end))?,
            })
        });
        changes.collect()
    }

    /// The mean score of each task in the runs from `begin` to before `end`.
    fn means(&self, begin: usize, end: usize) -> Vec<Scored<'a>> {
        let tasks = self.tasks.iter().filter_map(|(task, scores)| {
            let score = mean(scores[begin..end].iter().copied())?;
            Some((*task, score))
        });
        tasks.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{leaderboard, spread_run};

    /// A run of eight tasks of a repository each, all with this score.
    fn run(id: &str, score: f64) -> Entry {
        let scores = [score];
        let mut run = spread_run("m", &[&scores[..]; 8]);
        run.run_id = id.into();
        run
    }

    fn histories(runs: Vec<Entry>) -> Vec<RunHistory> {
        RunHistory::all(&leaderboard(runs), "m", Gamma::ONE, Convention::Paper)
    }

    #[test]
    fn a_fall_of_the_newest_run() {
        let runs = vec![run("3", 0.1), run("1", 0.5), run("2", 0.5)];
        let history = histories(runs).remove(0);
        let ids = history.runs.iter().map(|run| run.run_id.as_str());
        assert_eq!(ids.collect::<Vec<_>>(), ["1", "2", "3"]);
        assert_eq!((history.tasks, history.repositories), (8, 8));
        let [fall] = &history.changes[..] else {
            panic!("{:?}", history.changes);
        };
        assert_eq!(fall.run_id, "3");
        assert!((fall.change.change + 0.4).abs() < 1e-12, "{fall:?}");
        assert!((fall.change.from - 0.5).abs() < 1e-12, "{fall:?}");
        assert!(fall.p_value < 0.05);
        let interval = fall.change.interval.unwrap();
        assert!(interval.high < 0.0);
    }

    #[test]
    fn each_change_is_from_stretch_to_stretch() {
        let scores = [0.1, 0.1, 0.6, 0.6, 0.3];
        let runs = (1..)
            .zip(scores)
            .map(|(id, score)| run(&format!("{id}"), score));
        let history = histories(runs.collect()).remove(0);
        let changes = history.changes.iter();
        let changes: Vec<(&str, f64, f64)> = changes
            .map(|it| (it.run_id.as_str(), it.change.from, it.change.to))
            .collect();
        assert_eq!(changes.len(), 2, "{changes:?}");
        for ((id, from, to), expect) in changes.iter().zip([("3", 0.1, 0.6), ("5", 0.6, 0.3)]) {
            assert_eq!(*id, expect.0);
            assert!((from - expect.1).abs() < 1e-9 && (to - expect.2).abs() < 1e-9);
        }
    }

    #[test]
    fn only_runs_that_can_be_compared_are_in_a_history() {
        let mut under_way = run("5", 0.9);
        under_way.progress = Progress::Running;
        let mut other = run("6", 0.9);
        other.harness = "another".into();
        let mut runs = vec![run("1", 0.5), run("2", 0.5), under_way, other];
        assert_eq!(histories(runs.clone()), []);
        // One task less is shared by all.
        let mut third = run("3", 0.5);
        third.tasks_mut().truncate(7);
        runs.push(third);
        let history = histories(runs).remove(0);
        assert_eq!((history.runs.len(), history.tasks), (3, 7));
        assert_eq!(history.changes, []);
    }

    #[test]
    fn a_history_has_an_end() {
        let runs = (100..140).map(|id| run(&id.to_string(), 0.5));
        let history = histories(runs.collect()).remove(0);
        assert_eq!(history.runs.len(), MOST_RUNS);
        assert_eq!(history.runs.last().unwrap().run_id, "139");
    }
}
