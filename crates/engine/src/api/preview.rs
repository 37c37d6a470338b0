//! The estimated cost of a run, before it is queued.

use swe_ci_base::error::Result;
use swe_ci_core::run::{Kind, RunConfig};
use swe_ci_core::step::Role;
use swe_ci_views::account::Visibility;
use swe_ci_views::submission::Estimate;

use crate::Engine;

/// Runs that the estimate considers, the newest visible ones.
const MAX_RUNS: u32 = 200;

impl Engine {
    /// Estimates a run's cost from earlier iterations of the same harness and
    /// model, in runs the actor may see.
    ///
    /// # Errors
    /// As [`Engine::submit`].
    pub async fn preview(&self, config: RunConfig) -> Result<Estimate> {
        let draft = self.draft(config, Visibility::Private).await?;
        let mut iteration_costs = Vec::new();
        for run in self.store.runs(&self.visible_runs(), "", MAX_RUNS).await? {
            if is_alike(&run.config, &draft.config) {
                iteration_costs.extend(self.store.iteration_costs(&run.run_id).await?);
            }
        }
        let tasks = u32::try_from(draft.tasks.len()).unwrap_or(u32::MAX);
        Ok(Estimate::of(&draft.config, tasks, &iteration_costs))
    }
}

/// Whether the same agents use the same models.
fn is_alike(one: &RunConfig, other: &RunConfig) -> bool {
    let same = |role| {
        let [one, other] = [one, other].map(|config| config.agent(role));
        let same = one.zip(other).map(|(one, other)| {
            let [model, other_model] =
                [&one, &other].map(|a| a.endpoint.as_ref().map(|e| &e.model));
            one.harness.name() == other.harness.name() && model == other_model
        });
        same.unwrap_or_default()
    };
    one.kind != Kind::Imported && same(Role::Architect) && same(Role::Programmer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use swe_ci_core::agent::HarnessConfig;

    #[test]
    fn only_the_same_agents_are_precedents() {
        let human = RunConfig::human("s");
        let mut shorter = RunConfig::human("other");
        shorter.plan.max_iterations = 2;
        assert!(is_alike(&human, &shorter));
        let mut imported = human.clone();
        imported.kind = Kind::Imported;
        assert!(!is_alike(&imported, &human));
        let mut builtin = human.clone();
        builtin.harness = HarnessConfig::Builtin;
        assert!(!is_alike(&builtin, &human));
    }
}
