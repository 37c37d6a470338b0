//! Compares runs side by side, on the tasks all of them were scored on and over
//! the iterations all of them asked for.

mod arms;
mod refusal;
mod shared_tasks;
mod style;

use serde::{Deserialize, Serialize};

pub use arms::ArmEffect;
pub use refusal::Incomparable;
pub(super) use refusal::MAX_RUNS;
pub use shared_tasks::{SharedResult, SharedTask};

use super::{Entry, LeaderboardData, Row, Samples, StyleIntervals, StyleRates, UncertaintyModel};
use arms::arm_effects;
use shared_tasks::{shared_ids, shared_tasks};
use style::style;
use swe_ci_core::metrics::{Convention, Gamma, Series};
use swe_ci_core::task::TaskId;
use swe_ci_core::uncertainty::{Comparison, PowerPlan, RankInterval};

use crate::count;

/// Runs of one split side by side.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Versus {
    pub split: String,
    pub convention: Convention,
    #[schema(value_type = f64)]
    pub gamma: Gamma,
    /// Iterations that every one of the runs asked for: what a run did after them
    /// does not count here.
    pub iterations: u32,
    /// Their rows over the shared tasks, with their ranks on the leaderboard, in
    /// the requested order; an unranked run has a row too.
    pub runs: Vec<Row>,
    /// For each run, the number of its scored tasks that not all runs share.
    pub left_out: Vec<u32>,
    /// Tasks all runs were scored on. For two runs, in descending order of the
    /// first run's lead; for more, in descending order of spread.
    pub tasks: Vec<SharedTask>,
    /// The code style of each run against the oracle's, on the tasks that are
    /// solved and measured in all runs; empty without such tasks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub style: Vec<StyleRates>,
    /// Their 95 % intervals, in the same order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub style_intervals: Vec<StyleIntervals>,
    /// The samples of each run.
    pub samples: Vec<Samples>,
    /// Every pair of runs.
    pub pairs: Vec<Pair>,
    /// What each arm changes, where the runs are of several arms.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arms: Vec<ArmEffect>,
    /// The evolutions of the requested task.
    pub task: Option<TaskCourses>,
}

/// Two of the runs, compared on the tasks that all runs share.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Pair {
    /// Index of the first in `runs`.
    pub first: u32,
    /// Index of the second in `runs`.
    pub second: u32,
    pub comparison: Comparison,
    /// What tells them apart, from how their difference varies over these tasks;
    /// absent with tasks of fewer than two repositories.
    pub plan: Option<PowerPlan>,
}

impl Pair {
    /// The same with `run` as the second, so that its comparison is of a run
    /// against it; `None` for a pair of others.
    pub fn against(&self, run: u32) -> Option<Self> {
        match (self.first, self.second) {
            (_, second) if second == run => Some(self.clone()),
            (first, second) if first == run => Some(Self {
                first: second,
                second: first,
                comparison: self.comparison.reversed(),
                plan: self.plan.clone(),
            }),
            _ => None,
        }
    }
}

/// The evolutions of a task in each run, in the order of the runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct TaskCourses {
    pub task_id: TaskId,
    pub repo: String,
    /// By run, then by sample.
    pub runs: Vec<Vec<Course>>,
}

/// One evolution in the convention of the comparison.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Course {
    /// Passing tests of the base.
    pub base: u32,
    /// Passing tests of the target.
    pub target: u32,
    /// Passing tests after each iteration; 0 where the code collapsed.
    pub passes: Vec<u32>,
    /// The iterations that broke something, from 1.
    pub regressions: Vec<u32>,
}

impl LeaderboardData {
    /// Compares runs, with the evolutions of one task on request.
    ///
    /// # Errors
    /// [`Incomparable`] with the reason.
    pub fn versus(
        &self,
        run_ids: &[String],
        gamma: Gamma,
        convention: Convention,
        task: Option<&TaskId>,
    ) -> Result<Versus, Incomparable> {
        Incomparable::check(run_ids)?;
        let whole = self.scored_entries(run_ids, convention)?;
        let iterations = whole.iter().map(|entry| entry.max_iterations).min();
        let iterations = iterations.unwrap_or_default();
        let shared = shared_ids(&whole);
        if shared.is_empty() {
            return Err(Incomparable::NothingShared);
        }
        let left_out = whole.iter().map(|e| count(e.tasks.len() - shared.len()));
        let left_out = left_out.collect();
        let entries = whole.iter().map(|entry| {
            let entry = entry.only(|task| shared.contains(task.task_id()));
            entry.first(iterations)
        });
        let entries: Vec<Entry> = entries.collect();
        let tasks = shared_tasks(&entries, gamma, convention);
        let courses = task.map(|task| task_courses(&entries, &tasks, task, convention));
        let model = UncertaintyModel::of_all(self);
        let style = style(&model, &entries, convention).into_iter();
        let (style, style_intervals) = style.unzip();
        let samples = entries
            .iter()
            .filter_map(|entry| model.samples(entry, gamma, convention));
        Ok(Versus {
            split: self.split.clone(),
            convention,
            gamma,
            iterations,
            runs: self.rows_of(&model, &entries, gamma, convention),
            left_out,
            style,
            style_intervals,
            samples: samples.collect(),
            pairs: pairs(&model, &entries, gamma, convention),
            arms: arm_effects(&model, &entries, gamma, convention),
            task: courses.transpose()?,
            tasks,
        })
    }

    /// The rows of entries over their tasks, with their ranks on the leaderboard.
    fn rows_of(
        &self,
        model: &UncertaintyModel,
        entries: &[Entry],
        gamma: Gamma,
        convention: Convention,
    ) -> Vec<Row> {
        let ranked = model.ranks(self, gamma, convention);
        let row = |entry: &Entry| {
            let scores = entry.scores_by_task(gamma, convention);
            let mut row = entry.row(&scores, convention)?;
            let place = ranked.iter().find(|(run, _)| run.row.run_id == row.run_id);
            let mut rank = RankInterval { best: 0, worst: 0 };
            if let Some((ranked, interval)) = place {
                (row.rank, row.tie_group) = (ranked.row.rank, ranked.row.tie_group);
                rank = interval.unwrap_or(rank);
            }
            row.intervals = model.intervals(entry, gamma, convention, rank);
            Some(row)
        };
        entries.iter().filter_map(row).collect()
    }

    pub(in crate::leaderboard) fn scored_entries(
        &self,
        run_ids: &[String],
        convention: Convention,
    ) -> Result<Vec<&Entry>, Incomparable> {
        let entry = |id: &String| {
            let entry = self.all().find(|e| e.run_id == *id);
            match entry.filter(|e| !e.tasks.is_empty()) {
                None => Err(Incomparable::Unknown(id.clone())),
                Some(e) if !e.is_scored(convention) => {
                    Err(Incomparable::CountsOnly(e.model.clone()))
                }
                Some(e) => Ok(e),
            }
        };
        run_ids.iter().map(entry).collect()
    }
}

fn pairs(
    model: &UncertaintyModel,
    entries: &[Entry],
    gamma: Gamma,
    convention: Convention,
) -> Vec<Pair> {
    let mut pairs = Vec::new();
    for (first, one) in entries.iter().enumerate() {
        for (second, other) in entries.iter().enumerate().skip(first + 1) {
            let comparison = model.compare(one, other, gamma, convention);
            pairs.extend(comparison.map(|comparison| Pair {
                first: count(first),
                second: count(second),
                comparison,
                plan: model.plan(one, other, gamma, convention),
            }));
        }
    }
    pairs
}

fn task_courses(
    entries: &[Entry],
    tasks: &[SharedTask],
    task_id: &TaskId,
    convention: Convention,
) -> Result<TaskCourses, Incomparable> {
    let task = tasks.iter().find(|task| task.task_id == *task_id);
    let task = task.ok_or_else(|| Incomparable::NoSuchTask(task_id.clone()))?;
    let run = |entry: &Entry| {
        let own = entry.tasks.iter().filter(|task| task.task_id() == task_id);
        let series = own.flat_map(|task| task.series(convention));
        series.map(Course::from_series).collect()
    };
    Ok(TaskCourses {
        task_id: task_id.clone(),
        repo: task.repo.clone(),
        runs: entries.iter().map(run).collect(),
    })
}

/// What happened to tests that had passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loss {
    /// Some were lost.
    Regression,
    /// The code no longer runs.
    Collapse,
}

impl Course {
    /// How it lost tests at an iteration, if it did. Code that no longer runs
    /// passes no test.
    pub fn loss_at(&self, iteration: u32) -> Option<Loss> {
        let lost = self.regressions.contains(&iteration);
        let index = iteration.checked_sub(1)? as usize;
        let passes = self.passes.get(index)?;
        lost.then_some(if *passes == 0 {
            Loss::Collapse
        } else {
            Loss::Regression
        })
    }

    fn from_series(series: &Series) -> Self {
        Self {
            base: series.base(),
            target: series.target(),
            passes: series.passes().to_vec(),
            regressions: series.regressions().iter().map(|r| r.iteration).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{entry, leaderboard};

    fn ids(models: &[&str]) -> Vec<String> {
        models.iter().map(|m| format!("run-{m}")).collect()
    }

    /// Two tasks of one repository and one of another; `c` lacks the last.
    /// N is 2, so at γ = 1 a score is the mean of two changes.
    fn board() -> LeaderboardData {
        let mut data = leaderboard(vec![
            entry(
                "a",
                &[
                    ("p", &[&[0.2, 0.4]]),
                    ("p", &[&[1.0]]),
                    ("q", &[&[0.5], &[0.1]]),
                ],
            ),
            entry("b", &[("p", &[&[0.5]]), ("p", &[&[0.6]]), ("q", &[&[0.3]])]),
            entry("c", &[("p", &[&[-0.5, 0.5]]), ("p", &[&[0.6]])]),
        ]);
        data.entries[1].max_iterations = 2;
        data
    }

    fn versus(models: &[&str]) -> Versus {
        let result = board().versus(&ids(models), Gamma::ONE, Convention::Paper, None);
        result.unwrap()
    }

    #[test]
    fn tasks_are_ordered_by_lead_or_spread() {
        let check = |models: &[&str], expect: &[(&str, &[f64], f64)]| {
            let tasks = versus(models).tasks;
            assert_eq!(tasks.len(), expect.len(), "{tasks:?}");
            for (task, (id, scores, spread)) in tasks.iter().zip(expect) {
                assert_eq!(task.task_id.as_str(), *id);
                for (result, score) in task.results.iter().zip(*scores) {
                    assert!((result.evoscore - score).abs() < 1e-12, "{id}: {result:?}");
                }
                assert!(
                    (task.spread - spread).abs() < 1e-12,
                    "{id}: {}",
                    task.spread
                );
            }
        };
        // Two runs: the task with the first run's largest lead comes first.
        check(
            &["a", "b"],
            &[
                ("task-1", &[1.0, 0.6], 0.4),
                ("task-2", &[0.3, 0.3], 0.0),
                ("task-0", &[0.3, 0.5], 0.2),
            ],
        );
        check(
            &["b", "a"],
            &[
                ("task-0", &[0.5, 0.3], 0.2),
                ("task-2", &[0.3, 0.3], 0.0),
                ("task-1", &[0.6, 1.0], 0.4),
            ],
        );
        // Three runs: the task with the largest spread comes first.
        check(
            &["c", "a", "b"],
            &[
                ("task-0", &[0.0, 0.3, 0.5], 0.5),
                ("task-1", &[0.6, 1.0, 0.6], 0.4),
            ],
        );
    }

    /// Of another revision a task is another one; where results do not tell, it is the
    /// same.
    #[test]
    fn tasks_of_other_content_are_not_shared() {
        let mut data = board();
        let revisions = [(0, "before"), (1, "after"), (2, "after")];
        for (run, revision) in revisions {
            data.entries[run].tasks_mut()[0].revision = Some(revision.to_owned());
        }
        let shared = |models: &[&str]| {
            let versus = data
                .versus(&ids(models), Gamma::ONE, Convention::Paper, None)
                .unwrap();
            (
                versus.tasks.len(),
                versus.pairs[0].comparison.tasks,
                versus.left_out,
            )
        };
        assert_eq!(shared(&["a", "b"]), (2, 2, vec![1, 1]));
        assert_eq!(shared(&["b", "c"]), (2, 2, vec![1, 0]));
        data.entries[0].tasks_mut()[0].revision = None;
        let versus = data.versus(&ids(&["a", "b"]), Gamma::ONE, Convention::Paper, None);
        assert_eq!(versus.unwrap().tasks.len(), 3);
    }

    #[test]
    fn runs_pairs_and_omissions() {
        let result = versus(&["c", "a", "b"]);
        let models: Vec<&str> = result.runs.iter().map(|r| r.model.as_str()).collect();
        assert_eq!(models, ["c", "a", "b"]);
        assert_eq!(result.left_out, [0, 1, 1]);
        // Over the shared tasks: (0.3 + 1) / 2.
        assert!((result.runs[1].evoscore - 1.3 / 2.0).abs() < 1e-12);
        let pairs: Vec<(u32, u32, u32)> = result
            .pairs
            .iter()
            .map(|p| (p.first, p.second, p.comparison.tasks))
            .collect();
        assert_eq!(pairs, [(0, 1, 2), (0, 2, 2), (1, 2, 2)]);
        // (0.3 − 0.5 + 1 − 0.6) / 2.
        let comparison = result.pairs[2].comparison;
        assert!((comparison.difference - 0.2 / 2.0).abs() < 1e-12);
        assert_eq!(
            (comparison.wins, comparison.ties, comparison.losses),
            (1, 0, 1)
        );
        assert_eq!(comparison.repositories, 1);
    }

    #[test]
    fn a_pair_against_a_run() {
        let result = versus(&["a", "b", "c"]);
        let check = |pair: usize, run: u32, expect: Option<(u32, f64)>| {
            let against = result.pairs[pair].against(run);
            let seen = against.map(|it| (it.first, it.second, it.comparison.difference));
            assert_eq!(
                seen,
                expect.map(|(first, sign)| {
                    (first, run, sign * result.pairs[pair].comparison.difference)
                })
            );
        };
        check(0, 1, Some((0, 1.0)));
        check(0, 0, Some((1, -1.0)));
        check(2, 0, None);
    }

    #[test]
    fn results_are_means_over_samples() {
        let result = versus(&["a", "b"]);
        let two_samples = result.tasks[1].results[0];
        assert!((two_samples.evoscore - 0.3).abs() < 1e-12);
        assert!((two_samples.turns - 1.0).abs() < 1e-12 && two_samples.solved == 0.0);
        assert_eq!(result.tasks[0].results[0].solved, 1.0);
        // Down by half, then up again: one regression in two iterations.
        let fell = versus(&["c", "b"]).tasks[1].results[0];
        assert_eq!((fell.regressions, fell.turns), (1.0, 2.0));
    }

    #[test]
    fn the_courses_of_one_task() {
        let task = TaskId::new("task-0").unwrap();
        let result = board().versus(
            &ids(&["c", "a"]),
            Gamma::ONE,
            Convention::Paper,
            Some(&task),
        );
        let courses = result.unwrap().task.unwrap();
        let course = |passes: &[u32], regressions: &[u32]| Course {
            base: 100,
            target: 200,
            passes: passes.to_vec(),
            regressions: regressions.to_vec(),
        };
        assert_eq!(courses.repo, "p");
        assert_eq!(
            courses.runs,
            [[course(&[50, 150], &[1])], [course(&[120, 140], &[])]]
        );
    }

    #[test]
    fn refusals_have_a_reason() {
        let mut board = board();
        board.entries[1].tasks_mut()[0].samples[0].paper = None;
        let mut apart = entry("d", &[("p", &[&[0.1]])]);
        apart.tasks_mut()[0].origin_mut().task_id = TaskId::new("another").unwrap();
        board.entries.push(apart);
        board.entries.push(entry("e", &[]));
        let check = |models: &[&str], task: Option<&str>, expect: &str| {
            let task = task.map(|id| TaskId::new(id).unwrap());
            let result = board.versus(&ids(models), Gamma::ONE, Convention::Paper, task.as_ref());
            let message = result.unwrap_err().to_string();
            assert!(message.contains(expect), "{message}");
        };
        check(&[], None, "needs 2 to 6 runs, not 0");
        check(&["a"], None, "not 1");
        check(&["a", "b", "c", "d", "e", "f", "g"], None, "not 7");
        check(&["a", "c", "a"], None, "`run-a` appears twice");
        check(&["a", "x"], None, "`run-x` is not on the leaderboard");
        check(&["a", "e"], None, "it has no scored task yet");
        check(&["a", "b"], None, "compare in the `reference` convention");
        check(&["a", "d"], None, "no task that all of these runs");
        check(&["a", "c"], Some("task-2"), "`task-2` is not a task");
        let reference = board.versus(&ids(&["a", "b"]), Gamma::ONE, Convention::Reference, None);
        assert_eq!(reference.unwrap().tasks.len(), 3);
    }
}
