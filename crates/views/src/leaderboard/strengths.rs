//! A model over all its runs, and its strengths: its tasks in groups with a
//! common property.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};
use swe_ci_core::finding::Unranked;
use swe_ci_core::metrics::{Convention, Gamma, Series, mean};
use swe_ci_core::task::TaskId;
use swe_ci_core::uncertainty::{Clusters, Interval, RESAMPLES, Resamples, SEED};

use super::{Entry, Row, ScoredTask};
use crate::trajectories::LostByClass;
use crate::view::RunSummary;
use crate::{count, format};

/// A group with fewer tasks than this is not significant.
pub const FEW: u32 = 3;

/// All results of one model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ModelDetail {
    pub model: String,
    /// All its runs on all splits, including those without scores.
    pub runs: Vec<ModelRun>,
    /// At γ = 1, for each convention it has scores in.
    pub strengths: Vec<Strengths>,
    /// Why its runs lost tests, as far as their reports were read.
    pub lost: Vec<LostByClass>,
}

/// One run of a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ModelRun {
    #[serde(flatten)]
    pub summary: RunSummary,
    /// Why it has no rank, if it has scores; absent for most runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unranked: Option<Unranked>,
    /// At γ = 1, for each convention it is scored in.
    pub standings: Vec<Standing>,
    /// For each convention it is scored in.
    pub trends: Vec<Trend>,
}

/// The progress of a run's code by iteration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Trend {
    pub convention: Convention,
    /// Mean normalized change (equation 2) of the scored tasks after
    /// iterations 1 to N, -1 to 1; an evolution that is over keeps its last
    /// value. Their mean is EvoScore at γ = 1.
    pub changes: Vec<f64>,
}

/// The rank of a run on its split.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Standing {
    pub convention: Convention,
    /// Number of rows in the ranking.
    pub of: u32,
    pub row: Row,
}

/// The groups of one convention.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Strengths {
    pub convention: Convention,
    pub groups: Vec<Group>,
    /// The tasks with the highest and the lowest score; absent where all are equal.
    pub extremes: Option<Extremes>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Extremes {
    pub best: TaskMean,
    pub worst: TaskMean,
}

/// A task's EvoScore, over its samples and runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct TaskMean {
    pub task_id: TaskId,
    pub evoscore: f64,
}

/// Tasks with a common property, and their results. Means are over tasks;
/// within a task, over its samples and runs first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Group {
    pub common: Common,
    pub tasks: u32,
    /// Equation 3, -1 to 1.
    pub evoscore: f64,
    /// The 95 % interval of that; absent with tasks of fewer than two repositories.
    pub evoscore_interval: Option<Interval>,
    pub solved_rate: f64,
    pub zero_regression_rate: f64,
    /// Share of tasks solved without any regression.
    pub zrr: f64,
}

impl Group {
    pub fn is_small(&self) -> bool {
        self.tasks < FEW
    }
}

/// The common property of a group's tasks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(tag = "by", rename_all = "snake_case")]
pub enum Common {
    /// Tests the target passes and the base does not.
    Gap {
        least: u32,
        most: u32,
    },
    /// Tests the target passes.
    Suite {
        least: u32,
        most: u32,
    },
    Repository {
        name: String,
    },
}

/// "gap of 3 to 17 tests", "10 to 12 tests", "attrs".
impl fmt::Display for Common {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Gap { least, most } => write!(f, "gap of {}", range(*least, *most)),
            Self::Suite { least, most } => f.write_str(&range(*least, *most)),
            Self::Repository { name } => f.write_str(name),
        }
    }
}

fn range(least: u32, most: u32) -> String {
    let tests = format::count(most, "test");
    match least == most {
        true => tests,
        false => format!("{} to {tests}", format::thousands(least)),
    }
}

struct Task<'a> {
    task_id: &'a TaskId,
    repo: &'a str,
    gap: u32,
    suite: u32,
    evoscore: f64,
    solved: f64,
    zero_regression: f64,
    zrr: f64,
}

/// The tasks of a model with the highest and the lowest score.
pub fn extremes(runs: &[&Entry], gamma: Gamma, convention: Convention) -> Option<Extremes> {
    let tasks = tasks(runs, gamma, convention);
    let by_score = |a: &&Task<'_>, b: &&Task<'_>| a.evoscore.total_cmp(&b.evoscore);
    let mean = |task: &Task<'_>| TaskMean {
        task_id: task.task_id.clone(),
        evoscore: task.evoscore,
    };
    let (best, worst) = (
        tasks.iter().max_by(by_score)?,
        tasks.iter().min_by(by_score)?,
    );
    (best.evoscore > worst.evoscore).then(|| Extremes {
        best: mean(best),
        worst: mean(worst),
    })
}

/// Thirds by gap, thirds by suite, repositories by name.
pub fn strengths(runs: &[&Entry], gamma: Gamma, convention: Convention) -> Vec<Group> {
    let tasks = tasks(runs, gamma, convention);
    let gap = |least, most| Common::Gap { least, most };
    let suite = |least, most| Common::Suite { least, most };
    let mut groups = thirds(&tasks, |task| task.gap, gap);
    groups.extend(thirds(&tasks, |task| task.suite, suite));
    let names: BTreeSet<&str> = tasks.iter().map(|task| task.repo).collect();
    groups.extend(names.into_iter().filter_map(|name| {
        let common = Common::Repository { name: name.into() };
        group(common, tasks.iter().filter(|task| task.repo == name))
    }));
    groups
}

/// Each task once, averaged over the runs with it.
fn tasks<'a>(runs: &[&'a Entry], gamma: Gamma, convention: Convention) -> Vec<Task<'a>> {
    let mut by_task: BTreeMap<&TaskId, Vec<(&Entry, &'a ScoredTask)>> = BTreeMap::new();
    for run in runs.iter().filter(|run| run.is_scored(convention)) {
        for task in run.tasks.iter() {
            by_task.entry(task.task_id()).or_default().push((run, task));
        }
    }
    let over_runs = |runs: Vec<(&Entry, &'a ScoredTask)>| {
        let (_, task) = *runs.first()?;
        let series: &Series = task.series(convention).next()?;
        let scores: Vec<_> = runs
            .iter()
            .filter_map(|(run, task)| task.score(&run.weights(gamma), convention))
            .collect();
        Some(Task {
            task_id: task.task_id(),
            repo: task.repo(),
            gap: series.target().saturating_sub(series.base()),
            suite: series.target(),
            evoscore: mean(scores.iter().map(|s| s.evoscore))?,
            solved: mean(scores.iter().map(|s| s.solved))?,
            zero_regression: mean(scores.iter().map(|s| s.zero_regression))?,
            zrr: mean(scores.iter().map(|s| s.zrr))?,
        })
    };
    by_task.into_values().filter_map(over_runs).collect()
}

/// Three groups with about the same number of tasks, from small to large.
/// Equal values stay together, so there may be fewer groups.
fn thirds(
    tasks: &[Task<'_>],
    size: impl Fn(&Task<'_>) -> u32,
    common: impl Fn(u32, u32) -> Common,
) -> Vec<Group> {
    let mut sizes: Vec<u32> = tasks.iter().map(&size).collect();
    sizes.sort_unstable();
    let third = |size: u32| {
        let smaller = sizes.partition_point(|other| *other < size);
        3 * smaller / sizes.len().max(1)
    };
    let one = |number: usize| {
        let members = || tasks.iter().filter(|task| third(size(task)) == number);
        let least = members().map(&size).min()?;
        let most = members().map(&size).max()?;
        group(common(least, most), members())
    };
    (0..3).filter_map(one).collect()
}

fn group<'a>(common: Common, tasks: impl Iterator<Item = &'a Task<'a>>) -> Option<Group> {
    let tasks: Vec<&Task<'_>> = tasks.collect();
    let names: BTreeSet<&str> = tasks.iter().map(|task| task.repo).collect();
    let names: Vec<&str> = names.into_iter().collect();
    let mut clusters = Clusters::new(names.len());
    for task in &tasks {
        let repository = names.binary_search(&task.repo).ok()?;
        clusters.add(repository, task.evoscore);
    }
    // The tasks of one repository have no interval.
    let resamples = (names.len() > 1).then(|| Resamples::new(names.len(), RESAMPLES, SEED));
    let average = |value: fn(&Task<'_>) -> f64| mean(tasks.iter().map(|task| value(task)));
    Some(Group {
        common,
        tasks: count(tasks.len()),
        evoscore: average(|task| task.evoscore)?,
        evoscore_interval: resamples.and_then(|resamples| resamples.interval(&clusters)),
        solved_rate: average(|task| task.solved)?,
        zero_regression_rate: average(|task| task.zero_regression)?,
        zrr: average(|task| task.zrr)?,
    })
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use super::*;
    use crate::testing::entry;

    fn task(gap: u32, evoscore: f64) -> Task<'static> {
        static ID: LazyLock<TaskId> = LazyLock::new(|| TaskId::new("t").unwrap());
        Task {
            task_id: &ID,
            repo: "r",
            gap,
            suite: 10,
            evoscore,
            solved: 0.0,
            zero_regression: 1.0,
            zrr: 0.0,
        }
    }

    #[test]
    fn thirds_keep_equal_values_together() {
        let check = |gaps: &[u32], expect: &[(u32, u32, u32)]| {
            let tasks: Vec<Task<'_>> = gaps.iter().map(|gap| task(*gap, 0.0)).collect();
            let common = |least, most| Common::Gap { least, most };
            let actual: Vec<(u32, u32, u32)> = thirds(&tasks, |t| t.gap, common)
                .into_iter()
                .map(|group| match group.common {
                    Common::Gap { least, most } => (least, most, group.tasks),
                    other => panic!("{other:?}"),
                })
                .collect();
            assert_eq!(actual, expect, "{gaps:?}");
        };
        check(&[], &[]);
        check(&[7], &[(7, 7, 1)]);
        check(&[4, 4, 4, 4], &[(4, 4, 4)]);
        check(&[1, 2, 3], &[(1, 1, 1), (2, 2, 1), (3, 3, 1)]);
        check(&[9, 1, 5, 2, 8, 4], &[(1, 2, 2), (4, 5, 2), (8, 9, 2)]);
        check(&[1, 1, 1, 1, 2, 3], &[(1, 1, 4), (2, 3, 2)]);
        check(&[1, 2, 2, 2, 2, 2], &[(1, 2, 6)]);
    }

    #[test]
    fn a_task_counts_once_over_all_runs() {
        let first = entry("m", &[("alpha", &[&[1.0]]), ("beta", &[&[0.0], &[1.0]])]);
        let second = entry("m", &[("alpha", &[&[0.0]])]);
        let groups = strengths(&[&first, &second], Gamma::ONE, Convention::Paper);
        let by_repository: Vec<(String, u32, f64, f64)> = groups
            .iter()
            .filter_map(|group| match &group.common {
                Common::Repository { name } => {
                    Some((name.clone(), group.tasks, group.evoscore, group.solved_rate))
                }
                _ => None,
            })
            .collect();
        let expect = [("alpha".into(), 1, 0.5, 0.5), ("beta".into(), 1, 0.5, 0.5)];
        assert_eq!(by_repository, expect);
        // One repository says nothing of others, two do: 0.5 in every resample.
        let intervals = |group: &Group| group.evoscore_interval.map(|i| (i.low, i.high));
        assert_eq!(intervals(&groups[0]), Some((0.5, 0.5)));
        assert_eq!(groups.last().and_then(intervals), None);
        // All tasks have one size: one group each.
        let gap = Common::Gap {
            least: 100,
            most: 100,
        };
        assert_eq!((&groups[0].common, groups[0].tasks), (&gap, 2));
        assert!(groups[0].is_small());
    }

    #[test]
    fn best_and_worst() {
        let run = entry(
            "m",
            &[("alpha", &[&[0.2]]), ("beta", &[&[0.9]]), ("c", &[&[-0.5]])],
        );
        let found = extremes(&[&run], Gamma::ONE, Convention::Paper).unwrap();
        assert!(found.best.evoscore > 0.8 && found.worst.evoscore < 0.0);
        assert_ne!(found.best.task_id, found.worst.task_id);
        let one = entry("m", &[("alpha", &[&[0.2]])]);
        assert_eq!(extremes(&[&one], Gamma::ONE, Convention::Paper), None);
    }

    #[test]
    fn names_of_groups() {
        let check = |common: Common, expect: &str| assert_eq!(common.to_string(), expect);
        check(Common::Gap { least: 3, most: 17 }, "gap of 3 to 17 tests");
        check(Common::Gap { least: 1, most: 1 }, "gap of 1 test");
        let suite = Common::Suite {
            least: 10,
            most: 12_000,
        };
        check(suite, "10 to 12\u{202f}000 tests");
        check(Common::Repository { name: "a/b".into() }, "a/b");
    }

    #[test]
    fn runs_without_a_score_in_the_convention_are_omitted() {
        let mut counts = entry("m", &[("r", &[&[1.0]])]);
        counts.tasks_mut()[0].samples[0].paper = None;
        assert_eq!(strengths(&[&counts], Gamma::ONE, Convention::Paper), []);
        let groups = strengths(&[&counts], Gamma::ONE, Convention::Reference);
        assert_eq!(groups.len(), 3);
    }
}
