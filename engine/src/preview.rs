//! What a run would come to, before it is queued.

use swe_ci_core::account::Visibility;
use swe_ci_core::run::{Kind, RunConfig};
use swe_ci_core::step::Role;
use swe_ci_core::submission::Estimate;

use crate::Engine;
use crate::error::Result;

/// Runs that are looked at, the newest of those one may see.
const LOOKED_AT: u32 = 200;

impl Engine {
    /// What a run would come to, by what iterations of the same harness and
    /// model took here in runs one may see.
    ///
    /// # Errors
    /// As [`Engine::submit`].
    pub async fn preview(&self, config: RunConfig) -> Result<Estimate> {
        let draft = self.draft(config, Visibility::Private).await?;
        let store = &self.inner.store;
        let mut precedents = Vec::new();
        for run in store.runs(&self.whose(), "", LOOKED_AT).await? {
            if is_alike(&run.config, &draft.config) {
                precedents.extend(store.precedents(&run.run_id).await?);
            }
        }
        let tasks = u32::try_from(draft.tasks.len()).unwrap_or(u32::MAX);
        Ok(Estimate::of(&draft.config, tasks, &precedents))
    }
}

/// Whether the same agents ask the same models.
fn is_alike(one: &RunConfig, other: &RunConfig) -> bool {
    let same = |role| {
        let [one, other] = [one, other].map(|config| config.agent(role));
        let played = one.zip(other).map(|(one, other)| {
            let [asked, too] = [&one, &other].map(|a| a.endpoint.as_ref().map(|e| &e.model));
            one.harness.name() == other.harness.name() && asked == too
        });
        played.unwrap_or_default()
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
