//! Recorded runs as data for training: conversations of iterations with a reward,
//! or pairs of conversations that began alike and came to different rewards.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use swe_ci_base::blocking::blocking;
use swe_ci_base::error::{Error, Result};
use swe_ci_core::metrics::Verdict;
use swe_ci_core::step::{Role, StepOutcome};
use swe_ci_core::task::TaskId;
use swe_ci_gateway::trajectory::{Chat, Conversations};
use swe_ci_store::EvolutionRow;
use swe_ci_views::training::{TrainingFormat, iteration_reward};

use crate::Engine;

/// Which conversations to export.
#[derive(Debug, Clone)]
pub struct TrainingRequest {
    pub format: TrainingFormat,
    /// Ids of runs.
    pub runs: Vec<String>,
    /// Only these tasks; all when empty.
    pub tasks: BTreeSet<TaskId>,
    /// Only repositories under these licences, as SPDX names them; all when empty.
    pub licences: BTreeSet<String>,
    /// Iterations count whose reward is above it; of a pair the better one.
    pub above: f64,
}

/// How many rows were written, and what was left out.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct TrainingExport {
    pub rows: usize,
    /// Steps of tasks under other licences, or under none that is known.
    pub other_licences: usize,
    /// Steps whose iterations have a smaller reward, or that have no counterpart.
    pub no_reward: usize,
}

/// A step with a recorded conversation.
#[derive(Debug, Clone)]
struct Example {
    run: String,
    model: String,
    task: TaskId,
    licence: Option<String>,
    sample: u32,
    iteration: u32,
    role: Role,
    reward: f64,
    /// The code that it began with: of an iteration, else the commit of the base.
    start: String,
    recording: String,
}

impl Example {
    fn about(&self) -> Value {
        json!({
            "run": self.run, "model": self.model, "task": self.task, "licence": self.licence,
            "sample": self.sample, "iteration": self.iteration, "role": self.role.name(),
            "reward": self.reward,
        })
    }
}

#[swe_ci_boxed::boxed]
impl Engine {
    /// Gives each row to `write`, one at a time.
    ///
    /// # Errors
    /// [`Error::Conflict`] for a run that is not over; what `write` returns.
    pub async fn export_training(
        &self,
        request: &TrainingRequest,
        write: &mut (dyn FnMut(Value) -> Result<()> + Send),
    ) -> Result<TrainingExport> {
        let mut export = TrainingExport::default();
        let mut examples = Vec::new();
        for run in &request.runs {
            examples.extend(self.examples(run, request, &mut export).await?);
        }
        let all = examples.len();
        let used = match request.format {
            TrainingFormat::Sft => {
                self.write_conversations(examples, request.above, write)
                    .await?
            }
            TrainingFormat::Dpo => self.write_pairs(examples, request.above, write).await?,
        };
        (export.rows, export.no_reward) = (used.0, all - used.1);
        Ok(export)
    }

    /// Rows, and the examples in them.
    async fn write_conversations(
        &self,
        examples: Vec<Example>,
        above: f64,
        write: &mut (dyn FnMut(Value) -> Result<()> + Send),
    ) -> Result<(usize, usize)> {
        let mut rows = 0;
        for example in examples.iter().filter(|example| example.reward > above) {
            let Chat { tools, messages } = self.chat(example).await?;
            write(json!({"messages": messages, "tools": tools, "about": example.about()}))?;
            rows += 1;
        }
        Ok((rows, rows))
    }

    /// Of the steps of a role that began with the same code, the best and the worst,
    /// where they were asked the same.
    async fn write_pairs(
        &self,
        examples: Vec<Example>,
        above: f64,
        write: &mut (dyn FnMut(Value) -> Result<()> + Send),
    ) -> Result<(usize, usize)> {
        let mut groups: BTreeMap<_, Vec<Example>> = BTreeMap::new();
        for example in examples {
            let alike = (
                example.task.clone(),
                example.start.clone(),
                example.role.name(),
            );
            groups.entry(alike).or_default().push(example);
        }
        let mut rows = 0;
        for mut group in groups.into_values() {
            group.sort_by(|a, b| b.reward.total_cmp(&a.reward));
            let (Some(better), Some(worse)) = (group.first(), group.last()) else {
                continue;
            };
            if better.reward <= above || better.reward <= worse.reward {
                continue;
            }
            let chosen = self.chat(better).await?;
            let tools = chosen.tools.clone();
            let (prompt, chosen) = chosen.split();
            let (other, rejected) = self.chat(worse).await?.split();
            if prompt == other {
                write(json!({
                    "prompt": prompt, "chosen": chosen, "rejected": rejected, "tools": tools,
                    "about": {"chosen": better.about(), "rejected": worse.about()},
                }))?;
                rows += 1;
            }
        }
        Ok((rows, 2 * rows))
    }

    async fn chat(&self, example: &Example) -> Result<Chat> {
        let bytes = self.artifacts.get(&example.recording).await?;
        let name = example.recording.clone();
        Ok(blocking(move || Ok(Conversations::read(&name, bytes)?.chat())).await?)
    }

    async fn examples(
        &self,
        run_id: &str,
        request: &TrainingRequest,
        export: &mut TrainingExport,
    ) -> Result<Vec<Example>> {
        let run = self.visible_run(run_id).await?;
        if !run.progress.is_over() {
            return Err(Error::Conflict(format!("run {run_id} is not over yet")));
        }
        let mut examples = Vec::new();
        for evolution in self.store.evolutions_of_run(run_id).await? {
            if !request.tasks.is_empty() && !request.tasks.contains(&evolution.task_id) {
                continue;
            }
            let licence = self
                .store
                .revision_of_evolution(&evolution.id)
                .await?
                .summary()
                .licence;
            let found = self
                .examples_of(&run.config.model, &evolution, licence.clone())
                .await?;
            let allowed = |licence: &String| request.licences.contains(licence);
            match request.licences.is_empty() || licence.as_ref().is_some_and(allowed) {
                true => examples.extend(found),
                false => export.other_licences += found.len(),
            }
        }
        Ok(examples)
    }

    /// The steps of an evolution that did their work, with the reward of their iteration.
    async fn examples_of(
        &self,
        model: &str,
        evolution: &EvolutionRow,
        licence: Option<String>,
    ) -> Result<Vec<Example>> {
        let base = evolution
            .pinned
            .as_ref()
            .map(|pinned| pinned.base_sha.clone());
        let handed_over = evolution.start.as_ref().map(|start| start.code.clone());
        let mut start = handed_over.or(base).unwrap_or_default();
        let mut rewards = BTreeMap::new();
        for row in self.store.iterations(&evolution.id).await? {
            let reward = iteration_reward(evolution.counts, row.gained, row.verdict.lost());
            rewards.insert(row.iteration, (reward, start.clone()));
            if matches!(row.verdict, Verdict::Scored { .. }) {
                start = row.code;
            }
        }
        let steps = self.store.steps(&evolution.id).await?.into_iter();
        let done = steps.filter(|step| matches!(step.outcome, StepOutcome::Done));
        let example = |step: swe_ci_store::StepRow| {
            let (reward, start) = rewards.get(&step.iteration)?.clone();
            Some(Example {
                run: evolution.run_id.clone(),
                model: model.to_owned(),
                task: evolution.task_id.clone(),
                licence: licence.clone(),
                sample: evolution.sample,
                iteration: step.iteration,
                role: step.role,
                reward,
                start,
                recording: step.trajectory?,
            })
        };
        Ok(done.filter_map(example).collect())
    }
}
