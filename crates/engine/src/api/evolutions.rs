//! One evolution, test by test.

use std::collections::HashMap;

use swe_ci_base::error::{Error, Result};
use swe_ci_core::metrics::Verdict;
use swe_ci_core::task::TaskId;
use swe_ci_store::{IterationRow, StepRow};
use swe_ci_views::view::{EvolutionDetail, StepView};

use crate::Engine;
use crate::api::runs;

impl Engine {
    /// Every completed attempt at a step, in order; includes iterations that
    /// were never tested.
    pub async fn steps(&self, evolution_id: &str) -> Result<Vec<StepView>> {
        self.visible_evolution(evolution_id).await?;
        let steps = self.store.steps(evolution_id).await?;
        Ok(steps.iter().map(StepRow::view).collect())
    }

    /// One evolution of a run, with the outcomes of every test.
    ///
    /// # Errors
    /// [`Error::NotFound`] when there is no such run, or it has no such sample
    /// (from 1) of this task.
    pub async fn evolution(
        &self,
        run_id: &str,
        task: &TaskId,
        sample: u32,
    ) -> Result<EvolutionDetail> {
        let run = self.visible_run(run_id).await?;
        let mut samples = self.store.evolutions_of_run(run_id).await?;
        samples.retain(|row| row.task_id == *task);
        let count = u32::try_from(samples.len()).unwrap_or(u32::MAX);
        if count == 0 {
            return Err(Error::not_found("task in this run", task));
        }
        let row = samples
            .into_iter()
            .find(|row| row.sample == sample)
            .ok_or_else(|| Error::not_found("sample of this task", sample))?;
        let suite = self.store.suite(&row.suite).await?;
        let mut rows = self.store.iterations(&row.id).await?;
        let view = runs::view(row, run.config.plan.max_iterations, &rows);
        if suite.counts.counts_only {
            rows.clear();
        }
        let same_code = same_code(&rows);
        let outcomes = rows
            .into_iter()
            .map(|row| matches!(row.verdict, Verdict::Scored { .. }).then_some(row.outcomes));
        Ok(EvolutionDetail {
            run_id: run.run_id,
            model: run.config.model,
            kind: run.config.kind,
            samples: count,
            view,
            node_ids: suite.tests.into_node_ids(),
            base_outcomes: suite.base_outcomes,
            outcomes: outcomes.collect(),
            same_code,
        })
    }
}

/// For each iteration the first one scored with the same code, if that is an
/// earlier one: code is stored under its content.
fn same_code(rows: &[IterationRow]) -> Vec<Option<u32>> {
    if rows.iter().any(|row| row.code.is_empty()) {
        return Vec::new();
    }
    let mut first: HashMap<&str, u32> = HashMap::new();
    let twin = |row| {
        let IterationRow {
            code,
            iteration,
            verdict,
            ..
        }: &IterationRow = row;
        let found = first.get(code.as_str()).copied();
        if found.is_none() && matches!(verdict, Verdict::Scored { .. }) {
            first.insert(code, *iteration);
        }
        found
    };
    rows.iter().map(twin).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use swe_ci_core::outcomes::Outcomes;

    #[test]
    fn code_is_known_again() {
        let check = |codes: &[&str], expect: &[Option<u32>]| {
            let row = |(iteration, code): (u32, &&str)| IterationRow {
                iteration,
                verdict: match code.strip_prefix('!') {
                    Some(_) => Verdict::Collapsed { lost: 0 },
                    None => Verdict::Scored {
                        in_target: 0,
                        passed: 0,
                        lost: 0,
                    },
                },
                gained: 0,
                outcomes: Outcomes::from_letters(String::new()),
                collapse: None,
                findings: Vec::new(),
                code: code.trim_start_matches('!').to_owned(),
                test_seconds: 0.0,
                finished_at: 0,
            };
            let rows: Vec<IterationRow> = (1..).zip(codes).map(row).collect();
            assert_eq!(same_code(&rows), expect, "{codes:?}");
        };
        check(&[], &[]);
        check(&["a", "b", "a", "a"], &[None, None, Some(1), Some(1)]);
        // A collapse has no outcomes of single tests.
        check(&["!a", "a", "!a"], &[None, None, Some(2)]);
        // Imported results have no code.
        check(&["", ""], &[]);
    }
}
