//! How long a run of a split would take.

use std::collections::HashMap;

use swe_ci_base::error::{Error, Result};
use swe_ci_core::task::TaskId;
use swe_ci_views::view::TaskState;

use crate::Engine;

/// The run whose duration is asked for.
#[derive(Debug, Clone)]
pub struct PlannedRun {
    pub split: String,
    pub samples: u32,
    pub iterations: u32,
    /// Of both agents, in each iteration.
    pub agent_seconds: f64,
    /// A run of the same split: its evolutions took as long as these will.
    pub like: Option<String>,
}

#[swe_ci_boxed::boxed]
impl Engine {
    /// The expected duration of each evolution, in seconds: as long as those of
    /// a run, or else the agents' and the suite's time in all iterations. A task
    /// that the run did not finish takes as long as the mean of the others.
    ///
    /// # Errors
    /// [`Error::Invalid`] when no task of the split can be run, or when the run
    /// has finished none of them.
    pub async fn expected_durations(&self, planned: &PlannedRun) -> Result<Vec<f64>> {
        let tasks = self.store.task_summaries(Some(&planned.split)).await?;
        let ready: Vec<_> = tasks
            .iter()
            .filter(|task| task.state == TaskState::Ready)
            .collect();
        if ready.is_empty() {
            let split = &planned.split;
            let why = format!(
                "no task of the split {split} can be run; `swe-ci read splits` shows the splits"
            );
            return Err(Error::Invalid(why));
        }
        let of_each: Vec<f64> = match &planned.like {
            None => {
                let iterations = f64::from(planned.iterations);
                let seconds = |suite| iterations * (planned.agent_seconds + suite);
                ready
                    .iter()
                    .map(|task| seconds(task.suite_seconds))
                    .collect()
            }
            Some(like) => {
                let run = self.visible_run(like).await?;
                let measured = self.store.work_by_task(&run.run_id).await?;
                let known: HashMap<TaskId, f64> = measured.into_iter().collect();
                let known_here = ready.iter().filter_map(|task| known.get(&task.task_id));
                let (count, sum) = known_here.fold((0.0, 0.0), |(n, sum), it| (n + 1.0, sum + it));
                if count == 0.0 {
                    let why = format!("the run {like} has finished no task of this split");
                    return Err(Error::Invalid(why));
                }
                let mean = sum / count;
                let seconds = |id| known.get(id).copied().unwrap_or(mean);
                ready.iter().map(|task| seconds(&task.task_id)).collect()
            }
        };
        let samples = (0..planned.samples).flat_map(|_| of_each.iter().copied());
        Ok(samples.collect())
    }
}
