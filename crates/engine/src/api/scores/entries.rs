//! Computes leaderboard data from rows.

use std::collections::{BTreeSet, HashMap};

use swe_ci_base::clock::rfc3339;
use swe_ci_base::error::Result;
use swe_ci_core::metrics::{Convention, Series, Verdict};
use swe_ci_core::run::Progress;
use swe_ci_core::step::Ending;
use swe_ci_core::task::TaskId;
use swe_ci_store::{EvolutionRow, TaskRow};
use swe_ci_views::finding::unranked;
use swe_ci_views::leaderboard::{Entry, LeaderboardData, Sample, ScoredTask};
use swe_ci_views::style::EvolutionStyle;
use swe_ci_views::view::{Provenance, RunSummary};

use crate::api::runs::by_evolution;
use crate::leaderboard_cache::OverRun;
use crate::published::published;
use crate::style_tools::METHOD;
use crate::{Engine, as_u32};

impl Engine {
    pub(super) async fn compute_leaderboard(&self, split: &str) -> Result<LeaderboardData> {
        self.check_split(split).await?;
        let origins = self.origins(split).await?;
        let suspicions = self.store.suspicions_of_split(split).await?;
        let mut entries = Vec::new();
        for run in self.store.runs_of_split(split).await? {
            // A run over some tasks of a split cannot be compared with one over
            // all.
            let whole = run.config.tasks.is_empty();
            if whole && run.progress != Progress::Cancelled {
                let entry = self.entry(&run, &origins).await?;
                // Cached entries do not know of decisions.
                let suspicions = suspicions.get(&run.run_id).into_iter().flatten();
                let unranked = unranked(&run.config, suspicions);
                entries.extend(entry.map(|entry| Entry { unranked, ..entry }));
            }
        }
        let published = published().clone();
        Ok(LeaderboardData::new(split.to_owned(), entries, published))
    }

    pub(super) async fn origins(&self, split: &str) -> Result<Origins> {
        let tasks = self.store.tasks_of_split(split).await?;
        let origin = |task: TaskRow| {
            let date = task.target_time.map(|ms| rfc3339(ms)[..10].to_owned());
            (task.id, (task.repo, date))
        };
        Ok(tasks.into_iter().map(origin).collect())
    }

    /// A run's leaderboard entry; `None` before its first scored evolution.
    pub(super) async fn entry(&self, run: &RunSummary, origins: &Origins) -> Result<Option<Entry>> {
        let provenance = self.store.provenance(&run.run_id).await?;
        if !run.progress.is_over() {
            return self.compute_entry(run, provenance, origins).await;
        }
        let over = OverRun {
            run_id: run.run_id.clone(),
            finished_at: run.finished_at.clone(),
            config: serde_json::to_string(&run.config).map_err(anyhow::Error::new)?,
            metric_version: provenance.metric_version,
            measured: self.store.measured_of_run(&run.run_id, METHOD).await?,
            digest: provenance.imported.as_ref().map(|i| i.digest.clone()),
        };
        let mark = run.mark;
        let (engine, run, known) = (self.clone(), run.clone(), origins.clone());
        let computation =
            Box::pin(async move { engine.compute_entry(&run, provenance, &known).await });
        let entry = self.leaderboards.entries.of(over, computation).await?;
        let Some(mut entry) = Option::clone(&entry) else {
            return Ok(None);
        };
        // The verified mark does not affect the cached counts.
        entry.mark = mark;
        // The facts about the tasks may have changed since.
        for task in &mut entry.tasks {
            if let Some((repo, date)) = origins.get(&task.task_id) {
                task.repo.clone_from(repo);
                task.target_date.clone_from(date);
            }
        }
        Ok(Some(entry))
    }

    async fn compute_entry(
        &self,
        run: &RunSummary,
        provenance: Provenance,
        origins: &Origins,
    ) -> Result<Option<Entry>> {
        let mut verdicts = by_evolution(self.store.verdicts_of_run(&run.run_id).await?);
        let styles = self.store.styles_of_run(&run.run_id, METHOD).await?;
        let mut styles: HashMap<String, EvolutionStyle> = styles.into_iter().collect();
        let max_iterations = run.config.plan.max_iterations;
        let mut tasks = Tasks::default();
        for evolution in self.store.evolutions_of_run(&run.run_id).await? {
            let verdicts = verdicts.remove(&evolution.id).unwrap_or_default();
            let origin = origins.get(&evolution.task_id);
            let style = styles.remove(&evolution.id);
            let style = style.and_then(|style| style.beside());
            let sample = sample(&evolution, max_iterations, &verdicts);
            let sample = sample.map(|sample| Sample { style, ..sample });
            tasks.add(&evolution, origin, sample);
        }
        if tasks.scored.is_empty() {
            return Ok(None);
        }
        let totals = self.store.totals_of_run(&run.run_id).await?;
        let config = &run.config;
        Ok(Some(Entry {
            run_id: run.run_id.clone(),
            model: config.model.clone(),
            provider: config.provider.clone(),
            harness: config.harness.name().into(),
            harness_version: provenance.harness_version,
            release_date: config.release_date.clone(),
            kind: config.kind,
            mark: run.mark,
            unranked: None,
            progress: run.progress,
            metric_version: provenance.metric_version,
            finished_at: run.finished_at.clone(),
            usage: totals.usage(),
            micro_usd: totals.micro_usd(),
            findings: totals.findings,
            max_iterations,
            tasks_total: as_u32(tasks.all.len()),
            tasks_blocked: as_u32(tasks.blocked()),
            tasks: tasks.scored,
        }))
    }
}

/// The repository of each task, and the day of its target commit.
pub(super) type Origins = HashMap<TaskId, (String, Option<String>)>;

#[derive(Default)]
struct Tasks {
    scored: Vec<ScoredTask>,
    blocked: BTreeSet<TaskId>,
    all: BTreeSet<TaskId>,
}

impl Tasks {
    fn add(
        &mut self,
        evolution: &EvolutionRow,
        origin: Option<&(String, Option<String>)>,
        sample: Option<Sample>,
    ) {
        let id = &evolution.task_id;
        self.all.insert(id.clone());
        let (Some(ending), Some((repo, target_date))) = (evolution.ending, origin) else {
            return;
        };
        match sample.filter(|_| ending.is_scored()) {
            None if matches!(ending, Ending::Blocked | Ending::BudgetSpent) => {
                self.blocked.insert(id.clone());
            }
            None => {}
            Some(sample) => match self.scored.iter_mut().find(|t| t.task_id == *id) {
                Some(task) => task.samples.push(sample),
                None => self.scored.push(ScoredTask {
                    task_id: id.clone(),
                    repo: repo.clone(),
                    target_date: target_date.clone(),
                    samples: vec![sample],
                }),
            },
        }
    }

    fn blocked(&self) -> usize {
        let scored = |id: &TaskId| self.scored.iter().any(|task| task.task_id == *id);
        self.blocked.iter().filter(|id| !scored(id)).count()
    }
}

/// The convention `reference` needs only counts; without even those there is no
/// sample.
fn sample(evolution: &EvolutionRow, max_iterations: u32, verdicts: &[Verdict]) -> Option<Sample> {
    let count = |convention| Series::count(convention, evolution.counts, max_iterations, verdicts);
    Some(Sample {
        paper: count(Convention::Paper),
        reference: count(Convention::Reference)?,
        style: None,
    })
}
