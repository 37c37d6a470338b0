//! The handover matrix: the finished handovers of a split.

use std::collections::HashMap;

use swe_ci_base::blocking::blocking;
use swe_ci_base::error::Result;
use swe_ci_core::handover::{Continuation, Handover, Point};
use swe_ci_core::metrics::Verdict;
use swe_ci_core::outcomes::Outcomes;
use swe_ci_core::run::Progress;
use swe_ci_core::step::Ending;
use swe_ci_core::task::TaskId;
use swe_ci_store::{EvolutionRow, IterationRow, LeaderboardRun, StepCost};
use swe_ci_views::finding::unranked;
use swe_ci_views::handover::{
    After, ContinuedTask, Continuer, HandoverMatrix, HandoverRun, Writer,
};

use super::submission::Earlier;
use crate::{Engine, METRIC_VERSION, as_u32};

impl Engine {
    /// The handover matrix of a split, of the code after this iteration; by
    /// default the first iteration that there is.
    ///
    /// # Errors
    /// [`swe_ci_base::error::Error::NotFound`] when there is no such split.
    pub async fn handovers(&self, split: &str, after: Option<After>) -> Result<HandoverMatrix> {
        let key = (split.to_owned(), self.changes().await?);
        let (engine, name) = (self.clone(), split.to_owned());
        let computation = Box::pin(async move { engine.handover_runs(&name).await });
        let runs = self.leaderboards.handovers.of(key, computation).await?;
        let split = split.to_owned();
        Ok(blocking(move || Ok(HandoverMatrix::new(&split, &runs, after))).await?)
    }

    /// The public, finished handovers of a split that no finding keeps apart,
    /// from runs that are public too, oldest first.
    async fn handover_runs(&self, split: &str) -> Result<Vec<HandoverRun>> {
        self.check_split(split).await?;
        let suspicions = self.store.suspicions_of_split(split).await?;
        let mut runs = self.store.leaderboard_runs(split).await?;
        runs.retain(|run| {
            let suspicions = suspicions.get(&run.run_id).into_iter().flatten();
            let current = run.provenance.metric_version == METRIC_VERSION;
            let over = run.progress == Progress::Finished;
            let unranked = unranked(&run.config, run.set_aside.as_ref(), suspicions);
            current && over && unranked.is_none()
        });
        let origins = self.store.task_origins(split).await?.into_iter();
        let repositories: HashMap<TaskId, String> =
            origins.map(|task| (task.id, task.repo)).collect();
        let mut handovers = Vec::new();
        for run in &runs {
            let Some(handover) = &run.config.handover else {
                continue;
            };
            if let Some(writer) = runs.iter().find(|other| other.run_id == handover.run) {
                let tasks = self.continued_tasks(run, &repositories).await?;
                handovers.push(handover_run(run, handover, writer, tasks));
            }
        }
        Ok(handovers)
    }

    /// The tasks of a handover, with their scored evolutions.
    async fn continued_tasks(
        &self,
        run: &LeaderboardRun,
        repositories: &HashMap<TaskId, String>,
    ) -> Result<Vec<ContinuedTask>> {
        let costs = self.store.costs_by_iteration(&run.run_id).await?;
        let costs: HashMap<(String, u32), StepCost> = costs
            .into_iter()
            .map(|cost| ((cost.evolution_id.clone(), cost.iteration), cost))
            .collect();
        let most = run.config.plan.max_iterations as usize;
        let mut tasks = Vec::new();
        for (task_id, evolutions) in self.earlier(&run.run_id).await? {
            let Some(repo) = repositories.get(&task_id) else {
                continue;
            };
            let mut samples = Vec::new();
            for Earlier {
                evolution,
                mut iterations,
            } in evolutions
            {
                if evolution.ending.is_some_and(Ending::is_scored) {
                    iterations.truncate(most);
                    let start = self.store.suite(&evolution.suite).await?.base_outcomes;
                    samples.push(continuation(&evolution, &start, &iterations, &costs));
                }
            }
            if !samples.is_empty() {
                tasks.push(ContinuedTask {
                    task_id,
                    repo: repo.clone(),
                    samples,
                });
            }
        }
        Ok(tasks)
    }
}

fn handover_run(
    run: &LeaderboardRun,
    handover: &Handover,
    writer: &LeaderboardRun,
    tasks: Vec<ContinuedTask>,
) -> HandoverRun {
    HandoverRun {
        run_id: run.run_id.clone(),
        written_by: Writer {
            run_id: writer.run_id.clone(),
            model: writer.config.model.clone(),
            harness: writer.config.harness.name().to_owned(),
            kind: writer.config.kind,
            mode: writer.config.mode,
        },
        continued_by: Continuer {
            model: run.config.model.clone(),
            harness: run.config.harness.name().to_owned(),
            mode: run.config.mode,
        },
        after: After::of(handover.iteration),
        max_iterations: run.config.plan.max_iterations,
        left_out: as_u32(run.provenance.not_handed_over.len()),
        tasks,
    }
}

fn continuation(
    evolution: &EvolutionRow,
    start: &Outcomes,
    iterations: &[IterationRow],
    costs: &HashMap<(String, u32), StepCost>,
) -> Continuation {
    let (mut tokens, mut micro_usd) = (Some(0), Some(0));
    let add = |sum: &mut Option<u64>, cost: Option<u64>| {
        *sum = sum.zip(cost).map(|(sum, cost)| sum.saturating_add(cost));
    };
    let points = iterations.iter().map(|row| {
        let cost = costs.get(&(evolution.id.clone(), row.iteration));
        add(&mut tokens, cost.and_then(|cost| cost.tokens));
        add(&mut micro_usd, cost.and_then(|cost| cost.micro_usd));
        let scored = matches!(row.verdict, Verdict::Scored { .. });
        Point {
            tokens,
            micro_usd,
            ..Point::between(start, scored.then_some(&row.outcomes))
        }
    });
    Continuation {
        gap: evolution.counts.gap(),
        passing: evolution.counts.base_in_target,
        points: points.collect(),
    }
}
