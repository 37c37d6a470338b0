//! Computes leaderboard data from the counts of its runs.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use anyhow::Context;
use swe_ci_base::blocking::blocking;
use swe_ci_base::clock::rfc3339;
use swe_ci_base::error::Result;
use swe_ci_core::task::TaskId;
use swe_ci_store::{LeaderboardRun, TaskOrigin};
use swe_ci_views::finding::unranked;
use swe_ci_views::leaderboard::{Entry, LeaderboardData, ScoredTask};

use super::counts::RunCounts;
use crate::leaderboard_cache::{CountedRun, Inputs};
use crate::published::published;
use crate::{Engine, as_u32};

impl Engine {
    pub(super) async fn compute_leaderboard(&self, split: &str) -> Result<LeaderboardData> {
        self.check_split(split).await?;
        let suspicions = self.store.suspicions_of_split(split).await?;
        // A run over some tasks of a split cannot be compared with one over all.
        let mut runs = self.store.leaderboard_runs(split).await?;
        runs.retain(|run| run.config.tasks.is_empty());
        let counted = self.counted_runs(split, &runs).await?;
        let entries = runs.into_iter().zip(counted).filter_map(|(run, counted)| {
            let suspicions = suspicions.get(&run.run_id).into_iter().flatten();
            let unranked = unranked(&run.config, suspicions);
            let entry = entry(run, &counted)?;
            Some(Entry { unranked, ..entry })
        });
        let published = published().clone();
        Ok(LeaderboardData::new(
            split.to_owned(),
            entries.collect(),
            published,
        ))
    }

    /// A run's leaderboard entry; `None` before its first scored evolution.
    pub(super) async fn entry(&self, run_id: &str) -> Result<Option<Entry>> {
        let run = self.store.leaderboard_run(run_id).await?;
        let runs = std::slice::from_ref(&run);
        let counted = self.counted_runs(&run.config.split, runs).await?;
        Ok(counted
            .first()
            .and_then(|counted| entry(run.clone(), counted)))
    }

    /// The counts of runs of a split, in their order: from memory, from the
    /// store, or counted now.
    async fn counted_runs(
        &self,
        split: &str,
        runs: &[LeaderboardRun],
    ) -> Result<Vec<Arc<CountedRun>>> {
        let origins = Arc::new(Origins::new(self.store.task_origins(split).await?));
        let inputs = |run: &LeaderboardRun| Inputs {
            revision: run.revision.clone(),
            origins: origins.digest,
        };
        let cache = &self.leaderboards.runs;
        let missing = |run: &&LeaderboardRun| cache.get(&run.run_id, &inputs(run)).is_none();
        let missing: Vec<LeaderboardRun> = runs.iter().filter(missing).cloned().collect();
        // One row of a split is not worth reading all of them.
        let mut stored = match missing.len() {
            0 | 1 => HashMap::new(),
            _ => self.stored_counts(split).await?,
        };
        let mut known = Vec::new();
        for run in missing {
            let Some(json) = stored.remove(&run.run_id) else {
                let counts = self.count(&run).await?;
                let counted = Arc::new(origins.counted(counts));
                cache.insert(run.run_id.clone(), inputs(&run), counted);
                continue;
            };
            known.push((run.run_id.clone(), inputs(&run), json));
        }
        let read = origins.clone();
        let read = move || read_all(known, &read);
        for (run_id, inputs, counted) in blocking(read).await? {
            cache.insert(run_id, inputs, counted);
        }
        let mut counted = Vec::with_capacity(runs.len());
        for run in runs {
            counted.push(match cache.get(&run.run_id, &inputs(run)) {
                Some(counted) => counted,
                // Evicted in the meantime.
                None => Arc::new(origins.counted(self.count(run).await?)),
            });
        }
        Ok(counted)
    }
}

type Read = (String, Inputs, Arc<CountedRun>);

fn read_all(stored: Vec<(String, Inputs, String)>, origins: &Origins) -> anyhow::Result<Vec<Read>> {
    let read = |(run_id, inputs, json): (String, Inputs, String)| {
        let counts: RunCounts = serde_json::from_str(&json)
            .with_context(|| format!("the stored counts of run {run_id}"))?;
        Ok((run_id, inputs, Arc::new(origins.counted(counts))))
    };
    stored.into_iter().map(read).collect()
}

/// The repository of each task, and the day of its target commit.
struct Origins {
    by_task: HashMap<TaskId, (String, Option<String>)>,
    /// Changes with the content.
    digest: u64,
}

impl Origins {
    fn new(origins: Vec<TaskOrigin>) -> Self {
        let mut hasher = DefaultHasher::new();
        origins.hash(&mut hasher);
        let day = |ms| rfc3339(ms)[..10].to_owned();
        let origins = origins.into_iter();
        Self {
            by_task: origins
                .map(|task| (task.id, (task.repo, task.target_time.map(day))))
                .collect(),
            digest: hasher.finish(),
        }
    }

    fn counted(&self, counts: RunCounts) -> CountedRun {
        let (total, blocked) = (counts.tasks.len(), counts.blocked());
        let tasks = counts.tasks.into_iter().filter_map(|task| {
            let (repo, target_date) = self.by_task.get(&task.task_id)?;
            (!task.samples.is_empty()).then(|| ScoredTask {
                task_id: task.task_id,
                repo: repo.clone(),
                target_date: target_date.clone(),
                samples: task.samples,
            })
        });
        CountedRun {
            usage: counts.usage,
            micro_usd: counts.micro_usd,
            findings: counts.findings,
            tasks_total: as_u32(total),
            tasks_blocked: as_u32(blocked),
            tasks: Arc::new(tasks.collect()),
        }
    }
}

/// A run's leaderboard entry; `None` before its first scored evolution.
fn entry(run: LeaderboardRun, counted: &CountedRun) -> Option<Entry> {
    if counted.tasks.is_empty() {
        return None;
    }
    let config = run.config;
    Some(Entry {
        run_id: run.run_id,
        harness: config.harness.name().into(),
        model: config.model,
        provider: config.provider,
        harness_version: run.provenance.harness_version,
        release_date: config.release_date,
        kind: config.kind,
        mark: run.mark,
        unranked: None,
        progress: run.progress,
        metric_version: run.provenance.metric_version,
        finished_at: run.finished_at,
        usage: counted.usage,
        micro_usd: counted.micro_usd,
        findings: counted.findings,
        max_iterations: config.plan.max_iterations,
        tasks_total: counted.tasks_total,
        tasks_blocked: counted.tasks_blocked,
        tasks: counted.tasks.clone(),
    })
}
