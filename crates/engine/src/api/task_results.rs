//! Tasks by their results: how hard they are, and the numbers of those whose tests were
//! not counted here.

use std::collections::HashMap;
use std::sync::Arc;

use swe_ci_base::error::Result;
use swe_ci_core::task::TaskId;
use swe_ci_views::task_results::{Difficulty, FirstRequirements, TaskInResults};
use swe_ci_views::view::TaskSummary;

use crate::Engine;

#[swe_ci_boxed::boxed]
impl Engine {
    /// Adds to tasks what the leaderboards of these splits tell of them.
    pub(super) async fn add_results(
        &self,
        tasks: &mut [TaskSummary],
        splits: &[String],
    ) -> Result<()> {
        let places = tasks.iter().enumerate();
        let places = places.map(|(place, task)| (task.task_id.to_string(), place));
        let places: HashMap<String, usize> = places.collect();
        for split in splits {
            let found = self.tasks_in_results(split).await?;
            if found.is_empty() {
                continue;
            }
            let found: HashMap<&str, &TaskInResults> = found
                .iter()
                .map(|(id, found)| (id.as_str(), found))
                .collect();
            for [id, base, target] in self.store.ends_of_split(split).await? {
                let task = places.get(&id).and_then(|place| tasks.get_mut(*place));
                if let (Some(task), Some(found)) = (task, found.get(id.as_str()))
                    && (&task.base_sha, &task.target_sha) == (&base, &target)
                {
                    task.add_results(found);
                }
            }
        }
        Ok(())
    }

    /// The tasks with results on the leaderboard of a split in the default mode.
    async fn tasks_in_results(&self, split: &str) -> Result<Arc<HashMap<TaskId, TaskInResults>>> {
        let key = (split.to_owned(), self.changes().await?);
        let (engine, split) = (self.clone(), split.to_owned());
        let computation = Box::pin(async move {
            let leaderboard = engine.leaderboard_data(split.as_str()).await?;
            let processors = &engine.leaderboards.processors;
            processors
                .compute(move || leaderboard.tasks_in_results())
                .await
        });
        self.leaderboards.tasks.of(key, computation).await
    }

    /// The first requirements of the run that did best on a task; `None` where they are
    /// not recorded.
    pub(super) async fn first_requirements(
        &self,
        task: &TaskId,
        difficulty: Option<&Difficulty>,
    ) -> Result<Option<FirstRequirements>> {
        let Some(Difficulty { best, .. }) = difficulty else {
            return Ok(None);
        };
        let evolutions = self.store.evolutions_of_run(&best.run_id).await?;
        let Some(evolution) = evolutions.into_iter().find(|e| e.task_id == *task) else {
            return Ok(None);
        };
        let mut steps = self.store.steps(&evolution.id).await?;
        steps.retain(|step| step.iteration == 1);
        // Without its artifact, the page has all the rest.
        let requirements = self.requirements(&steps).await.unwrap_or_default();
        Ok((!requirements.is_empty()).then(|| FirstRequirements {
            run_id: best.run_id.clone(),
            model: best.model.clone(),
            sample: evolution.sample,
            requirements,
        }))
    }
}
