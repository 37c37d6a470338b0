//! Computes leaderboard data from the counts of its runs.

use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use futures::stream::{self, StreamExt, TryStreamExt};
use swe_ci_base::blocking::blocking;
use swe_ci_base::clock::rfc3339;
use swe_ci_base::error::Result;
use swe_ci_core::requirement::Mode;
use swe_ci_core::task::TaskId;
use swe_ci_store::{LeaderboardRun, StoredCounts, TaskOrigin};
use swe_ci_views::finding::unranked;
use swe_ci_views::leaderboard::{
    Board, Entry, Extent, LeaderboardData, Origin, Published, ScoredTask,
};

use super::counts::{FORMAT, RunCounts};
use crate::leaderboard_cache::{CountedRun, Inputs};
use crate::published::published;
use crate::{Engine, as_u32};

/// The counted results of a run.
pub(in crate::api) struct Counted {
    /// Tested iterations of all its evolutions, scored or not.
    pub iterations: u32,
    /// Absent before its first scored evolution.
    pub entry: Option<Entry>,
}

#[swe_ci_boxed::boxed]
impl Engine {
    pub(super) async fn compute_leaderboard(&self, board: Board) -> Result<LeaderboardData> {
        let split = &board.split;
        if let Some(day) = &board.snapshot {
            return self.frozen_leaderboard(split, day, board.mode).await;
        }
        self.check_split(split).await?;
        let mut runs = self.store.leaderboard_runs(split).await?;
        runs.retain(|run| board.has(&run.config));
        let entries = self.entries_of(split, runs).await?;
        // Measured with tests at hand, from the base of each task.
        let published = match (board.mode, &board.handover) {
            (Mode::Tdd, None) => self.outside_results(split).await?,
            _ => Published::default(),
        };
        let mut of = self.extent_of(split).await?;
        if board.handover.is_some() {
            // A task whose start is solved already has nothing to hand over.
            let tasks = entries.iter().map(|entry| entry.tasks_total).max();
            of.tasks = tasks.unwrap_or_default();
        }
        Ok(LeaderboardData::new(board, of, entries, published))
    }

    /// Results of a split that only others have: those of the hub's leaderboard if it
    /// was read, else the paper's.
    async fn outside_results(&self, split: &str) -> Result<Published> {
        let read = self.store.outside_results(split).await?;
        Ok(read.unwrap_or_else(|| published().clone()))
    }

    /// The entries of those of these runs of a split that have scores.
    pub(in crate::api) async fn entries_of(
        &self,
        split: &str,
        runs: Vec<LeaderboardRun>,
    ) -> Result<Vec<Entry>> {
        let suspicions = self.store.suspicions_of_split(split).await?;
        let counted = self.counted_runs(split, &runs).await?;
        let entries = runs.into_iter().zip(counted).filter_map(|(run, counted)| {
            let suspicions = suspicions.get(&run.run_id).into_iter().flatten();
            let unranked = unranked(&run.config, run.set_aside.as_ref(), suspicions);
            let entry = scored(entry(run, &counted))?;
            Some(Entry { unranked, ..entry })
        });
        Ok(entries.collect())
    }

    pub(in crate::api) async fn extent_of(&self, split: &str) -> Result<Extent> {
        Ok(Extent {
            tasks: self.store.scorable_tasks(split).await?,
            iterations: self.store.declared_iterations(split).await?,
        })
    }

    /// A run's leaderboard entry; `None` before its first scored evolution.
    pub(in crate::api) async fn entry(&self, run_id: &str) -> Result<Option<Entry>> {
        let run = self.store.leaderboard_run(run_id).await?;
        Ok(scored(self.counted_entry(run).await?))
    }

    /// A run's entry as it stands beside a leaderboard, which need not have it.
    pub(super) async fn entry_beside(&self, run_id: &str) -> Result<Entry> {
        let run = self.store.leaderboard_run(run_id).await?;
        let run_ids = [run_id.to_owned()];
        let suspicions = self.store.suspicions_of_runs(&run_ids).await?;
        let suspicions = suspicions.values().flatten();
        let unranked = unranked(&run.config, run.set_aside.as_ref(), suspicions);
        let entry = self.counted_entry(run).await?;
        Ok(Entry { unranked, ..entry })
    }

    async fn counted_entry(&self, run: LeaderboardRun) -> Result<Entry> {
        let runs = std::slice::from_ref(&run);
        let counted = self.counted_runs(&run.config.split, runs).await?;
        Ok(entry(run, &counted[0]))
    }

    /// The counted results of runs of any splits, by run.
    pub(in crate::api) async fn counts_of(
        &self,
        run_ids: &[String],
    ) -> Result<HashMap<String, Counted>> {
        let mut by_split: BTreeMap<String, Vec<LeaderboardRun>> = BTreeMap::new();
        for run in self.store.leaderboard_runs_of(run_ids).await? {
            let split = run.config.split.clone();
            by_split.entry(split).or_default().push(run);
        }
        let mut all = HashMap::new();
        for (split, runs) in by_split {
            let counted = self.counted_runs(&split, &runs).await?;
            all.extend(runs.into_iter().zip(counted).map(|(run, counted)| {
                let (run_id, iterations) = (run.run_id.clone(), counted.iterations);
                let entry = scored(entry(run, &counted));
                (run_id, Counted { iterations, entry })
            }));
        }
        Ok(all)
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
        let is_missing = |run: &&LeaderboardRun| cache.get(&run.run_id, &inputs(run)).is_none();
        let missing: Vec<&LeaderboardRun> = runs.iter().filter(is_missing).collect();
        self.read_counts(&missing, &origins).await?;
        let mut counted = Vec::with_capacity(runs.len());
        for run in runs {
            counted.push(match cache.get(&run.run_id, &inputs(run)) {
                Some(counted) => counted,
                None => {
                    let counted = Arc::new(origins.counted(self.count(run).await?));
                    cache.insert(run.run_id.clone(), inputs(run), counted.clone());
                    counted
                }
            });
        }
        Ok(counted)
    }

    /// Takes the stored counts of runs of a split into memory, in parts: while one
    /// comes from the database, another is read.
    async fn read_counts(&self, runs: &[&LeaderboardRun], origins: &Arc<Origins>) -> Result<()> {
        let revision = |run: &&LeaderboardRun| (run.run_id.clone(), run.revision.clone());
        let parts = runs.chunks(AT_ONCE);
        let parts: Vec<HashMap<String, String>> = parts
            .map(|part| part.iter().map(revision).collect())
            .collect();
        let parts = parts
            .into_iter()
            .map(|revisions| self.read_part(revisions, origins.clone()));
        stream::iter(parts).buffer_unordered(2).try_collect().await
    }

    /// `revisions` are those of the results of runs, by run.
    async fn read_part(
        &self,
        mut revisions: HashMap<String, String>,
        origins: Arc<Origins>,
    ) -> Result<()> {
        let ids: Vec<String> = revisions.keys().cloned().collect();
        let stored = self.store.stored_counts(&ids, FORMAT).await?;
        let digest = origins.digest;
        for (run_id, counted) in blocking(move || Ok(origins.read_all(stored))).await? {
            if let Some(revision) = revisions.remove(&run_id) {
                let inputs = Inputs {
                    revision,
                    origins: digest,
                };
                self.leaderboards.runs.insert(run_id, inputs, counted);
            }
        }
        Ok(())
    }
}

/// Stored counts that are read together.
const AT_ONCE: usize = 64;

/// The origin of each task of a split.
struct Origins {
    by_task: HashMap<TaskId, Arc<Origin>>,
    /// Changes with the content.
    digest: u64,
}

impl Origins {
    fn new(origins: Vec<TaskOrigin>) -> Self {
        let mut hasher = DefaultHasher::new();
        origins.hash(&mut hasher);
        let day = |ms| rfc3339(ms)[..10].to_owned();
        let origin = |task: TaskOrigin| Origin {
            task_id: task.id,
            repo: task.repo,
            target_date: task.target_time.map(day),
        };
        let origins = origins.into_iter().map(|task| Arc::new(origin(task)));
        Self {
            by_task: origins
                .map(|origin| (origin.task_id.clone(), origin))
                .collect(),
            digest: hasher.finish(),
        }
    }

    /// Leaves out what cannot be read: it will be counted again.
    fn read_all(&self, stored: Vec<StoredCounts>) -> Vec<(String, Arc<CountedRun>)> {
        let read = |StoredCounts { run_id, counts }| match RunCounts::unpacked(&counts) {
            Ok(counts) => Some((run_id, Arc::new(self.counted(counts)))),
            Err(error) => {
                tracing::warn!(run_id, "stored counts cannot be read: {error:#}");
                None
            }
        };
        stored.into_iter().filter_map(read).collect()
    }

    fn counted(&self, counts: RunCounts) -> CountedRun {
        let (total, blocked) = (counts.tasks.len(), counts.blocked());
        let tasks = counts.tasks.into_iter().filter_map(|mut task| {
            let origin = self.by_task.get(&task.task_id)?.clone();
            // Most have one, and room for four.
            task.samples.shrink_to_fit();
            (!task.samples.is_empty()).then_some(ScoredTask {
                origin,
                revision: task.revision,
                samples: task.samples,
            })
        });
        let tasks: Box<[ScoredTask]> = tasks.collect();
        CountedRun {
            usage: counts.usage,
            micro_usd: counts.micro_usd,
            findings: counts.findings,
            truncated_steps: counts.truncated_steps,
            iterations: counts.iterations,
            out_of_budget: counts.out_of_budget,
            being_audited: counts.being_audited,
            tasks_total: as_u32(total),
            tasks_blocked: as_u32(blocked),
            tasks: Arc::new(tasks.into_vec()),
        }
    }
}

/// `None` before its first scored evolution.
fn scored(entry: Entry) -> Option<Entry> {
    Some(entry).filter(|entry| !entry.tasks.is_empty())
}

fn entry(run: LeaderboardRun, counted: &CountedRun) -> Entry {
    let config = run.config;
    Entry {
        run_id: run.run_id,
        harness: config.harness.name().into(),
        model: config.model,
        provider: config.provider,
        harness_version: run.provenance.harness_version,
        release_date: config.release_date,
        training_cutoff: config.training_cutoff,
        kind: config.kind,
        mode: config.mode,
        arm: config.arm,
        mark: run.mark,
        unranked: None,
        progress: run.progress,
        metric_version: run.provenance.metric_version,
        finished_at: run.finished_at,
        usage: counted.usage,
        micro_usd: counted.micro_usd,
        findings: counted.findings,
        truncated_steps: counted.truncated_steps,
        max_iterations: config.plan.max_iterations,
        chosen: !config.tasks.is_empty(),
        samples: config.samples,
        tasks_total: counted.tasks_total,
        tasks_blocked: counted.tasks_blocked,
        out_of_budget: counted.out_of_budget,
        being_audited: counted.being_audited,
        tasks: counted.tasks.clone(),
    }
}
