//! Experiments: many runs that are estimated and queued together.

use swe_ci_base::error::{Error, Result};
use swe_ci_core::run::{BadConfig, RunConfig};
use swe_ci_views::account::Visibility;
use swe_ci_views::submission::{ExperimentEstimate, PlannedRun, Submission};

use crate::Engine;

#[swe_ci_boxed::boxed]
impl Engine {
    /// Estimates every run of an experiment, and all of them together.
    ///
    /// # Errors
    /// As [`Engine::submit`], for the first run that has problems.
    pub async fn estimate_experiment(&self, configs: Vec<RunConfig>) -> Result<ExperimentEstimate> {
        let mut runs = Vec::new();
        for (at, config) in configs.into_iter().enumerate() {
            let draft = self.draft(config, Visibility::Private).await;
            let draft = draft.map_err(|error| of_run(at, error))?;
            let estimate = self.estimate(&draft).await?;
            runs.push(PlannedRun::new(&draft.config, estimate));
        }
        Ok(ExperimentEstimate::of(runs))
    }

    /// Queues every run of an experiment, or none of them if one has problems; returns
    /// their ids.
    ///
    /// # Errors
    /// As [`Engine::submit`], for the first run that has problems.
    pub async fn queue_experiment(&self, submissions: Vec<Submission>) -> Result<Vec<String>> {
        for (at, submission) in submissions.iter().enumerate() {
            let draft = self.draft(submission.config.clone(), submission.visibility);
            draft.await.map_err(|error| of_run(at, error))?;
        }
        self.check_room_for(submissions.len()).await?;
        let mut ids = Vec::new();
        for submission in submissions {
            ids.push(self.queue(submission).await?);
        }
        Ok(ids)
    }
}

fn of_run(at: usize, error: Error) -> Error {
    let named = |bad: BadConfig| {
        BadConfig::new(
            bad.field,
            format!("{} (run {} of the experiment)", bad.problem, at + 1),
        )
    };
    match error {
        Error::Rejected(problems) => Error::Rejected(problems.into_iter().map(named).collect()),
        error => error,
    }
}
