//! What a model cannot have seen while it was trained.

use super::{Entry, Sheet};

/// A sheet of the tasks that are younger than the models, and what that
/// leaves out.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Unseen {
    pub sheet: Sheet,
    pub left_out: LeftOut,
}

/// What had to be left out, and why.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct LeftOut {
    /// Models whose day of release is not known, in order of name.
    pub undated_models: Vec<String>,
    /// Models released after the last of their tasks, in order of name.
    pub too_young: Vec<String>,
    /// Tasks the day of whose target is not known, in order of name.
    pub undated_tasks: Vec<String>,
}

impl Sheet {
    /// For each run only the tasks whose target was committed after the
    /// day its model was released: no training data can hold them. What has
    /// no date cannot be told, and is left out and named. Runs keep their
    /// places, also those nothing is left of.
    #[must_use]
    pub fn unseen(&self) -> Unseen {
        let mut left_out = LeftOut::default();
        let entries = self.entries.iter().map(|entry| {
            let undated = entry.tasks.iter().filter(|t| t.target_date.is_none());
            let undated = undated.map(|task| task.task_id.to_string());
            left_out.undated_tasks.extend(undated);
            let unseen = entry.since(entry.release_date.as_deref());
            if entry.release_date.is_none() {
                left_out.undated_models.push(entry.model.clone());
            } else if unseen.tasks.is_empty() {
                left_out.too_young.push(entry.model.clone());
            }
            unseen
        });
        let sheet = Self {
            split: self.split.clone(),
            entries: entries.collect(),
            published: self.published.clone(),
        };
        for names in [
            &mut left_out.undated_models,
            &mut left_out.too_young,
            &mut left_out.undated_tasks,
        ] {
            names.sort();
            names.dedup();
        }
        Unseen { sheet, left_out }
    }
}

impl Entry {
    /// Its tasks whose targets are younger than a day. What the run took of
    /// its model is known of all tasks together, so it is not said of these.
    fn since(&self, day: Option<&str>) -> Self {
        // `YYYY-MM-DD` sorts as text.
        let younger = |date: &String| day.is_some_and(|day| date.as_str() > day);
        let tasks = self.tasks.iter();
        let tasks = tasks.filter(|task| task.target_date.as_ref().is_some_and(younger));
        Self {
            tasks: tasks.cloned().collect(),
            usage: None,
            micro_usd: None,
            ..self.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::{Convention, Gamma};
    use crate::testing::{entry, sheet};

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
        for (task, day) in run.tasks.iter_mut().zip(days) {
            task.target_date = day.map(str::to_owned);
        }
        run
    }

    #[test]
    fn only_targets_younger_than_the_model_count() {
        let check = |released: Option<&str>, expect: Option<(u32, f64)>| {
            let unseen = sheet(vec![run("m", released)]).unseen();
            let rows = unseen.sheet.rank(Gamma::ONE, Convention::Paper);
            let seen = rows.first().map(|row| (row.tasks, row.evoscore));
            assert_eq!(seen, expect, "{released:?}");
            assert!(rows.iter().all(|row| row.tasks_total == 4));
            assert_eq!(unseen.left_out.undated_tasks, ["task-3"]);
        };
        check(Some("2025-06-01"), Some((3, 0.5)));
        // On the very day is not after it.
        check(Some("2026-01-01"), Some((2, 0.25)));
        check(Some("2026-12-31"), Some((1, 0.0)));
        check(Some("2027-01-01"), None);
        check(None, None);
    }

    #[test]
    fn what_is_left_out_is_named() {
        let runs = [
            run("young", Some("2028-01-01")),
            run("undated", None),
            run("another", None),
            run("fine", Some("2025-01-01")),
        ];
        let unseen = sheet(runs.to_vec()).unseen();
        assert_eq!(unseen.sheet.entries.len(), 4, "runs keep their places");
        assert_eq!(unseen.sheet.rank(Gamma::ONE, Convention::Paper).len(), 1);
        assert_eq!(unseen.left_out.undated_models, ["another", "undated"]);
        assert_eq!(unseen.left_out.too_young, ["young"]);
        assert_eq!(Sheet::default().unseen(), Unseen::default());
    }
}
