//! The prices of a run's models, and its budget.

use swe_ci_base::clock;
use swe_ci_base::error::Result;
use swe_ci_core::agent::Budget;
use swe_ci_core::run::RunConfig;

use super::validation_errors::ValidationErrors;
use crate::Engine;

#[swe_ci_boxed::boxed]
impl Engine {
    /// The budget of runs that ask a model and name none.
    pub fn default_budget(&self) -> &Budget {
        &self.config.default_budget
    }

    /// Adds the default budget. Its limit in money holds where all prices are known.
    pub(super) fn add_budget(&self, config: &mut RunConfig) {
        if !config.budget.is_unlimited() || !config.harness.asks_a_model() {
            return;
        }
        let are_priced = config
            .own_agents()
            .filter_map(|(_, agent)| agent.endpoint)
            .all(|endpoint| endpoint.prices.is_some());
        let default = *self.default_budget();
        config.budget = Budget {
            usd: default.usd.filter(|_| are_priced),
            ..default
        };
    }

    /// Adds today's prices from the table, unless the configuration has its
    /// own: the cost then depends on the run alone.
    pub(super) async fn add_prices(
        &self,
        config: &mut RunConfig,
        errors: &mut ValidationErrors,
    ) -> Result<()> {
        let day = clock::today();
        let programmer = config.programmer.as_mut().and_then(|p| p.endpoint.as_mut());
        for endpoint in [config.endpoint.as_mut(), programmer].into_iter().flatten() {
            if endpoint.prices.is_none() {
                endpoint.prices = self.store.price_on(&endpoint.model, &day).await?;
            }
            for (field, budget) in [
                ("budget.usd", config.budget),
                ("evolution_budget.usd", config.evolution_budget),
            ] {
                if endpoint.prices.is_some() || budget.usd.is_none() {
                    continue;
                }
                let problem = format!(
                    "the price of `{0}` is unknown; give the prices of input and output (endpoint.prices; on the form under Advanced), or add them to the table: swe-ci price set {0} --input USD --output USD",
                    endpoint.model
                );
                errors.add(field, problem);
            }
        }
        Ok(())
    }
}
