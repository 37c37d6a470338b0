//! The leaderboard of tasks that a model cannot have seen in training.

use std::sync::Arc;

use super::{Entry, LeaderboardData};

/// A leaderboard with only the tasks younger than the models, and the
/// omissions.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Unseen {
    pub data: Arc<LeaderboardData>,
    pub left_out: LeftOut,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct LeftOut {
    /// Models without a training cutoff and a release date, in order of name.
    pub undated_models: Vec<String>,
    /// Models that may have seen all of their tasks, in order of name.
    pub too_young: Vec<String>,
    /// Models with fewer such tasks than half of the most that any model has, in order
    /// of name: one easy task must make no leader.
    pub too_few: Vec<String>,
    /// Tasks whose target has an unknown date, in order of name.
    pub undated_tasks: Vec<String>,
}

impl LeaderboardData {
    /// For each run, only the tasks whose target was committed after its
    /// model's training data ends, or if that is not known, after its release: no
    /// training data can contain them. Models and tasks without a date are omitted and
    /// listed, and so are models with far fewer tasks than others. Runs keep their
    /// positions, even with no task left.
    pub fn unseen(&self) -> Unseen {
        let mut left_out = LeftOut::default();
        let unseen = |entry: &Entry| entry.since(entry.learnt_until());
        let mut entries: Vec<Entry> = self.entries.iter().map(unseen).collect();
        let most = entries.iter().map(|entry| entry.tasks.len()).max();
        let enough = most.unwrap_or(0).div_ceil(2);
        for (entry, unseen) in self.entries.iter().zip(&mut entries) {
            let undated = entry
                .tasks
                .iter()
                .filter(|t| t.origin.target_date.is_none());
            let undated = undated.map(|task| task.task_id().to_string());
            left_out.undated_tasks.extend(undated);
            if entry.learnt_until().is_none() {
                left_out.undated_models.push(entry.model.clone());
            } else if unseen.tasks.is_empty() {
                left_out.too_young.push(entry.model.clone());
            } else if unseen.tasks.len() < enough {
                left_out.too_few.push(entry.model.clone());
                *unseen = entry.since(None);
            }
        }
        let data = Self {
            entries,
            unranked: self.unranked.iter().map(unseen).collect(),
            ..self.clone()
        };
        for names in [
            &mut left_out.undated_models,
            &mut left_out.too_young,
            &mut left_out.too_few,
            &mut left_out.undated_tasks,
        ] {
            names.sort();
            names.dedup();
        }
        Unseen {
            data: Arc::new(data),
            left_out,
        }
    }
}

impl Entry {
    /// The last day that the model may know code of: the end of its training
    /// data, or, if nobody says when that was, its release.
    pub fn learnt_until(&self) -> Option<&str> {
        let known = self.training_cutoff.as_ref().or(self.release_date.as_ref());
        known.map(String::as_str)
    }

    /// The run with only the tasks whose targets are younger than a day.
    fn since(&self, day: Option<&str>) -> Self {
        // `YYYY-MM-DD` sorts as text.
        let younger = |date: &String| day.is_some_and(|day| date.as_str() > day);
        self.only(|task| task.origin.target_date.as_ref().is_some_and(younger))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{entry, leaderboard};
    use swe_ci_core::metrics::{Convention, Gamma};

    fn run(model: &str, released: Option<&str>) -> Entry {
        let scores: [&[&[f64]]; 4] = [&[&[1.0]], &[&[0.5]], &[&[0.0]], &[&[-1.0]]];
        let mut run = entry(model, &scores.map(|samples| ("r", samples)));
        run.release_date = released.map(str::to_owned);
        run.tasks_total = 4;
        let days = [
            Some("2026-01-01"),
            Some("2026-01-02"),
            Some("2027-01-01"),
            None,
        ];
        for (task, day) in run.tasks_mut().iter_mut().zip(days) {
            task.origin_mut().target_date = day.map(str::to_owned);
        }
        run
    }

    #[test]
    fn only_targets_younger_than_the_model_count() {
        let check = |released: Option<&str>, expect: Option<(u32, f64)>| {
            let unseen = leaderboard(vec![run("m", released)]).unseen();
            let rows = unseen.data.rank(Gamma::ONE, Convention::Paper);
            let actual = rows.first().map(|row| (row.tasks, row.evoscore));
            assert_eq!(actual, expect, "{released:?}");
            assert!(rows.iter().all(|row| row.tasks_total == 4));
            assert_eq!(unseen.left_out.undated_tasks, ["task-3"]);
        };
        check(Some("2025-06-01"), Some((3, 0.5)));
        // The release date itself is not after it.
        check(Some("2026-01-01"), Some((2, 0.25)));
        check(Some("2026-12-31"), Some((1, 0.0)));
        check(Some("2027-01-01"), None);
        check(None, None);
    }

    /// The cutoff lets tasks count that are older than the release.
    #[test]
    fn a_training_cutoff_goes_before_the_release() {
        let mut run = run("m", Some("2027-06-01"));
        run.training_cutoff = Some("2026-01-01".into());
        let rows = leaderboard(vec![run]).unseen();
        assert_eq!(rows.data.entries[0].tasks.len(), 2);
    }

    #[test]
    fn a_model_with_far_fewer_tasks_is_omitted() {
        let runs = vec![
            run("old", Some("2025-06-01")),
            run("new", Some("2026-12-31")),
        ];
        let unseen = leaderboard(runs).unseen();
        let rows = unseen.data.rank(Gamma::ONE, Convention::Paper);
        assert_eq!((rows.len(), rows[0].model.as_str()), (1, "old"));
        assert_eq!(unseen.left_out.too_few, ["new"]);
        assert_eq!(unseen.data.entries.len(), 2, "runs keep their positions");
    }

    #[test]
    fn omissions_are_listed() {
        let runs = [
            run("young", Some("2028-01-01")),
            run("undated", None),
            run("another", None),
            run("fine", Some("2025-01-01")),
        ];
        let unseen = leaderboard(runs.to_vec()).unseen();
        assert_eq!(unseen.data.entries.len(), 4, "runs keep their positions");
        assert_eq!(unseen.data.rank(Gamma::ONE, Convention::Paper).len(), 1);
        assert_eq!(unseen.left_out.undated_models, ["another", "undated"]);
        assert_eq!(unseen.left_out.too_young, ["young"]);
        assert_eq!(LeaderboardData::default().unseen(), Unseen::default());
    }
}
