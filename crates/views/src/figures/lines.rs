//! A line per run over steps: the best change by interval of turns (Figure 12),
//! and EvoScore with fewer iterations, which is not in the paper.

use serde::{Deserialize, Serialize};
use swe_ci_core::metrics::Bin;

use super::{Cell, Column, Others, Study, Subject, Table};
use crate::leaderboard::Entry;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Lines {
    /// Label of the horizontal axis.
    pub along: String,
    /// Label of the vertical axis.
    pub value: String,
    /// Prefix of the names of the steps' columns.
    pub prefix: String,
    pub steps: Vec<String>,
    /// Best first, by their last value.
    pub lines: Vec<Line>,
    pub others: Option<Others>,
}

/// The line of one run; shorter than the steps if its N is smaller.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Line {
    pub run: Subject,
    pub values: Vec<f64>,
}

pub fn best_change(study: &Study) -> Lines {
    let mut longest: Vec<Bin> = Vec::new();
    let mut lines = Vec::new();
    let values = |bins: &[Bin]| bins.iter().map(|bin| bin.best_change).collect();
    for (run, entry, _) in study.runs() {
        let bins = entry.profile(study.convention).bins;
        let values = values(&bins);
        lines.push(Line { run, values });
        let end = |bins: &[Bin]| bins.last().map(|bin| bin.to);
        if end(&bins) > end(&longest) {
            longest = bins;
        }
    }
    let name = |bin: &Bin| match bin {
        bin if bin.from == bin.to => bin.to.to_string(),
        bin => format!("{}–{}", bin.from, bin.to),
    };
    Lines {
        along: "iterations".into(),
        value: "Best change so far".into(),
        prefix: "turns".into(),
        steps: longest.iter().map(name).collect(),
        lines,
        others: study.middle_of_others(|entry, _| values(&entry.profile(study.convention).bins)),
    }
    .sorted()
}

/// For n = 1 … N, the EvoScore of the run if it had only n iterations. Its
/// first n iterations would be the same, because an agent does not know N.
pub fn budget(study: &Study) -> Lines {
    let lines: Vec<Line> = study
        .runs()
        .map(|(run, entry, _)| Line {
            run,
            values: scores(study, entry),
        })
        .collect();
    let longest = lines.iter().map(|line| line.values.len()).max();
    let steps = 1..=longest.unwrap_or(0);
    Lines {
        along: "iterations counted".into(),
        value: "EvoScore".into(),
        prefix: "first".into(),
        steps: steps.map(|n| n.to_string()).collect(),
        lines,
        others: study.middle_of_others(|entry, _| scores(study, entry)),
    }
    .sorted()
}

fn scores(study: &Study, entry: &Entry) -> Vec<f64> {
    let mut shorter = entry.clone();
    let score = |n| {
        shorter.max_iterations = n;
        shorter.evoscore(study.gamma, study.convention)
    };
    (1..=entry.max_iterations).map_while(score).collect()
}

impl Lines {
    /// Sorts the lines by their last value, best first.
    fn sorted(mut self) -> Self {
        let end = |line: &Line| line.values.last().copied().unwrap_or_default();
        self.lines.sort_by(|a, b| end(b).total_cmp(&end(a)));
        self
    }

    pub(super) fn table(&self) -> Table {
        let columns = self.steps.iter().map(|step| {
            let name = format!("{}_{}", self.prefix, step.replace('–', "_"));
            Column::new(name, step.clone())
        });
        let rows = self.lines.iter().map(|line| {
            let value = |at: usize| Cell::number(line.values.get(at).copied(), 3);
            (&line.run, (0..self.steps.len()).map(value))
        });
        Table::of_runs(columns, rows)
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{RunSpec, leaderboard, with_study};
    use super::*;

    /// Two tasks, changes 1, 0 and 0.5 (padded). γ = 1: after one iteration
    /// (1 + 0.5) / 2, after two (0.5 + 0.5) / 2. γ = 2: the weights of two
    /// iterations are 1/3 and 2/3, so (1/3 + 0.5) / 2.
    #[test]
    fn budget_by_hand() {
        let data = leaderboard(&[RunSpec::new("a", &[&[1.0, 0.0], &[0.5]])]);
        let check = |gamma, expect: [f64; 2]| {
            with_study(&data, gamma, |study| {
                let lines = budget(study);
                assert_eq!(lines.steps, ["1", "2"]);
                let values = &lines.lines[0].values;
                assert!(
                    values
                        .iter()
                        .zip(expect)
                        .all(|(v, e)| (v - e).abs() < 1e-12),
                    "γ {gamma}: {values:?}"
                );
                // With all iterations it is the run's score.
                assert_eq!(values.last(), Some(&study.rows[0].evoscore));
            });
        };
        check(1.0, [0.75, 0.5]);
        check(2.0, [0.75, 5.0 / 12.0]);
    }

    /// N is 5, so the bins are 1–4 and 5. The best of the first task is 0.4
    /// after four turns and 1 after five, of the second 0.2 throughout.
    #[test]
    fn best_change_by_hand() {
        let data = leaderboard(&[RunSpec::new("a", &[&[0.1, 0.4, 0.0, 0.2, 1.0], &[0.2]])]);
        with_study(&data, 1.0, |study| {
            let lines = best_change(study);
            assert_eq!(lines.steps, ["1–4", "5"]);
            let values = &lines.lines[0].values;
            assert!((values[0] - 0.3).abs() < 1e-12 && (values[1] - 0.6).abs() < 1e-12);
            let csv = lines.table().csv();
            assert!(csv.starts_with("model,provider,run_id,kind,turns_1_4,turns_5\r\n"));
        });
    }
}
