//! The estimate of a run: what it will cost, and what it will show.

use swe_ci_base::error::Result;
use swe_ci_core::agent::AgentConfig;
use swe_ci_core::metrics::{Convention, Gamma};
use swe_ci_core::run::{Kind, Progress, RunConfig};
use swe_ci_core::step::Role;
use swe_ci_core::task::TaskId;
use swe_ci_core::uncertainty::PowerPlan;
use swe_ci_views::run_list::RunFilter;
use swe_ci_views::submission::Estimate;

use super::Draft;
use crate::Engine;

/// Runs that an estimate considers, the newest visible ones.
const MAX_RUNS: u32 = 200;
/// Runs whose spread is computed until one shows it.
const MAX_SPREADS: u32 = 3;

#[swe_ci_boxed::boxed]
impl Engine {
    /// Estimates a run's cost from earlier evolutions of the same harness, model and
    /// number of iterations, in runs the actor may see.
    pub(super) async fn estimate(&self, draft: &Draft) -> Result<Estimate> {
        let (visible, all) = (self.visible_runs(), RunFilter::default());
        let (mut costs, mut detects, mut spreads) = (Vec::new(), None, 0);
        let tasks: Vec<TaskId> = draft.tasks.iter().map(|task| task.id.clone()).collect();
        for run in self.store.runs(&visible, &all, "", MAX_RUNS).await? {
            if is_alike(&run.config, &draft.config) {
                costs.extend(self.store.evolution_costs(&run.run_id).await?);
            }
            // A replayed history varies otherwise than agents do.
            let shows = detects.is_none()
                && spreads < MAX_SPREADS
                && run.config.kind != Kind::Human
                && run.progress == Progress::Finished
                && run.config.split == draft.config.split
                && run.config.handover.is_none();
            if shows && let Some(entry) = self.entry(&run.run_id).await? {
                spreads += 1;
                let scores = move || entry.all_scores(Gamma::ONE, Convention::Paper);
                let scores = self.leaderboards.processors.compute(scores).await?;
                let plan = scores.samples.and_then(|samples| samples.plans.at_worst);
                detects = plan.and_then(|plan| detected(&plan, &draft.config, tasks.len()));
            }
        }
        Ok(Estimate {
            detects,
            ..Estimate::of(&draft.config, &tasks, &costs)
        })
    }
}

/// The smallest difference that a run shows which varies as an earlier one does, but
/// has this many tasks.
fn detected(plan: &PowerPlan, config: &RunConfig, tasks: usize) -> Option<f64> {
    let few = plan.rows.iter().filter(|row| row.samples <= config.samples);
    let row = few.max_by_key(|row| row.samples)?;
    Some(row.detectable * (f64::from(plan.tasks) / tasks.max(1) as f64).sqrt())
}

/// Whether the same agents use the same models for as long.
fn is_alike(one: &RunConfig, other: &RunConfig) -> bool {
    let agent = |config: &RunConfig, role| {
        let AgentConfig { harness, endpoint } = config.agent(role)?;
        Some((harness.name().to_owned(), endpoint.map(|e| e.model)))
    };
    let same = |role| agent(one, role).is_some_and(|own| Some(own) == agent(other, role));
    one.kind != Kind::Imported
        && one.plan.max_iterations == other.plan.max_iterations
        && same(Role::Architect)
        && same(Role::Programmer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use swe_ci_core::agent::HarnessConfig;
    use swe_ci_core::uncertainty::{Design, ScoreSpread};

    #[test]
    fn only_the_same_agents_are_precedents() {
        let human = RunConfig::human("s");
        assert!(is_alike(&human, &RunConfig::human("other")));
        let mut shorter = human.clone();
        shorter.plan.max_iterations = 2;
        assert!(!is_alike(&human, &shorter));
        let mut imported = human.clone();
        imported.kind = Kind::Imported;
        assert!(!is_alike(&imported, &human));
        let mut builtin = human.clone();
        builtin.harness = HarnessConfig::Builtin;
        assert!(!is_alike(&builtin, &human));
    }

    #[test]
    fn fewer_tasks_show_less() {
        let spread = ScoreSpread {
            repositories: Some(0.0),
            tasks: Some(0.1),
            samples: Some(0.1),
        };
        let design = Design {
            tasks: 100,
            tasks_per_repository: 1.0,
        };
        let plan = PowerPlan::new(0.03, spread, design).unwrap();
        let mut config = RunConfig::human("s");
        let single = plan.rows[0].detectable;
        assert_eq!(detected(&plan, &config, 100), Some(single));
        assert_eq!(detected(&plan, &config, 25), Some(2.0 * single));
        // As the nearest row below.
        config.samples = 4;
        assert_eq!(detected(&plan, &config, 100), Some(plan.rows[2].detectable));
    }
}
