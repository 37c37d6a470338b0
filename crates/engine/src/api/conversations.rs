//! Conversations of agents with their models.

use std::io::{BufWriter, Seek};
use std::sync::Arc;

use anyhow::Context;
use serde_json::json;
use swe_ci_base::blocking::blocking;
use swe_ci_base::error::{Error, Result};
use swe_ci_core::run::{Kind, RunConfig};
use swe_ci_core::step::Role;
use swe_ci_core::usage::Usage;
use swe_ci_gateway::trajectory::{About, Conversations};
use swe_ci_store::StepRow;
use swe_ci_views::conversation::{
    Message, Messages, MessagesPage, NearbyStep, RecordedStep, RecordingFormat, Window,
};

use crate::Engine;
use crate::api::downloads::{Pieces, pieces};
use crate::byte_cache::{ByteCache, Weighed};
use crate::heavy_reads::{HeavyReads, typed};

/// Limits of the cache: recordings and bytes.
const MAX_RECORDINGS: usize = 256;
const CACHE_BYTES: u64 = 64 << 20;
/// Approximate bytes of a message without its texts.
const MESSAGE_OVERHEAD: usize = 400;

/// Messages by the artifact they were read from, and when the step that wrote
/// it ended, in unix milliseconds.
pub type Recordings = ByteCache<(String, i64), Messages>;

pub fn recordings(reads: HeavyReads) -> Recordings {
    ByteCache::new(MAX_RECORDINGS, CACHE_BYTES, reads)
}

impl Weighed for Messages {
    fn bytes(&self) -> usize {
        let bytes = |message: &Message| MESSAGE_OVERHEAD + message.weight();
        self.messages.iter().map(bytes).sum()
    }
}

#[swe_ci_boxed::boxed]
impl Engine {
    /// The exchanges of one attempt at a step, one JSON object a line, as the
    /// gateway recorded them, piece by piece.
    ///
    /// # Errors
    /// [`Error::NotFound`] when there is no such attempt, it used no model, or
    /// another program recorded it.
    pub async fn recording_file(
        &self,
        evolution_id: &str,
        iteration: u32,
        role: Role,
        attempt: u32,
    ) -> Result<Pieces> {
        let key = self.recording_key(evolution_id, iteration, role, attempt);
        let key = key.await?;
        if RecordingFormat::of(&key) == RecordingFormat::Atif {
            let what = format!("{} {attempt} of iteration {iteration}", role.name());
            return Err(Error::not_found(
                "recording in JSON lines (another program made it: ask for format=atif) of",
                what,
            ));
        }
        Ok(pieces(self.artifacts.reader(&key).await.map_err(typed)?))
    }

    async fn recording_key(
        &self,
        evolution_id: &str,
        iteration: u32,
        role: Role,
        attempt: u32,
    ) -> Result<String> {
        let step = self.find_step(evolution_id, iteration, role, attempt);
        let what = format!("{} {attempt} of iteration {iteration}", role.name());
        let Some(step) = step.await? else {
            return Err(Error::not_found("step", what));
        };
        let key = step.trajectory;
        key.ok_or_else(|| Error::not_found("recording of", what))
    }

    /// The same as a trajectory in Harbor's interchange format (ATIF), a file which is
    /// on the disk while its reader takes it. A trajectory that another program
    /// recorded stays as it is.
    ///
    /// # Errors
    /// [`Error::NotFound`] when there is no such attempt, or it used no model;
    /// [`Error::Busy`] when too many large files are being read.
    pub async fn trajectory_file(
        &self,
        evolution_id: &str,
        iteration: u32,
        role: Role,
        attempt: u32,
    ) -> Result<Pieces> {
        let key = self.recording_key(evolution_id, iteration, role, attempt);
        let key = key.await?;
        if RecordingFormat::of(&key) == RecordingFormat::Atif {
            return Ok(pieces(self.artifacts.reader(&key).await.map_err(typed)?));
        }
        let about = self.about(evolution_id, iteration, role, attempt).await?;
        let _permit = self.heavy_reads.permit().await?;
        let bytes = self.artifacts.get(&key).await.map_err(typed)?;
        let written = blocking(move || {
            let trajectory = Conversations::read(&key, bytes)?.atif(&about);
            let mut file = BufWriter::new(tempfile::tempfile()?);
            serde_json::to_writer(&mut file, &trajectory)?;
            let mut file = file.into_inner()?;
            file.rewind()?;
            Ok(file)
        });
        Ok(pieces(written.await?))
    }

    async fn about(
        &self,
        evolution_id: &str,
        iteration: u32,
        role: Role,
        attempt: u32,
    ) -> Result<About> {
        let row = self.store.evolution(evolution_id).await?;
        let run = self.store.run(&row.run_id).await?;
        let about = about_agent(&run.config, role).context("the agent uses no model")?;
        let version = self.store.provenance(&row.run_id).await?.harness_version;
        let extra = [
            ("run_id", json!(row.run_id)),
            ("task_id", json!(row.task_id.as_str())),
            ("iteration", iteration.into()),
            ("role", role.name().into()),
            ("attempt", attempt.into()),
        ];
        Ok(About {
            session: format!("{evolution_id}/{iteration}/{}/{attempt}", role.name()),
            version: Some(version).filter(|version| !version.is_empty()),
            extra: extra
                .map(|(name, value)| (name.to_owned(), value))
                .into_iter()
                .collect(),
            ..about
        })
    }

    /// Some messages of a step, and the matches of a text in all of them; of
    /// the last recorded attempt unless `attempt` names another.
    ///
    /// # Errors
    /// [`Error::NotFound`] when there is no such attempt, or it used no model.
    pub async fn messages(
        &self,
        evolution_id: &str,
        iteration: u32,
        role: Role,
        attempt: Option<u32>,
        window: Window,
    ) -> Result<MessagesPage> {
        let evolution = self.visible_evolution(evolution_id).await?;
        let run = self.visible_run(&evolution.run_id).await?;
        let mut steps = self.store.steps(evolution_id).await?;
        steps.retain(|step| step.trajectory.is_some());
        let nearby = nearby(&steps, iteration);
        steps.retain(|step| (step.iteration, step.role) == (iteration, role));
        let mut attempts: Vec<u32> = steps.iter().map(|step| step.attempt).collect();
        attempts.dedup();
        let wanted = |step: &StepRow| attempt.is_none_or(|attempt| attempt == step.attempt);
        let step = steps.into_iter().rfind(wanted).ok_or_else(|| {
            let what = format!("the {} of iteration {iteration}", role.name());
            Error::not_found("recording of", what)
        })?;
        let all = self.cached_messages(&step).await?;
        let of = RecordedStep {
            run_id: run.run_id,
            model: run.config.model,
            task_id: evolution.task_id,
            sample: evolution.sample,
            evolution_id: evolution.id,
            iteration,
            role,
            attempt: step.attempt,
            attempts,
            nearby,
            recording: RecordingFormat::of(step.trajectory.as_deref().unwrap_or_default()),
        };
        let page = move || Ok(all.page(of, &window));
        Ok(blocking(page).await?)
    }

    async fn cached_messages(&self, step: &StepRow) -> Result<Arc<Messages>> {
        let key = step.trajectory.clone().unwrap_or_default();
        // Earlier versions repeated an interrupted step under the same key.
        let cache_key = (key.clone(), step.finished_at);
        let read = async {
            let bytes = self.artifacts.get(&key).await?;
            blocking(move || Ok(Conversations::read(&key, bytes)?.into_messages())).await
        };
        self.recordings.of(cache_key, read).await.map_err(typed)
    }

    /// The last one: an interrupted attempt is repeated under its number.
    pub(super) async fn find_step(
        &self,
        evolution_id: &str,
        iteration: u32,
        role: Role,
        attempt: u32,
    ) -> Result<Option<StepRow>> {
        self.visible_evolution(evolution_id).await?;
        let steps = self.store.steps(evolution_id).await?;
        Ok(steps
            .into_iter()
            .rfind(|s| (s.iteration, s.role, s.attempt) == (iteration, role, attempt)))
    }
}

/// The agent of a role and its model, by the configuration; `None` for an agent
/// without a model. An agent that ran elsewhere has names alone.
pub(super) fn about_agent(config: &RunConfig, role: Role) -> Option<About> {
    let agent = config.agent(role)?;
    let (model, prices) = match agent.endpoint {
        Some(endpoint) => (endpoint.model, endpoint.prices),
        None if config.kind == Kind::Imported => (config.model.clone(), None),
        None => return None,
    };
    Some(About {
        session: String::new(),
        harness: agent.harness.name().to_owned(),
        version: None,
        model,
        prices,
        extra: serde_json::Map::new(),
    })
}

/// The recorded steps of an iteration, the last one before it and the first one
/// after it. The repetition of an interrupted attempt counts alone.
fn nearby(recorded: &[StepRow], iteration: u32) -> Vec<NearbyStep> {
    let before = recorded.partition_point(|step| step.iteration < iteration);
    let after = recorded.partition_point(|step| step.iteration <= iteration);
    let shown = &recorded[before.saturating_sub(1)..recorded.len().min(after + 1)];
    let mut nearby: Vec<NearbyStep> = shown
        .iter()
        .map(|step| NearbyStep {
            iteration: step.iteration,
            role: step.role,
            attempt: step.attempt,
            tokens: step.usage.map(Usage::total),
        })
        .collect();
    nearby.reverse();
    nearby.dedup_by_key(|step| (step.iteration, step.role, step.attempt));
    nearby.reverse();
    nearby
}
