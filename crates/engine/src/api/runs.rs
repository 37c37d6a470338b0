//! Runs: lists, details and iterations, assembled from rows.

use std::collections::HashMap;

use swe_ci_base::blocking::blocking;
use swe_ci_base::clock::rfc3339;
use swe_ci_base::error::{Error, Result};
use swe_ci_core::run::{Kind, Progress};
use swe_ci_core::usage::{Traffic, Usage};
use swe_ci_sandbox::host;
use swe_ci_store::{EvolutionRow, IterationRow};
use swe_ci_views::card::{Card, TaskOnCard};
use swe_ci_views::host::HostLoad;
use swe_ci_views::view::{CurrentStep, EvolutionView, Page, RunDetail, RunSummary, Spent};

use crate::Engine;
use crate::api::submission::dataset_digest;

/// The requested part of a list.
#[derive(Debug, Clone, Default)]
pub struct PageRequest {
    /// 1 to 500; 100 when absent.
    pub limit: Option<u32>,
    /// The `next` of the page before.
    pub after: Option<String>,
}

impl PageRequest {
    pub(crate) fn limit(&self) -> Result<u32> {
        match self.limit.unwrap_or(100) {
            limit @ 1..=500 => Ok(limit),
            other => Err(Error::Invalid(format!(
                "limit: {other} is not between 1 and 500"
            ))),
        }
    }

    pub(crate) fn after(&self) -> &str {
        self.after.as_deref().unwrap_or_default()
    }
}

/// A page from a query for `limit` + 1 items.
pub(crate) fn page<T>(mut items: Vec<T>, limit: u32, key: impl Fn(&T) -> String) -> Page<T> {
    let more = items.len() > limit as usize;
    items.truncate(limit as usize);
    let next = if more { items.last().map(key) } else { None };
    Page { items, next }
}

impl Engine {
    /// Runs, newest first.
    pub async fn runs(&self, request: &PageRequest) -> Result<Page<RunSummary>> {
        let limit = request.limit()?;
        let rows = self
            .store
            .runs(&self.visible_runs(), request.after(), limit + 1)
            .await?;
        Ok(page(rows, limit, |run: &RunSummary| run.run_id.clone()))
    }

    pub async fn run(&self, id: &str) -> Result<RunDetail> {
        let standing = self.store.standing(id).await?;
        let summary = self.visible_run(id).await?;
        let mut iterations: HashMap<String, Vec<IterationRow>> = HashMap::new();
        for (evolution_id, iteration) in self.store.iterations_of_run(id).await? {
            iterations.entry(evolution_id).or_default().push(iteration);
        }
        let mut evolution_list = Vec::new();
        for row in self.store.evolutions_of_run(id).await? {
            let rows = iterations.remove(&row.id).unwrap_or_default();
            let mut evolution = view(row, summary.config.plan.max_iterations, &rows);
            if let Some(step) = &mut evolution.current {
                step.waiting = self.events.current_wait(&evolution.evolution_id);
            }
            evolution_list.push(evolution);
        }
        Ok(RunDetail {
            may_steer: self.by().may_steer(&standing),
            verified: self.store.verified(id).await?,
            preflight: self.store.preflight(id).await?,
            verification: self.store.verification(id).await?,
            provenance: self.store.provenance(id).await?,
            spent: self.spent(id).await?,
            eta_seconds: self.eta(&summary).await?,
            host: self.host(&summary).await?,
            evolution_list,
            summary,
        })
    }

    /// Seconds until a run is over; unknown for a paused run.
    async fn eta(&self, run: &RunSummary) -> Result<Option<f64>> {
        if run.progress != Progress::Running || run.steering.paused {
            return Ok(None);
        }
        Ok(self.store.pace(&run.run_id).await?.remaining())
    }

    /// The load of this machine, while it works on the run.
    async fn host(&self, run: &RunSummary) -> Result<Option<HostLoad>> {
        if run.progress != Progress::Running || self.config.workers == 0 {
            return Ok(None);
        }
        let data = self.config.data.clone();
        Ok(blocking(move || Ok(host::load(&data))).await?)
    }

    /// The reproducibility card of a run.
    pub async fn card(&self, run_id: &str) -> Result<Card> {
        let store = &self.store;
        let run = self.visible_run(run_id).await?;
        let provenance = store.provenance(run_id).await?;
        let mut tasks = store.tasks_of_run(run_id).await?;
        // A task may have been prepared again since, with another image: only
        // the digest shows whether these are the tasks of the run.
        let digest = dataset_digest(tasks.iter().map(TaskOnCard::ends));
        if run.config.kind == Kind::Imported || digest != provenance.dataset_digest {
            tasks.iter_mut().for_each(|task| task.image = None);
        }
        let layers = store.layers_of_run(run_id).await?;
        Ok(Card::new(run, provenance, tasks, layers))
    }

    /// The cost only if every agent step has a price: a partial sum would
    /// mislead.
    async fn spent(&self, run_id: &str) -> Result<Option<Spent>> {
        let totals = self.store.totals_of_run(run_id).await?;
        let used_model = totals.traffic.requests > 0;
        let traffic = Traffic {
            micro_usd: totals.micro_usd(),
            ..totals.traffic
        };
        let counted = used_model || totals.taken != Usage::default();
        Ok(counted.then_some(Spent {
            usage: totals.taken,
            traffic: used_model.then_some(traffic),
        }))
    }

    pub(crate) async fn check_split(&self, split: &str) -> Result<()> {
        match self.splits().await?.iter().any(|s| s.name == split) {
            true => Ok(()),
            false => Err(Error::not_found("split", split)),
        }
    }
}

pub(crate) fn view(
    row: EvolutionRow,
    max_iterations: u32,
    iterations: &[IterationRow],
) -> EvolutionView {
    let (iteration, role, attempt) = row.at;
    let running = row.progress == Progress::Running;
    EvolutionView {
        evolution_id: row.id,
        task_id: row.task_id,
        sample: row.sample,
        progress: row.progress,
        ending: row.ending,
        reason: row.reason,
        suite: row.counts,
        max_iterations,
        started_at: row.started_at.map(rfc3339),
        finished_at: row.finished_at.map(rfc3339),
        current: running.then_some(CurrentStep {
            iteration,
            role,
            attempt,
            waiting: None,
        }),
        iterations: iterations.iter().map(IterationRow::view).collect(),
    }
}
