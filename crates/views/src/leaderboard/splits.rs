//! A model over several splits, such as those of successive months.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use swe_ci_core::metrics::{Convention, Gamma, mean};
use swe_ci_core::requirement::Mode;
use swe_ci_core::task::TaskId;
use swe_ci_core::uncertainty::Interval;

use super::freshness::{Draws, Scored, change};
use super::{Entry, LeaderboardData, ScoreChange};
use crate::count;

/// The scores of a model on its splits, the one with the youngest targets last. Of
/// each split it is the newest finished run in the mode and with the harness of the
/// model's newest one, so that only the tasks differ.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct SplitSeries {
    pub convention: Convention,
    pub harness: String,
    pub mode: Mode,
    /// At least two.
    pub splits: Vec<SplitScore>,
}

/// The score of a model on one split.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct SplitScore {
    pub split: String,
    pub run_id: String,
    /// Scored tasks.
    pub tasks: u32,
    /// The day of the oldest of their targets, `YYYY-MM-DD`; absent, like the
    /// youngest, when none is known.
    pub first_target: Option<String>,
    pub last_target: Option<String>,
    /// Equation 3, the mean over these tasks, -1 to 1.
    pub evoscore: f64,
    /// 95 % cluster bootstrap; absent with fewer than two repositories.
    pub interval: Option<Interval>,
    /// From the split before; absent for the first.
    pub change: Option<ScoreChange>,
    /// Tasks that the split before has too.
    pub shared_tasks: u32,
}

impl SplitSeries {
    /// `None` with finished and scored runs on fewer than two splits.
    pub fn of(
        boards: &[impl AsRef<LeaderboardData>],
        model: &str,
        gamma: Gamma,
        convention: Convention,
    ) -> Option<Self> {
        let runs = boards.iter().flat_map(|board| {
            let board = board.as_ref();
            let runs = board.entries.iter().filter(|run| {
                run.model == model && run.progress.is_over() && run.is_scored(convention)
            });
            runs.map(move |run| (board.split.as_str(), run))
        });
        let runs: Vec<(&str, &Entry)> = runs.collect();
        // Ids of runs are in the order of their submission.
        let (_, newest) = runs.iter().max_by_key(|(_, run)| &run.run_id)?;
        let mut by_split: BTreeMap<&str, &Entry> = BTreeMap::new();
        for &(split, run) in &runs {
            if (&run.harness, run.mode) == (&newest.harness, newest.mode) {
                let of_split = by_split.entry(split).or_insert(run);
                if of_split.run_id < run.run_id {
                    *of_split = run;
                }
            }
        }
        let mut splits: Vec<(&str, &Entry)> = by_split.into_iter().collect();
        splits.sort_by_key(|(_, run)| targets(run).next_back());
        let mut before: Option<Vec<Scored<'_>>> = None;
        let mut scores = Vec::new();
        for (split, run) in splits {
            let scored = run.scored_tasks(gamma, convention);
            scores.push(SplitScore::new(split, run, &scored, before.as_deref())?);
            before = Some(scored);
        }
        (scores.len() >= 2).then(|| Self {
            convention,
            harness: newest.harness.clone(),
            mode: newest.mode,
            splits: scores,
        })
    }
}

impl SplitScore {
    fn new(
        split: &str,
        run: &Entry,
        scored: &[Scored<'_>],
        before: Option<&[Scored<'_>]>,
    ) -> Option<Self> {
        let draws = Draws::new(&[scored]);
        let ids = |tasks: &[Scored<'_>]| -> BTreeSet<TaskId> {
            tasks
                .iter()
                .map(|(task, _)| task.task_id().clone())
                .collect()
        };
        let shared = before.map(|before| ids(before).intersection(&ids(scored)).count());
        let mut days = targets(run);
        let first = days.next();
        let last = days.next_back().or(first);
        Some(Self {
            split: split.to_owned(),
            run_id: run.run_id.clone(),
            tasks: count(scored.len()),
            first_target: first.map(str::to_owned),
            last_target: last.map(str::to_owned),
            evoscore: mean(scored.iter().map(|(_, score)| *score))?,
            interval: draws.interval(scored),
            change: before.and_then(|before| change(before, scored)),
            shared_tasks: count(shared.unwrap_or(0)),
        })
    }
}

/// The known days of a run's targets, the oldest first.
fn targets(run: &Entry) -> impl DoubleEndedIterator<Item = &str> {
    let days = run.tasks.iter();
    let days = days.filter_map(|task| task.origin.target_date.as_deref());
    days.collect::<BTreeSet<&str>>().into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{entry, leaderboard};
    use std::sync::Arc;
    use swe_ci_core::run::Progress;

    /// A split whose targets are of one day; each task of a repository of its own.
    fn board(split: &str, run_id: &str, day: &str, scores: [f64; 2]) -> Arc<LeaderboardData> {
        let [p, q] = scores.map(|score| [score]);
        let mut run = entry("m", &[("p", &[&p]), ("q", &[&q])]);
        run.run_id = run_id.to_owned();
        for task in run.tasks_mut() {
            let origin = task.origin_mut();
            origin.target_date = Some(day.to_owned());
            origin.task_id = TaskId::new(format!("{}-{split}", origin.task_id)).unwrap();
        }
        let mut data = leaderboard(vec![run]);
        split.clone_into(&mut data.split);
        Arc::new(data)
    }

    fn series(boards: &[Arc<LeaderboardData>]) -> Option<SplitSeries> {
        SplitSeries::of(boards, "m", Gamma::ONE, Convention::Paper)
    }

    /// From January, with 1 and 0, to March, with 0.5 and -0.5, both repositories
    /// fall by 0.5, and so does each draw; to April one falls by 0.5 and the other
    /// rises by 0.5.
    #[test]
    fn changes_by_hand() {
        let january = board("one", "r1", "2026-01-05", [1.0, 0.0]);
        let march = board("two", "r2", "2026-03-05", [0.5, -0.5]);
        let april = board("three", "r3", "2026-04-05", [0.0, 0.0]);
        let series = series(&[april, march, january]).unwrap();
        let seen: Vec<(&str, f64, Option<f64>)> = series
            .splits
            .iter()
            .map(|s| (s.split.as_str(), s.evoscore, s.change.map(|c| c.change)))
            .collect();
        let expect = [
            ("one", 0.5, None),
            ("two", 0.0, Some(-0.5)),
            ("three", 0.0, Some(0.0)),
        ];
        assert_eq!(seen, expect);
        let change = |at: usize| series.splits[at].change.unwrap().interval.unwrap();
        assert!((change(1).low + 0.5).abs() < 1e-12 && (change(1).high + 0.5).abs() < 1e-12);
        assert!((change(2).low + 0.5).abs() < 1e-12 && (change(2).high - 0.5).abs() < 1e-12);
        let interval = series.splits[0].interval.unwrap();
        assert_eq!((interval.low, interval.high), (0.0, 1.0));
        let march = &series.splits[1];
        assert_eq!(march.last_target.as_deref(), Some("2026-03-05"));
        assert_eq!((march.tasks, march.shared_tasks), (2, 0));
    }

    /// Tasks of both splits count on both sides, and are told.
    #[test]
    fn shared_tasks_are_counted() {
        let first = board("one", "r1", "2026-01-05", [1.0, 0.0]);
        let mut second = (*board("two", "r2", "2026-03-05", [1.0, 0.5])).clone();
        let shared = first.entries[0].tasks[0].clone();
        second.entries[0].tasks_mut()[0] = shared;
        let series = series(&[first, Arc::new(second)]).unwrap();
        assert_eq!(series.splits[1].shared_tasks, 1);
        assert_eq!(series.splits[1].first_target.as_deref(), Some("2026-01-05"));
    }

    #[test]
    fn only_runs_alike_are_compared() {
        let old = board("one", "r1", "2026-01-05", [1.0, 0.0]);
        let new = board("two", "r5", "2026-03-05", [1.0, 0.5]);
        let changed = |change: fn(&mut Entry)| {
            let mut old = (*old).clone();
            change(&mut old.entries[0]);
            series(&[Arc::new(old), new.clone()])
        };
        assert!(changed(|_| ()).is_some());
        assert_eq!(changed(|run| run.harness = "another".into()), None);
        assert_eq!(changed(|run| run.mode = Mode::Rdd), None);
        assert_eq!(changed(|run| run.progress = Progress::Running), None);
        assert_eq!(changed(|run| run.model = "another".into()), None);
        // Of two runs of a split the newest counts.
        let newer = board("one", "r3", "2026-01-05", [0.5, 0.5]);
        let both = series(&[newer, old, new.clone()]).unwrap();
        assert_eq!(both.splits[0].run_id, "r3");
        assert_eq!(series(&[new]), None);
    }
}
