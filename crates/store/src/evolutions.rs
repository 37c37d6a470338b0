//! Evolutions: their steps and iterations.

use std::collections::HashMap;

use swe_ci_base::error::{Error, Result};
use swe_ci_core::audit::{Contradicted, ShownContradictions};
use swe_ci_core::metrics::Verdict;
use swe_ci_core::step::{Cursor, Ending, Truncation};
use swe_ci_views::notification::{Cause, Occasion};

use super::changes::{count_up, results_changed};
use super::notification_outbox::notify_owner;
use super::rows::columns::Columns;
use super::rows::evolutions::{
    EvolutionRow, IterationRow, StepRow, read_evolution, read_iteration, read_step, read_verdict,
};
use super::rows::suites::COUNTS;
use super::run_end::end_run;
use super::sql::{Parameters, Statement, Tx, composed, only, query, rows_of};
use super::steering::lock_run;
use super::{Claim, Store, to_json};

/// All changes of one completed step, written in one transaction.
#[derive(Debug)]
pub struct StepToRecord<'a> {
    pub step: &'a StepRow,
    pub iteration: Option<&'a IterationRow>,
    /// The evolution's next step, or how it ended and why.
    pub next: std::result::Result<Cursor, (Ending, Option<&'a str>)>,
}

impl Store {
    /// Writes down what an attempt has taken so far, as if it were interrupted: nothing of
    /// that is lost if this process dies. Sums count the row, and pages do not show it; it
    /// lasts until the step is recorded. Only the holder of the lease may.
    pub async fn keep_usage(&self, claim: &Claim, worker: &str, attempt: &StepRow) -> Result<()> {
        let mut tx = self.pool.begin().await?;
        let id = claim.evolution_id.as_str();
        query("UPDATE evolutions SET worker = worker WHERE id = $1 AND worker = $2 AND progress = 'running'")
            .with((id, worker))
            .run_or(&mut *tx, || not_held(id))
            .await?;
        let seq = insert_step(&mut tx, id, attempt).await?;
        query("UPDATE steps SET at_work = 1 WHERE evolution_id = $1 AND seq = $2")
            .with((id, seq))
            .run(&mut *tx)
            .await?;
        tx.commit().await?;
        Ok(())
    }

    /// The attempts of an evolution that a worker takes up. One that was at work is an
    /// interrupted one from now on.
    pub async fn steps_to_resume(&self, evolution_id: &str) -> Result<Vec<StepRow>> {
        query("UPDATE steps SET at_work = 0, detail = $2 WHERE evolution_id = $1 AND at_work = 1")
            .with((evolution_id, "the process of its worker ended"))
            .run(&self.pool)
            .await?;
        self.steps(evolution_id).await
    }

    /// Records a completed step and its consequences. Only the holder of the
    /// lease may; otherwise fails with `Conflict` and writes nothing.
    #[tracing::instrument(name = "write the row of a step", level = "debug", skip_all)]
    pub async fn record_step(
        &self,
        claim: &Claim,
        worker: &str,
        record: &StepToRecord<'_>,
    ) -> Result<()> {
        let mut tx = self.pool.begin().await?;
        let id = claim.evolution_id.as_str();
        let at = record.next.ok();
        let (ending, reason) = record.next.err().unzip();
        let progress = match ending {
            None => "running",
            Some(Ending::Cancelled) => "cancelled",
            Some(_) => "finished",
        };
        let reason = reason.flatten();
        if ending.is_some() {
            lock_run(&mut tx, &claim.run_id).await?;
        }
        query(
            "UPDATE evolutions SET progress = $3, ending = $4, reason = $5, finished_at = $6,
                    at_iteration = coalesce($7, at_iteration), at_role = coalesce($8, at_role),
                    at_attempt = coalesce($9, at_attempt)
             WHERE id = $1 AND worker = $2 AND progress = 'running'",
        )
        .with((id, worker, progress, ending.map(Ending::name), reason))
        .with(ending.map(|_| record.step.finished_at))
        .with((at.map(|a| a.iteration), at.map(|a| a.role.name())))
        .with(at.map(|a| a.attempt))
        .run_or(&mut *tx, || not_held(id))
        .await?;
        insert_step(&mut tx, id, record.step).await?;
        if let Some(iteration) = record.iteration {
            insert_iterations(&mut tx, id, std::slice::from_ref(iteration)).await?;
        }
        if let Some(ending) = ending {
            notify_of_ending(&mut tx, claim, ending, reason).await?;
            let finished_at = record.step.finished_at;
            end_run(&mut tx, &claim.run_id, finished_at, self.audits).await?;
        }
        if record.iteration.is_some() || ending.is_some() {
            results_changed(&mut tx, &claim.run_id).await?;
            count_up(&mut tx).await?;
        }
        tx.commit().await?;
        Ok(())
    }

    /// The trajectory artifact of a step in another run's evolution of the same
    /// task and sample: of its last recorded attempt.
    pub async fn trajectory_of(
        &self,
        run_id: &str,
        claim: &Claim,
        at: Cursor,
    ) -> Result<Option<String>> {
        query(
            "SELECT s.trajectory FROM steps s
             JOIN evolutions e ON e.id = s.evolution_id
             JOIN evolutions own ON own.id = $2 AND own.task_id = e.task_id AND own.sample = e.sample
             WHERE e.run_id = $1 AND s.iteration = $3 AND s.role = $4 AND s.trajectory IS NOT NULL
             ORDER BY s.seq DESC LIMIT 1",
        )
        .with((run_id, &claim.evolution_id, at.iteration, at.role.name()))
        .first(&self.pool, only)
        .await
    }

    pub async fn evolution(&self, id: &str) -> Result<EvolutionRow> {
        composed(format!(
            "SELECT e.*, {COUNTS} FROM evolutions e JOIN suites u ON u.id = e.suite WHERE e.id = $1"
        ))
        .with(id)
        .first(&self.pool, read_evolution)
        .await?
        .ok_or_else(|| Error::not_found("evolution", id))
    }

    pub async fn evolutions_of_run(&self, run_id: &str) -> Result<Vec<EvolutionRow>> {
        composed(format!(
            "SELECT e.*, {COUNTS} FROM evolutions e JOIN suites u ON u.id = e.suite
             WHERE e.run_id = $1 ORDER BY e.task_id, e.sample"
        ))
        .with(run_id)
        .all(&self.pool, read_evolution)
        .await
    }

    /// The attempts of an evolution, in order, without the one at work.
    pub async fn steps(&self, evolution_id: &str) -> Result<Vec<StepRow>> {
        query("SELECT * FROM steps WHERE evolution_id = $1 AND at_work = 0 ORDER BY seq")
            .with(evolution_id)
            .all(&self.pool, read_step)
            .await
    }

    /// Digests of the images the harnesses of a run were installed in.
    pub async fn layers_of_run(&self, run_id: &str) -> Result<Vec<String>> {
        query(
            "SELECT DISTINCT s.layer FROM steps s JOIN evolutions e ON e.id = s.evolution_id
             WHERE e.run_id = $1 AND s.layer IS NOT NULL ORDER BY s.layer",
        )
        .with(run_id)
        .all(&self.pool, only)
        .await
    }

    pub async fn iterations(&self, evolution_id: &str) -> Result<Vec<IterationRow>> {
        query("SELECT * FROM iterations WHERE evolution_id = $1 ORDER BY iteration")
            .with(evolution_id)
            .all(&self.pool, read_iteration)
            .await
    }

    /// The verdict of every iteration of a run, by evolution; without the
    /// outcomes of single tests, which make up most of an iteration's size.
    pub async fn verdicts_of_run(&self, run_id: &str) -> Result<Vec<(String, Verdict)>> {
        query(
            "SELECT i.evolution_id, i.verdict, i.in_target, i.passed, i.lost
             FROM iterations i JOIN evolutions e ON e.id = i.evolution_id
             WHERE e.run_id = $1 ORDER BY i.evolution_id, i.iteration",
        )
        .with(run_id)
        .all(&self.pool, |row| {
            Ok((row.read("evolution_id")?, read_verdict(row)?))
        })
        .await
    }

    /// The contradicted tests of the last code of each evolution of a run that was tested
    /// with them, by evolution.
    pub async fn contradicted_of_run(&self, run_id: &str) -> Result<HashMap<String, Contradicted>> {
        let all = query(
            "SELECT i.evolution_id, i.contradicted
             FROM iterations i JOIN evolutions e ON e.id = i.evolution_id
             WHERE e.run_id = $1 AND i.contradicted IS NOT NULL ORDER BY i.evolution_id, i.iteration",
        )
        .with(run_id)
        .all(&self.pool, |row| {
            let shown: ShownContradictions = row.json("contradicted", "contradicted tests")?;
            Ok((row.read("evolution_id")?, shown.counts()))
        });
        Ok(all.await?.into_iter().collect())
    }

    /// The iterations of all evolutions of a run as pages list them: without the
    /// outcomes of single tests, which are most of them.
    pub async fn listed_iterations_of_run(
        &self,
        run_id: &str,
    ) -> Result<Vec<(String, IterationRow)>> {
        query(
            "SELECT i.evolution_id, i.iteration, i.verdict, i.in_target, i.passed, i.lost, i.gained,
                    '' AS outcomes, i.collapse, i.findings, i.code, i.test_seconds, i.finished_at, i.contradicted
             FROM iterations i JOIN evolutions e ON e.id = i.evolution_id
             WHERE e.run_id = $1 ORDER BY i.evolution_id, i.iteration",
        )
        .with(run_id)
        .all(&self.pool, |row| {
            Ok((row.read("evolution_id")?, read_iteration(row)?))
        })
        .await
    }

    /// The iterations of all evolutions of a run, by evolution.
    pub async fn iterations_of_run(&self, run_id: &str) -> Result<Vec<(String, IterationRow)>> {
        query(
            "SELECT i.* FROM iterations i JOIN evolutions e ON e.id = i.evolution_id
             WHERE e.run_id = $1 ORDER BY i.evolution_id, i.iteration",
        )
        .with(run_id)
        .all(&self.pool, |row| {
            Ok((row.read("evolution_id")?, read_iteration(row)?))
        })
        .await
    }
}

/// Notifies of the first evolution of a run that is blocked, and of the first
/// that the budget stops; others may follow. A retry resets both counts. The
/// caller has locked the run.
async fn notify_of_ending(
    tx: &mut Tx,
    claim: &Claim,
    ending: Ending,
    reason: Option<&str>,
) -> Result<()> {
    let about = match ending {
        Ending::Blocked => Occasion::RunBlocked,
        Ending::BudgetSpent => Occasion::RunBudget,
        _ => return Ok(()),
    };
    let alike: i64 = query("SELECT count(*) FROM evolutions WHERE run_id = $1 AND ending = $2")
        .with((&claim.run_id, ending.name()))
        .one(&mut *tx, only)
        .await?;
    if alike > 1 {
        return Ok(());
    }
    let cause = Cause {
        evolution_id: claim.evolution_id.clone(),
        task_id: claim.task_id.to_string(),
        reason: reason.unwrap_or_default().to_owned(),
    };
    notify_owner(tx, &claim.run_id, about, Some(cause)).await
}

fn not_held(evolution_id: &str) -> Error {
    let why = format!("evolution {evolution_id} is no longer held by this worker");
    Error::Conflict(why)
}

/// Inserts a step in the place of the row of the attempt at work, if there is one. Returns
/// its number.
async fn insert_step(tx: &mut Tx, evolution_id: &str, step: &StepRow) -> Result<u32> {
    query("DELETE FROM steps WHERE evolution_id = $1 AND at_work = 1")
        .with(evolution_id)
        .run(&mut *tx)
        .await?;
    let earlier = query("SELECT count(*) FROM steps WHERE evolution_id = $1")
        .with(evolution_id)
        .one(&mut *tx, only)
        .await?;
    insert_steps(tx, evolution_id, earlier, std::slice::from_ref(step)).await?;
    Ok(earlier)
}

/// Rows of one statement. SQLite takes 32,766 parameters, Postgres 65,535.
const ROWS_AT_ONCE: usize = 500;

/// Inserts steps after `earlier` others of the evolution.
pub(super) async fn insert_steps(
    tx: &mut Tx,
    evolution_id: &str,
    earlier: u32,
    steps: &[StepRow],
) -> Result<()> {
    let mut seq = earlier..;
    for steps in steps.chunks(ROWS_AT_ONCE) {
        let mut insert = composed(format!(
            "INSERT INTO steps (evolution_id, seq, iteration, role, attempt, outcome, detail, product, log,
                                started_at, finished_at, input_tokens, output_tokens, cached_tokens,
                                reasoning_tokens, requests, retries, waiting_ms, micro_usd, unfinished,
                                streamed_tokens, probes, probe_micro_usd, truncation, trajectory, layer, container)
             VALUES {}",
            rows_of(steps.len(), 27)
        ));
        for (step, seq) in steps.iter().zip(&mut seq) {
            insert = insert
                .with((evolution_id, seq, step.iteration))
                .with((step.role.name(), step.attempt, to_json(&step.outcome)?))
                .with((&step.detail, &step.product, &step.log))
                .with((step.started_at, step.finished_at))
                .with(step.usage.map(|u| u.input_tokens))
                .with(step.usage.map(|u| u.output_tokens))
                .with(step.usage.map(|u| u.cached_tokens))
                .with(step.usage.map(|u| u.reasoning_tokens))
                .with(step.traffic.map(|t| t.requests))
                .with(step.traffic.map(|t| t.retries))
                .with(step.traffic.map(|t| t.waiting_ms))
                .with(step.traffic.and_then(|t| t.micro_usd))
                .with(step.traffic.map(|t| t.unfinished))
                .with(step.traffic.map(|t| t.streamed_tokens))
                .with(step.traffic.map(|t| t.probes))
                .with(step.traffic.map(|t| t.probe_micro_usd))
                .with(step.truncation.map(Truncation::name))
                .with((&step.trajectory, &step.layer))
                .with(step.container.as_ref().map(to_json).transpose()?);
        }
        insert.run(&mut *tx).await?;
    }
    let mut containers = steps
        .iter()
        .rev()
        .filter_map(|step| step.container.as_ref());
    if let Some(engine) = containers.find_map(|container| container.engine.as_ref()) {
        query("UPDATE evolutions SET engine = $2 WHERE id = $1 AND coalesce(engine, '') <> $2")
            .with((evolution_id, engine.to_string()))
            .run(&mut *tx)
            .await?;
    }
    Ok(())
}

/// Its columns: verdict, in_target, passed, lost.
impl Parameters for Verdict {
    fn bind_to(self, statement: Statement) -> Statement {
        let name = match self {
            Self::Scored { .. } => "scored",
            Self::Collapsed { .. } => "collapsed",
        };
        statement.with((name, self.in_target(), self.passed(), self.lost()))
    }
}

pub(super) async fn insert_iterations(
    tx: &mut Tx,
    evolution_id: &str,
    iterations: &[IterationRow],
) -> Result<()> {
    for iterations in iterations.chunks(ROWS_AT_ONCE) {
        let mut insert = composed(format!(
            "INSERT INTO iterations (evolution_id, iteration, verdict, in_target, passed, lost, gained, outcomes,
                                     collapse, findings, code, test_seconds, finished_at, contradicted)
             VALUES {}",
            rows_of(iterations.len(), 14)
        ));
        for iteration in iterations {
            insert = insert
                .with((evolution_id, iteration.iteration, iteration.verdict))
                .with((iteration.gained, iteration.outcomes.packed()))
                .with((&iteration.collapse, to_json(&iteration.findings)?))
                .with((&iteration.code, iteration.test_seconds))
                .with((iteration.finished_at, contradicted(iteration)?));
        }
        insert.run(&mut *tx).await?;
    }
    Ok(())
}

fn contradicted(iteration: &IterationRow) -> Result<Option<String>> {
    iteration.contradicted.as_ref().map(to_json).transpose()
}

/// The result of grading an iteration's code again takes the place of the first one.
pub(super) async fn update_iteration(
    tx: &mut Tx,
    evolution_id: &str,
    row: &IterationRow,
) -> Result<()> {
    query(
        "UPDATE iterations SET verdict = $3, in_target = $4, passed = $5, lost = $6, gained = $7,
                outcomes = $8, collapse = $9, findings = $10
         WHERE evolution_id = $1 AND iteration = $2",
    )
    .with((evolution_id, row.iteration, row.verdict))
    .with((row.gained, row.outcomes.packed()))
    .with((&row.collapse, to_json(&row.findings)?))
    .run(tx)
    .await
}
