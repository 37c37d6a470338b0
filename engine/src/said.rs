//! The façade's answers about what agents and models said to each other.

use anyhow::Context;
use serde_json::{Map, Value};
use swe_ci_core::step::Role;

use crate::Engine;
use crate::error::{Error, Result};
use crate::gateway::Exchange;
use crate::store::StepRow;
use crate::trajectory::{About, atif};

impl Engine {
    /// The exchanges of one attempt at a step, an object of JSON a line, as
    /// the gateway wrote them down.
    ///
    /// # Errors
    /// [`Error::NotFound`] when there is no such attempt, or it asked no model.
    pub async fn recording(
        &self,
        evolution_id: &str,
        iteration: u32,
        role: Role,
        attempt: u32,
    ) -> Result<Vec<u8>> {
        let step = self.step(evolution_id, iteration, role, attempt).await?;
        self.recording_of(&step).await
    }

    /// The same as a trajectory in Harbor's interchange format (ATIF).
    ///
    /// # Errors
    /// As [`Engine::recording`].
    pub async fn trajectory(
        &self,
        evolution_id: &str,
        iteration: u32,
        role: Role,
        attempt: u32,
    ) -> Result<Value> {
        let step = self.step(evolution_id, iteration, role, attempt).await?;
        let lines = self.recording_of(&step).await?;
        let row = self.inner.store.evolution(evolution_id).await?;
        let run = self.inner.store.run(&row.run_id).await?;
        let agent = run.config.agent(role).context("nobody plays this role")?;
        let endpoint = agent.endpoint.context("the agent asks no model")?;
        let version = self
            .inner
            .store
            .provenance(&row.run_id)
            .await?
            .harness_version;
        let mut extra = Map::new();
        for (name, value) in [
            ("run_id", Value::from(row.run_id.clone())),
            ("task_id", row.task_id.to_string().into()),
            ("iteration", iteration.into()),
            ("role", role.name().into()),
            ("attempt", attempt.into()),
        ] {
            extra.insert(name.to_owned(), value);
        }
        let about = About {
            session: format!("{evolution_id}/{iteration}/{}/{attempt}", role.name()),
            harness: agent.harness.name().to_owned(),
            version: Some(version).filter(|version| !version.is_empty()),
            model: endpoint.model,
            prices: endpoint.prices,
            extra,
        };
        let told =
            crate::blocking::blocking(move || Ok(atif(&about, &Exchange::parse_lines(&lines)?)));
        Ok(told.await?)
    }

    async fn step(
        &self,
        evolution_id: &str,
        iteration: u32,
        role: Role,
        attempt: u32,
    ) -> Result<StepRow> {
        self.inner.store.evolution(evolution_id).await?;
        let steps = self.inner.store.steps(evolution_id).await?;
        let found = steps
            .into_iter()
            .rfind(|s| (s.iteration, s.role, s.attempt) == (iteration, role, attempt));
        let what = format!("{} {attempt} of iteration {iteration}", role.name());
        found.ok_or_else(|| Error::not_found("step", what))
    }

    async fn recording_of(&self, step: &StepRow) -> Result<Vec<u8>> {
        let key = step.trajectory.as_ref().ok_or_else(|| {
            let what = format!(
                "{} {} of iteration {}",
                step.role.name(),
                step.attempt,
                step.iteration
            );
            Error::not_found("recording of", what)
        })?;
        Ok(self.inner.artifacts.get(key).await?)
    }
}
