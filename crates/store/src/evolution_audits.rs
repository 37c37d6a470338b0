//! Audits of evolutions, and the contradictions that they run.

use std::collections::HashMap;

use swe_ci_base::clock::now_ms;
use swe_ci_base::error::Result;
use swe_ci_core::audit::{AuditedState, Coverage, EvolutionAudit};

use super::changes::{commit_change, results_changed};
use super::evolutions::update_iteration;
use super::rows::columns::Columns;
use super::run_end::{end_run, pending};
use super::sql::{composed, only, query};
use super::steering::lock_run;
use super::styles::MEASURABLE;
use super::{IterationRow, Store, to_json};

/// The contradictions of a suite.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContradictedSuite {
    /// Artifact; empty where there are none.
    pub artifact: String,
    pub coverage: Coverage,
}

/// Evolutions (`e`) that run and have a state to audit (`a`). The human baseline
/// waits until it is over: nobody wrote its code for the tests.
const GROWING: &str = "e.progress = 'running'
    AND e.run_id NOT IN (SELECT id FROM runs WHERE kind = 'human')
    AND EXISTS (SELECT 1 FROM iterations i WHERE i.evolution_id = e.id AND i.gained > 0 AND i.code <> ''
                AND i.iteration > coalesce(a.audited_to, 0))";

impl Store {
    /// Claims an evolution for an audit until `until` unix milliseconds: those
    /// that keep their run from a rank first, then the oldest, then those that run.
    pub async fn claim_audit(&self, worker: &str, until: i64) -> Result<Option<String>> {
        let next: Option<String> = composed(format!(
            "SELECT e.id AS id FROM evolutions e LEFT JOIN evolution_audits a ON a.evolution_id = e.id
             WHERE (a.evolution_id IS NULL OR (a.found = '' AND a.claimed_until < $1))
               AND (({MEASURABLE}) OR ({GROWING}))
             ORDER BY CASE WHEN e.ending IS NULL THEN 2 WHEN a.holds_rank = 0 THEN 1 ELSE 0 END,
                      e.finished_at, e.id LIMIT 1"
        ))
        .with(now_ms())
        .first(&self.pool, only)
        .await?;
        let Some(id) = next else { return Ok(None) };
        let claimed = query(
            "INSERT INTO evolution_audits (evolution_id, worker, claimed_until, holds_rank, found) VALUES ($1, $2, $3, 1, '')
             ON CONFLICT (evolution_id) DO UPDATE
             SET worker = excluded.worker, claimed_until = excluded.claimed_until
             WHERE evolution_audits.found = '' AND evolution_audits.claimed_until < $4",
        )
        .with((&id, worker, until, now_ms()))
        .changed(&self.pool)
        .await?;
        Ok((claimed == 1).then_some(id))
    }

    /// Leaves an evolution to any worker, from `from` unix milliseconds on; returns
    /// how often its code was not there, this time included if it is not.
    pub async fn put_back_audit(&self, evolution: &str, from: i64, is_gone: bool) -> Result<u32> {
        let tries = query(
            "UPDATE evolution_audits SET worker = '', claimed_until = $2, tries = tries + $3
             WHERE evolution_id = $1 AND found = '' RETURNING tries",
        )
        .with((evolution, from, i64::from(is_gone)))
        .first(&self.pool, only)
        .await?;
        Ok(tries.unwrap_or_default())
    }

    /// Records the states of a running evolution that are audited, which are all up to
    /// this iteration. They change nothing before it is over.
    pub async fn put_audited_states(
        &self,
        evolution: &str,
        states: &[AuditedState],
        to: u32,
    ) -> Result<()> {
        query(
            "UPDATE evolution_audits SET worker = '', claimed_until = 0, states = $2, audited_to = $3
             WHERE evolution_id = $1 AND found = ''",
        )
        .with((evolution, to_json(&states)?, to))
        .run(&self.pool)
        .await
    }

    pub async fn audited_states(&self, evolution: &str) -> Result<Vec<AuditedState>> {
        let states = query("SELECT states FROM evolution_audits WHERE evolution_id = $1")
            .with(evolution)
            .first(&self.pool, |row| row.json("states", "audited states"));
        Ok(states.await?.unwrap_or_default())
    }

    /// Releases a worker's unfinished claims.
    pub async fn release_audits(&self, worker: &str) -> Result<()> {
        query("UPDATE evolution_audits SET claimed_until = 0 WHERE worker = $1 AND found = ''")
            .with(worker)
            .run(&self.pool)
            .await
    }

    /// Records the audit of an evolution, and the iterations that it changes. An
    /// evolution that ended as solved by an iteration that collapses now did not.
    pub async fn put_audit(
        &self,
        evolution: &str,
        audit: &EvolutionAudit,
        changed: &[IterationRow],
    ) -> Result<()> {
        let mut tx = self.pool.begin().await?;
        let run: String = query("SELECT run_id FROM evolutions WHERE id = $1")
            .with(evolution)
            .one(&mut *tx, only)
            .await?;
        lock_run(&mut tx, &run).await?;
        query(
            "INSERT INTO evolution_audits (evolution_id, worker, claimed_until, holds_rank, found, states) VALUES ($1, '', 0, 1, $2, $3)
             ON CONFLICT (evolution_id) DO UPDATE SET worker = '', claimed_until = 0, found = excluded.found, states = excluded.states",
        )
        .with((evolution, to_json(audit)?, to_json(&audit.states)?))
        .run(&mut *tx)
        .await?;
        for row in changed {
            update_iteration(&mut tx, evolution, row).await?;
            query(
                "UPDATE evolutions SET ending = 'cut_short', reason = $3
                 WHERE id = $1 AND ending = 'solved' AND $3 <> ''
                   AND (SELECT max(iteration) FROM iterations WHERE evolution_id = $1) = $2",
            )
            .with((evolution, row.iteration))
            .with(row.collapse.as_deref().unwrap_or_default())
            .run(&mut *tx)
            .await?;
        }
        end_run(&mut tx, &run, now_ms(), self.audits).await?;
        results_changed(&mut tx, &run).await?;
        commit_change(tx).await
    }

    /// The audit of an evolution; `None` before.
    pub async fn evolution_audit(&self, evolution: &str) -> Result<Option<EvolutionAudit>> {
        query("SELECT found FROM evolution_audits WHERE evolution_id = $1 AND found <> ''")
            .with(evolution)
            .first(&self.pool, |row| row.json("found", "an audit"))
            .await
    }

    /// The audits of a run's evolutions, by evolution.
    pub async fn audits_of_run(&self, run_id: &str) -> Result<Vec<(String, EvolutionAudit)>> {
        query(
            "SELECT a.evolution_id AS id, a.found AS found FROM evolution_audits a
             JOIN evolutions e ON e.id = a.evolution_id WHERE e.run_id = $1 AND a.found <> ''",
        )
        .with(run_id)
        .all(&self.pool, |row| {
            Ok((row.read("id")?, row.json("found", "an audit")?))
        })
        .await
    }

    /// Why evolutions of a run are not audited, by evolution.
    pub async fn not_audited(&self, run_id: &str) -> Result<HashMap<String, String>> {
        let some = query(
            "SELECT a.evolution_id AS id, a.found AS found FROM evolution_audits a
             JOIN evolutions e ON e.id = a.evolution_id
             WHERE e.run_id = $1 AND a.found LIKE '%\"reason\":\"%'",
        )
        .with(run_id)
        .all(&self.pool, |row| {
            let audit: EvolutionAudit = row.json("found", "an audit")?;
            Ok((row.read("id")?, audit.reason))
        });
        let why = |(id, reason): (String, Option<String>)| Some((id, reason?));
        Ok(some.await?.into_iter().filter_map(why).collect())
    }

    /// Evolutions of a run that ended since there are audits and wait for theirs.
    pub async fn pending_audits(&self, run_id: &str) -> Result<u32> {
        composed(format!(
            "SELECT count(*) AS n FROM {} AND e.run_id = $1",
            pending()
        ))
        .with(run_id)
        .one(&self.pool, only)
        .await
    }

    /// Stores what a suite's contradictions came to, replacing an earlier result.
    pub async fn put_contradictions(&self, suite: &str, of: &ContradictedSuite) -> Result<()> {
        let mut tx = self.pool.begin().await?;
        query(
            "INSERT INTO contradictions (suite, artifact, coverage) VALUES ($1, $2, $3)
             ON CONFLICT (suite) DO UPDATE SET artifact = excluded.artifact, coverage = excluded.coverage",
        )
        .with((suite, &of.artifact, to_json(&of.coverage)?))
        .run(&mut *tx)
        .await?;
        commit_change(tx).await
    }

    /// How far every suite that was audited is contradicted, by suite.
    pub async fn coverages(&self) -> Result<HashMap<String, Coverage>> {
        let all = query("SELECT suite, coverage FROM contradictions").all(&self.pool, |row| {
            let coverage = row.json("coverage", "a coverage by contradictions")?;
            Ok((row.read("suite")?, coverage))
        });
        Ok(all.await?.into_iter().collect())
    }

    pub async fn contradictions(&self, suite: &str) -> Result<Option<ContradictedSuite>> {
        query("SELECT artifact, coverage FROM contradictions WHERE suite = $1")
            .with(suite)
            .first(&self.pool, |row| {
                Ok(ContradictedSuite {
                    artifact: row.read("artifact")?,
                    coverage: row.json("coverage", "a coverage by contradictions")?,
                })
            })
            .await
    }

    /// Finishes the runs that wait for audits which nobody makes any more.
    pub async fn end_runs(&self) -> Result<()> {
        let running: Vec<String> = query("SELECT id FROM runs WHERE progress = 'running'")
            .all(&self.pool, only)
            .await?;
        for run in running {
            let mut tx = self.pool.begin().await?;
            lock_run(&mut tx, &run).await?;
            end_run(&mut tx, &run, now_ms(), self.audits).await?;
            commit_change(tx).await?;
        }
        Ok(())
    }
}
