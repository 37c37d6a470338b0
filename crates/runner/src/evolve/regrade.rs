//! The evolution whose code a run grades again. Its recorded products take the
//! place of the agents' work.

use swe_ci_base::error::{Error, Result};
use swe_ci_core::step::{Cursor, Ending, Role, StepOutcome};
use swe_ci_store::{EvolutionRow, IterationRow, StepRow, Store};

/// What stands for an agent's work at a step.
#[derive(Debug)]
pub(super) struct RecordedWork {
    pub outcome: StepOutcome,
    /// Where it comes from, in words.
    pub detail: String,
    pub product: Option<String>,
}

/// What is stored of the original evolution.
#[derive(Debug)]
pub(super) struct Original {
    run_id: String,
    ending: Option<Ending>,
    steps: Vec<StepRow>,
    iterations: Vec<IterationRow>,
}

impl Original {
    /// The evolution of a run with the task and the sample of `row`.
    pub async fn load(store: &Store, run_id: &str, row: &EvolutionRow) -> Result<Self> {
        let mut evolutions = store.evolutions_of_run(run_id).await?.into_iter();
        let found = evolutions.find(|e| (&e.task_id, e.sample) == (&row.task_id, row.sample));
        let found = found.ok_or_else(|| Error::not_found("evolution of run", run_id))?;
        Ok(Self {
            run_id: run_id.to_owned(),
            ending: found.ending,
            steps: store.steps(&found.id).await?,
            iterations: store.iterations(&found.id).await?,
        })
    }

    /// The last iteration with code; 0 without any.
    pub fn last_iteration(&self) -> u32 {
        self.iterations.last().map_or(0, |row| row.iteration)
    }

    /// What an agent left at this step. Nothing is left after the last code.
    pub fn work(&self, at: Cursor) -> RecordedWork {
        let run_id = &self.run_id;
        let mut stored = self.iterations.iter();
        let Some(stored) = stored.find(|row| row.iteration == at.iteration) else {
            let ending = self.ending.map_or("not over", Ending::name);
            return RecordedWork {
                outcome: StepOutcome::NothingLeft,
                detail: format!("the stored code of run {run_id} ends here ({ending})"),
                product: None,
            };
        };
        let mut steps = self.steps.iter().rev();
        let step = steps.find(|step| {
            (step.iteration, step.role) == (at.iteration, at.role) && step.outcome.has_product()
        });
        RecordedWork {
            outcome: step.map_or(StepOutcome::Done, |step| step.outcome),
            detail: format!("taken from run {run_id}"),
            product: match at.role {
                Role::Programmer => Some(stored.code.clone()),
                _ => step.and_then(|step| step.product.clone()),
            },
        }
    }
}
