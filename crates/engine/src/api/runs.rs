//! Runs and evolutions: lists and details, assembled from rows.

use std::collections::HashMap;

use swe_ci_base::blocking::blocking;
use swe_ci_base::clock::{now_ms, rfc3339, seconds_between, unix_ms};
use swe_ci_base::error::{Error, Result};
use swe_ci_core::metrics::Verdict;
use swe_ci_core::run::{Kind, Progress};
use swe_ci_core::task::TaskId;
use swe_ci_core::usage::{Traffic, Usage};
use swe_ci_sandbox::host;
use swe_ci_store::{EvolutionRow, IterationRow, Start, StepRow};
use swe_ci_views::card::Card;
use swe_ci_views::host::HostLoad;
use swe_ci_views::view::{
    CurrentStep, EvolutionDetail, EvolutionView, Page, RunDetail, RunSummary, Spent, StepView,
};
use uuid::Uuid;

use crate::{Engine, as_u32};

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

    /// The id that the page begins after; empty for the first page. Ids are in the
    /// order of time, so what had this one may be gone.
    ///
    /// # Errors
    /// [`Error::NoSuchPage`] for what is no id.
    pub(crate) fn after_id(&self) -> Result<&str> {
        let after = self.after();
        let is_id = Uuid::try_parse(after).is_ok_and(|id| id.to_string() == after);
        match after.is_empty() || is_id {
            true => Ok(after),
            false => Err(Error::NoSuchPage(after.to_owned())),
        }
    }
}

/// A page from a query for `limit` + 1 items.
pub(crate) fn page<T>(mut items: Vec<T>, limit: u32, key: impl Fn(&T) -> String) -> Page<T> {
    let more = items.len() > limit as usize;
    items.truncate(limit as usize);
    let next = if more { items.last().map(key) } else { None };
    Page { items, next }
}

/// The rows of each evolution, in order.
pub(crate) fn by_evolution<T>(all: Vec<(String, T)>) -> HashMap<String, Vec<T>> {
    let mut of: HashMap<String, Vec<T>> = HashMap::new();
    for (evolution_id, one) in all {
        of.entry(evolution_id).or_default().push(one);
    }
    of
}

#[swe_ci_boxed::boxed]
impl Engine {
    /// A run without its evolutions.
    ///
    /// # Errors
    /// [`Error::NotFound`] for a run the actor may not see.
    pub async fn run_summary(&self, id: &str) -> Result<RunSummary> {
        self.visible_run(id).await
    }

    /// Whether the actor may see this run and it is over: its pages then depend
    /// only on data that [`Engine::changes`] counts.
    ///
    /// # Errors
    /// As [`Engine::run_summary`].
    pub async fn is_settled(&self, id: &str) -> Result<bool> {
        Ok(self.visible_run(id).await?.progress.is_over())
    }

    /// The id of the only run whose id begins so, of those the actor may see.
    ///
    /// # Errors
    /// [`Error::NotFound`] when there is none, [`Error::Conflict`] when there are
    /// several.
    pub async fn run_that_begins(&self, start: &str) -> Result<String> {
        let mut seen = Vec::new();
        for id in self.store.runs_that_begin(start).await? {
            if self.by().may_see(&self.store.standing(&id).await?) {
                seen.push(id);
            }
        }
        match &seen[..] {
            [] => Err(Error::not_found("run", start)),
            [id] => Ok(id.clone()),
            [first, second, ..] => Err(Error::Conflict(format!(
                "several runs begin with `{start}`, such as {first} and {second}; write more of the id"
            ))),
        }
    }

    pub async fn run(&self, id: &str) -> Result<RunDetail> {
        let standing = self.store.standing(id).await?;
        let summary = self.visible_run(id).await?;
        let mut iterations = by_evolution(self.store.listed_iterations_of_run(id).await?);
        let mut not_audited = self.store.not_audited(id).await?;
        let mut evolution_list = Vec::new();
        for row in self.store.evolutions_of_run(id).await? {
            let rows = iterations.remove(&row.id).unwrap_or_default();
            let mut evolution = view(row, summary.config.plan.max_iterations, &rows);
            evolution.not_audited = not_audited.remove(&evolution.evolution_id);
            if let Some(step) = &mut evolution.current {
                step.waiting = self.events.current_wait(&evolution.evolution_id);
            }
            evolution_list.push(evolution);
        }
        Ok(RunDetail {
            may_steer: self.by().may_steer(&standing),
            unranked: match summary.progress.is_over() {
                true => self.without_rank(&summary).await?,
                false => self.unranked(&summary).await?,
            },
            verified: self.store.verified(id).await?,
            verification: self.store.verification(id).await?,
            verifying: self.verification_work(id).await?,
            regraded_as: self.regraded_as(id).await?,
            provenance: self.store.provenance(id).await?,
            spent: self.spent(id).await?,
            elapsed_seconds: elapsed(&summary),
            eta_seconds: self.eta(&summary).await?,
            host: self.host(&summary).await?,
            unmet_needs: self.unmet_needs(&summary).await?,
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

    pub async fn card(&self, run_id: &str) -> Result<Card> {
        let store = &self.store;
        let run = self.visible_run(run_id).await?;
        let provenance = store.provenance(run_id).await?;
        let mut tasks = store.tasks_of_run(run_id).await?;
        // Results made elsewhere were not made with it.
        if run.config.kind == Kind::Imported {
            tasks.iter_mut().for_each(|task| task.image = None);
        }
        let layers = store.layers_of_run(run_id).await?;
        Ok(Card::new(run, provenance, tasks, layers))
    }

    /// The millionths of a US dollar that each scored evolution of a run cost, by its
    /// id, where all steps of its agents have a price.
    pub async fn costs(&self, run_id: &str) -> Result<HashMap<String, u64>> {
        self.visible_run(run_id).await?;
        let efforts = self.store.efforts_of_run(run_id).await?.into_iter();
        Ok(efforts
            .filter_map(|(id, effort)| Some((id, effort.micro_usd?)))
            .collect())
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

    /// Every completed attempt at a step, in order; includes iterations that
    /// were never tested.
    pub async fn steps(&self, evolution_id: &str) -> Result<Vec<StepView>> {
        self.visible_evolution(evolution_id).await?;
        let steps = self.store.steps(evolution_id).await?;
        Ok(steps.iter().map(StepRow::view).collect())
    }

    /// One evolution of a run, with the outcomes of every test.
    ///
    /// # Errors
    /// [`Error::NotFound`] when there is no such run, or it has no such sample
    /// (from 1) of this task.
    pub async fn evolution(
        &self,
        run_id: &str,
        task: &TaskId,
        sample: u32,
    ) -> Result<EvolutionDetail> {
        let run = self.visible_run(run_id).await?;
        let mut samples = self.store.evolutions_of_run(run_id).await?;
        samples.retain(|row| row.task_id == *task);
        let count = as_u32(samples.len());
        if count == 0 {
            return Err(Error::not_found_in("this run", "task", task));
        }
        let row = samples
            .into_iter()
            .find(|row| row.sample == sample)
            .ok_or_else(|| Error::not_found_in("this run", "sample of the task", sample))?;
        let suite = self.store.suite(&row.suite).await?;
        let mut rows = self.store.iterations(&row.id).await?;
        let mut view = view(row, run.config.plan.max_iterations, &rows);
        let audit = self.store.evolution_audit(&view.evolution_id).await?;
        view.not_audited = audit.and_then(|audit| audit.reason);
        if suite.counts.counts_only {
            rows.clear();
        }
        let same_code = same_code(&rows);
        let outcomes = rows
            .into_iter()
            .map(|row| matches!(row.verdict, Verdict::Scored { .. }).then_some(row.outcomes));
        Ok(EvolutionDetail {
            run_id: run.run_id,
            model: run.config.model,
            kind: run.config.kind,
            samples: count,
            view,
            node_ids: suite.tests.into_node_ids(),
            base_outcomes: suite.base_outcomes,
            outcomes: outcomes.collect(),
            same_code,
        })
    }

    pub(crate) async fn check_split(&self, split: &str) -> Result<()> {
        match self.splits().await?.iter().any(|s| s.name == split) {
            true => Ok(()),
            false => Err(Error::not_found("split", split)),
        }
    }
}

pub(super) fn view(
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
        start: row.start.as_ref().map(Start::view),
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
        not_audited: None,
    }
}

/// Nobody took the time of imported results.
fn elapsed(run: &RunSummary) -> Option<f64> {
    let started = run.started_at.as_deref().and_then(unix_ms)?;
    let until = match run.progress.is_over() {
        true => run.finished_at.as_deref().and_then(unix_ms)?,
        false => now_ms(),
    };
    (run.config.kind != Kind::Imported).then(|| seconds_between(started, until))
}

/// For each iteration the first one scored with the same code, if that is an
/// earlier one: code is stored under its content.
fn same_code(rows: &[IterationRow]) -> Vec<Option<u32>> {
    if rows.iter().any(|row| row.code.is_empty()) {
        return Vec::new();
    }
    let mut first: HashMap<&str, u32> = HashMap::new();
    let mut same = Vec::new();
    for row in rows {
        let found = first.get(row.code.as_str()).copied();
        if found.is_none() && matches!(row.verdict, Verdict::Scored { .. }) {
            first.insert(&row.code, row.iteration);
        }
        same.push(found);
    }
    same
}

#[cfg(test)]
mod tests {
    use super::*;
    use swe_ci_core::outcomes::Outcomes;

    #[test]
    fn pages_begin_after_ids() {
        let check = |after: Option<&str>, expect: Option<&str>| {
            let request = PageRequest {
                limit: None,
                after: after.map(str::to_owned),
            };
            assert_eq!(request.after_id().ok(), expect, "{after:?}");
        };
        let id = "00000000-0000-7000-8000-00000000000a";
        check(None, Some(""));
        check(Some(""), Some(""));
        check(Some(id), Some(id));
        check(Some("zz"), None);
        check(Some(" "), None);
        // Ids are compared as texts, so another form has another place.
        check(Some(id.to_uppercase().as_str()), None);
        check(Some(id.replace('-', "").as_str()), None);
    }

    #[test]
    fn code_is_known_again() {
        let check = |codes: &[&str], expect: &[Option<u32>]| {
            let row = |(iteration, code): (u32, &&str)| IterationRow {
                iteration,
                verdict: match code.strip_prefix('!') {
                    Some(_) => Verdict::Collapsed { lost: 0 },
                    None => Verdict::Scored {
                        in_target: 0,
                        passed: 0,
                        lost: 0,
                    },
                },
                gained: 0,
                outcomes: Outcomes::from_letters(String::new()),
                collapse: None,
                findings: Vec::new(),
                code: code.trim_start_matches('!').to_owned(),
                test_seconds: 0.0,
                finished_at: 0,
                contradicted: None,
            };
            let rows: Vec<IterationRow> = (1..).zip(codes).map(row).collect();
            assert_eq!(same_code(&rows), expect, "{codes:?}");
        };
        check(&[], &[]);
        check(&["a", "b", "a", "a"], &[None, None, Some(1), Some(1)]);
        // A collapse has no outcomes of single tests.
        check(&["!a", "a", "!a"], &[None, None, Some(2)]);
        // Imported results have no code.
        check(&["", ""], &[]);
    }
}
