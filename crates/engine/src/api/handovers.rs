//! The handover matrix: the finished handovers of a split.

use std::collections::{BTreeSet, HashMap};

use swe_ci_base::blocking::blocking;
use swe_ci_base::error::Result;
use swe_ci_core::handover::{Continuation, Point};
use swe_ci_core::metrics::Verdict;
use swe_ci_core::outcomes::Outcomes;
use swe_ci_core::run::Progress;
use swe_ci_core::step::Ending;
use swe_ci_core::task::TaskId;
use swe_ci_store::{EvolutionRow, IterationRow, LeaderboardRun, StepCost};
use swe_ci_views::finding::unranked;
use swe_ci_views::handover::{
    After, ContinuedTask, Continuer, HandoverMatrix, HandoverRun, Wanted, Writer,
};

use super::submission::Earlier;
use crate::{Engine, METRIC_VERSION, as_u32};

#[swe_ci_boxed::boxed]
impl Engine {
    /// The handover matrix of a split.
    ///
    /// # Errors
    /// [`swe_ci_base::error::Error::NotFound`] when there is no such split.
    pub async fn handovers(&self, split: &str, wanted: Wanted) -> Result<HandoverMatrix> {
        let key = (split.to_owned(), self.changes().await?);
        let (engine, name) = (self.clone(), split.to_owned());
        let computation = Box::pin(async move { engine.handover_runs(&name).await });
        let runs = self.leaderboards.handovers.of(key, computation).await?;
        let split = split.to_owned();
        Ok(blocking(move || Ok(HandoverMatrix::new(&split, &runs, wanted))).await?)
    }

    /// The public, finished handovers of a split that no finding keeps apart,
    /// from runs that are public too, oldest first.
    async fn handover_runs(&self, split: &str) -> Result<Vec<HandoverRun>> {
        self.check_split(split).await?;
        let runs = self.sound_runs(split).await?;
        let shown = self.with_writers(&runs).await?;
        let shown = |id: &String| shown.iter().find(|run| run.run_id == *id);
        let origins = self.store.task_origins(split).await?.into_iter();
        let repositories: HashMap<TaskId, String> =
            origins.map(|task| (task.id, task.repo)).collect();
        let mut handovers = Vec::new();
        for run in &runs {
            let Some(handover) = &run.config.handover else {
                continue;
            };
            if let Some(writer) = shown(&handover.run) {
                let before = writer.config.handover.as_ref().map(|it| shown(&it.run));
                let went_on_with = before.map(|run| {
                    run.map_or_else(|| "another run".to_owned(), |run| run.config.model.clone())
                });
                let written_by = written_by(writer, went_on_with);
                let (tasks, solved) = self.continued_tasks(run, &repositories).await?;
                handovers.push(HandoverRun {
                    run_id: run.run_id.clone(),
                    written_by,
                    continued_by: Continuer {
                        model: run.config.model.clone(),
                        harness: run.config.harness.name().to_owned(),
                        mode: run.config.mode,
                    },
                    target: handover.target,
                    after: After::of(handover.iteration),
                    max_iterations: run.config.plan.max_iterations,
                    left_out: as_u32(run.provenance.not_handed_over.len()) + solved,
                    tasks,
                });
            }
        }
        Ok(handovers)
    }

    /// The public, finished runs of a split that no finding keeps apart, oldest
    /// first.
    async fn sound_runs(&self, split: &str) -> Result<Vec<LeaderboardRun>> {
        let suspicions = self.store.suspicions_of_split(split).await?;
        let mut runs = self.store.leaderboard_runs(split).await?;
        runs.retain(|run| {
            let suspicions = suspicions.get(&run.run_id).into_iter().flatten();
            let current = run.provenance.metric_version == METRIC_VERSION;
            let over = run.progress == Progress::Finished;
            let unranked = unranked(&run.config, run.set_aside.as_ref(), suspicions);
            current && over && unranked.is_none()
        });
        Ok(runs)
    }

    /// The sound runs among which the writers of the code are that these runs go
    /// on with, and the writers before those: of other splits too, where a target
    /// moved.
    async fn with_writers(&self, runs: &[LeaderboardRun]) -> Result<Vec<LeaderboardRun>> {
        let writers = self.store.leaderboard_runs_of(&earlier_runs(runs)).await?;
        let before = earlier_runs(&writers);
        let before = self.store.leaderboard_runs_of(&before).await?;
        let splits = writers.into_iter().chain(before);
        let splits: BTreeSet<String> = splits.map(|run| run.config.split).collect();
        let mut sound = Vec::new();
        for split in splits {
            sound.extend(self.sound_runs(&split).await?);
        }
        Ok(sound)
    }

    /// The tasks of a handover, with their scored evolutions; and how many others
    /// had nothing to close, as the tests of a later target have shown.
    async fn continued_tasks(
        &self,
        run: &LeaderboardRun,
        repositories: &HashMap<TaskId, String>,
    ) -> Result<(Vec<ContinuedTask>, u32)> {
        let costs = self.store.costs_by_iteration(&run.run_id).await?;
        let costs: HashMap<(String, u32), StepCost> = costs
            .into_iter()
            .map(|cost| ((cost.evolution_id.clone(), cost.iteration), cost))
            .collect();
        let most = run.config.plan.max_iterations as usize;
        let (mut tasks, mut solved) = (Vec::new(), 0);
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
                if evolution.start_measured && evolution.counts.gap() == 0 {
                    solved += 1;
                } else if evolution.ending.is_some_and(Ending::is_scored) {
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
        Ok((tasks, solved))
    }
}

/// The runs whose code these go on with.
fn earlier_runs(runs: &[LeaderboardRun]) -> Vec<String> {
    let earlier = runs.iter().filter_map(|run| run.config.handover.as_ref());
    let earlier: BTreeSet<&String> = earlier.map(|handover| &handover.run).collect();
    earlier.into_iter().cloned().collect()
}

fn written_by(run: &LeaderboardRun, went_on_with: Option<String>) -> Writer {
    Writer {
        run_id: run.run_id.clone(),
        model: run.config.model.clone(),
        harness: run.config.harness.name().to_owned(),
        kind: run.config.kind,
        mode: run.config.mode,
        went_on_with,
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
