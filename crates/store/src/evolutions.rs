//! Evolutions: their steps and iterations.

use sqlx::Row;
use swe_ci_base::error::{Error, Result};
use swe_ci_core::metrics::Verdict;
use swe_ci_core::step::{Cursor, Ending};
use swe_ci_views::notification::{Cause, Occasion};

use super::changes::count_up;
use super::outbox::notify_owner;
use super::rows::evolutions::{
    EvolutionRow, IterationRow, StepRow, read_evolution, read_iteration, read_step, read_verdict,
};
use super::rows::suites::COUNTS;
use super::run_end::on_run_end;
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
    /// Records a completed step and its consequences. Only the holder of the
    /// lease may; otherwise fails with `Conflict` and writes nothing.
    pub async fn record_step(
        &self,
        claim: &Claim,
        worker: &str,
        record: &StepToRecord<'_>,
    ) -> Result<()> {
        let mut tx = self.pool.begin().await?;
        let id = claim.evolution_id.as_str();
        let (progress, ending, reason, at) = match record.next {
            Ok(at) => ("running", None, None, Some(at)),
            Err((Ending::Cancelled, reason)) => {
                ("cancelled", Some(Ending::Cancelled), reason, None)
            }
            Err((ending, reason)) => ("finished", Some(ending), reason, None),
        };
        if ending.is_some() {
            lock_run(&mut tx, &claim.run_id).await?;
        }
        let held = sqlx::query(
            "UPDATE evolutions SET progress = $3, ending = $4, reason = $5, finished_at = $6,
                    at_iteration = coalesce($7, at_iteration), at_role = coalesce($8, at_role),
                    at_attempt = coalesce($9, at_attempt)
             WHERE id = $1 AND worker = $2 AND progress = 'running'",
        )
        .bind(id)
        .bind(worker)
        .bind(progress)
        .bind(ending.map(Ending::name))
        .bind(reason)
        .bind(ending.map(|_| record.step.finished_at))
        .bind(at.map(|a| i64::from(a.iteration)))
        .bind(at.map(|a| a.role.name()))
        .bind(at.map(|a| i64::from(a.attempt)))
        .execute(&mut *tx)
        .await?;
        if held.rows_affected() != 1 {
            return Err(Error::Conflict(format!(
                "evolution {id} is no longer held by this worker"
            )));
        }
        insert_step(&mut tx, id, record.step).await?;
        if let Some(iteration) = record.iteration {
            insert_iteration(&mut tx, id, iteration).await?;
        }
        if let Some(ending) = ending {
            let over = sqlx::query(
                "UPDATE runs SET progress = 'finished', finished_at = $2
                 WHERE id = $1 AND progress = 'running' AND NOT EXISTS (
                     SELECT 1 FROM evolutions WHERE run_id = $1 AND progress IN ('queued', 'running'))",
            )
            .bind(&claim.run_id)
            .bind(record.step.finished_at)
            .execute(&mut *tx)
            .await?;
            notify_of_ending(&mut tx, claim, ending, reason).await?;
            if over.rows_affected() == 1 {
                on_run_end(&mut tx, &claim.run_id).await?;
            }
        }
        if record.iteration.is_some() || ending.is_some() {
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
        let row = sqlx::query(
            "SELECT s.trajectory FROM steps s
             JOIN evolutions e ON e.id = s.evolution_id
             JOIN evolutions own ON own.id = $2 AND own.task_id = e.task_id AND own.sample = e.sample
             WHERE e.run_id = $1 AND s.iteration = $3 AND s.role = $4 AND s.trajectory IS NOT NULL
             ORDER BY s.seq DESC LIMIT 1",
        )
        .bind(run_id)
        .bind(&claim.evolution_id)
        .bind(i64::from(at.iteration))
        .bind(at.role.name())
        .fetch_optional(&self.pool)
        .await?;
        Ok(row.map(|row| row.try_get("trajectory")).transpose()?)
    }

    pub async fn evolution(&self, id: &str) -> Result<EvolutionRow> {
        let sql = format!(
            "SELECT e.*, {COUNTS} FROM evolutions e JOIN suites u ON u.id = e.suite WHERE e.id = $1"
        );
        let row = sqlx::query(sqlx::AssertSqlSafe(sql))
            .bind(id)
            .fetch_optional(&self.pool)
            .await?;
        row.as_ref()
            .map(read_evolution)
            .transpose()?
            .ok_or_else(|| Error::not_found("evolution", id))
    }

    pub async fn evolutions_of_run(&self, run_id: &str) -> Result<Vec<EvolutionRow>> {
        let sql = format!(
            "SELECT e.*, {COUNTS} FROM evolutions e JOIN suites u ON u.id = e.suite
             WHERE e.run_id = $1 ORDER BY e.task_id, e.sample"
        );
        let rows = sqlx::query(sqlx::AssertSqlSafe(sql))
            .bind(run_id)
            .fetch_all(&self.pool)
            .await?;
        rows.iter().map(read_evolution).collect()
    }

    /// The attempts of an evolution, in order.
    pub async fn steps(&self, evolution_id: &str) -> Result<Vec<StepRow>> {
        let rows = sqlx::query("SELECT * FROM steps WHERE evolution_id = $1 ORDER BY seq")
            .bind(evolution_id)
            .fetch_all(&self.pool)
            .await?;
        rows.iter().map(read_step).collect()
    }

    /// Digests of the images the harnesses of a run were installed in.
    pub async fn layers_of_run(&self, run_id: &str) -> Result<Vec<String>> {
        let sql = "SELECT DISTINCT s.layer FROM steps s JOIN evolutions e ON e.id = s.evolution_id
                   WHERE e.run_id = $1 AND s.layer IS NOT NULL ORDER BY s.layer";
        let layers = sqlx::query_scalar(sql).bind(run_id);
        Ok(layers.fetch_all(&self.pool).await?)
    }

    pub async fn iterations(&self, evolution_id: &str) -> Result<Vec<IterationRow>> {
        let rows =
            sqlx::query("SELECT * FROM iterations WHERE evolution_id = $1 ORDER BY iteration")
                .bind(evolution_id)
                .fetch_all(&self.pool)
                .await?;
        rows.iter().map(read_iteration).collect()
    }

    /// The verdict of every iteration of a run, by evolution; without the
    /// outcomes of single tests, which make up most of an iteration's size.
    pub async fn verdicts_of_run(&self, run_id: &str) -> Result<Vec<(String, Verdict)>> {
        let rows = sqlx::query(
            "SELECT i.evolution_id, i.verdict, i.in_target, i.passed, i.lost
             FROM iterations i JOIN evolutions e ON e.id = i.evolution_id
             WHERE e.run_id = $1 ORDER BY i.evolution_id, i.iteration",
        )
        .bind(run_id)
        .fetch_all(&self.pool)
        .await?;
        rows.iter()
            .map(|row| Ok((row.try_get("evolution_id")?, read_verdict(row)?)))
            .collect()
    }

    /// The iterations of all evolutions of a run, by evolution.
    pub async fn iterations_of_run(&self, run_id: &str) -> Result<Vec<(String, IterationRow)>> {
        let rows = sqlx::query(
            "SELECT i.* FROM iterations i JOIN evolutions e ON e.id = i.evolution_id
             WHERE e.run_id = $1 ORDER BY i.evolution_id, i.iteration",
        )
        .bind(run_id)
        .fetch_all(&self.pool)
        .await?;
        rows.iter()
            .map(|row| Ok((row.try_get("evolution_id")?, read_iteration(row)?)))
            .collect()
    }
}

/// Notifies of the first evolution of a run that is blocked, and of the first
/// that the budget stops; others may follow. A retry resets both counts. The
/// caller has locked the run.
async fn notify_of_ending(
    tx: &mut sqlx::AnyConnection,
    claim: &Claim,
    ending: Ending,
    reason: Option<&str>,
) -> Result<()> {
    let about = match ending {
        Ending::Blocked => Occasion::RunBlocked,
        Ending::BudgetSpent => Occasion::RunBudget,
        _ => return Ok(()),
    };
    let row = sqlx::query("SELECT count(*) AS n FROM evolutions WHERE run_id = $1 AND ending = $2")
        .bind(&claim.run_id)
        .bind(ending.name())
        .fetch_one(&mut *tx)
        .await?;
    if row.try_get::<i64, _>("n")? > 1 {
        return Ok(());
    }
    let cause = Cause {
        evolution_id: claim.evolution_id.clone(),
        task_id: claim.task_id.to_string(),
        reason: reason.unwrap_or_default().to_owned(),
    };
    notify_owner(tx, &claim.run_id, about, Some(cause)).await
}

pub(super) async fn insert_step(
    tx: &mut sqlx::AnyConnection,
    evolution_id: &str,
    step: &StepRow,
) -> Result<()> {
    sqlx::query(
        "INSERT INTO steps (evolution_id, seq, iteration, role, attempt, outcome, detail, product, log, started_at, finished_at,
                            input_tokens, output_tokens, cached_tokens, reasoning_tokens,
                            requests, retries, waiting_ms, micro_usd, trajectory, layer, container)
         VALUES ($1, (SELECT count(*) FROM steps WHERE evolution_id = $1), $2, $3, $4, $5, $6, $7, $8, $9, $10,
                 $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21)",
    )
    .bind(evolution_id)
    .bind(i64::from(step.iteration))
    .bind(step.role.name())
    .bind(i64::from(step.attempt))
    .bind(to_json(&step.outcome)?)
    .bind(&step.detail)
    .bind(&step.product)
    .bind(&step.log)
    .bind(step.started_at)
    .bind(step.finished_at)
    .bind(step.usage.map(|u| bigint(u.input_tokens)))
    .bind(step.usage.map(|u| bigint(u.output_tokens)))
    .bind(step.usage.map(|u| bigint(u.cached_tokens)))
    .bind(step.usage.map(|u| bigint(u.reasoning_tokens)))
    .bind(step.traffic.map(|t| bigint(t.requests)))
    .bind(step.traffic.map(|t| bigint(t.retries)))
    .bind(step.traffic.map(|t| bigint(t.waiting_ms)))
    .bind(step.traffic.and_then(|t| t.micro_usd).map(bigint))
    .bind(&step.trajectory)
    .bind(&step.layer)
    .bind(step.container.as_ref().map(to_json).transpose()?)
    .execute(tx)
    .await?;
    Ok(())
}

fn bigint(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// A verdict as columns.
pub(super) struct Counts {
    pub verdict: &'static str,
    pub in_target: i64,
    pub passed: i64,
    pub lost: i64,
}

impl Counts {
    pub fn from_verdict(verdict: Verdict) -> Self {
        let name = match verdict {
            Verdict::Scored { .. } => "scored",
            Verdict::Collapsed { .. } => "collapsed",
        };
        Self {
            verdict: name,
            in_target: verdict.in_target().into(),
            passed: verdict.passed().into(),
            lost: verdict.lost().into(),
        }
    }
}

pub(super) async fn insert_iteration(
    tx: &mut sqlx::AnyConnection,
    evolution_id: &str,
    iteration: &IterationRow,
) -> Result<()> {
    let counts = Counts::from_verdict(iteration.verdict);
    sqlx::query(
        "INSERT INTO iterations (evolution_id, iteration, verdict, in_target, passed, lost, gained, outcomes,
                                 collapse, findings, code, test_seconds, finished_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)",
    )
    .bind(evolution_id)
    .bind(i64::from(iteration.iteration))
    .bind(counts.verdict)
    .bind(counts.in_target)
    .bind(counts.passed)
    .bind(counts.lost)
    .bind(i64::from(iteration.gained))
    .bind(iteration.outcomes.letters())
    .bind(&iteration.collapse)
    .bind(to_json(&iteration.findings)?)
    .bind(&iteration.code)
    .bind(iteration.test_seconds)
    .bind(iteration.finished_at)
    .execute(tx)
    .await?;
    Ok(())
}
