//! Reproducibility cards of runs.

use swe_ci_base::error::Result;
use swe_ci_core::run::Kind;
use swe_ci_views::card::{Card, TaskOnCard};

use crate::Engine;
use crate::api::submission::dataset_digest;

impl Engine {
    /// The reproducibility card of a run.
    ///
    /// # Errors
    /// [`Error::NotFound`](crate::Error::NotFound) when there is no such run.
    pub async fn card(&self, run_id: &str) -> Result<Card> {
        let run = self.visible_run(run_id).await?;
        let provenance = self.store.provenance(run_id).await?;
        let mut tasks = self.store.tasks_of_run(run_id).await?;
        // A task may have been prepared again since, with another image: only
        // the digest shows whether these are the tasks of the run.
        let digest = dataset_digest(tasks.iter().map(TaskOnCard::ends));
        let same = run.config.kind != Kind::Imported && digest == provenance.dataset_digest;
        if !same {
            tasks.iter_mut().for_each(|task| task.image = None);
        }
        let layers = self.store.layers_of_run(run_id).await?;
        Ok(Card::new(run, provenance, tasks, layers))
    }
}
