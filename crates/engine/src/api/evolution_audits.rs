//! Audits of evolutions as they end: their code is run against contradictions of
//! the tests that it passes, and their last code is asked changed inputs. Code that
//! passes a test and its contradiction collapses.

use std::time::{Duration, Instant};

use swe_ci_base::error::{Error, Result};
use swe_ci_core::audit::{Accusation, AuditedState, EvolutionAudit, Generalisation};
use swe_ci_core::finding::{Finding, FindingKind, tampering};
use swe_ci_core::metrics::Verdict;
use swe_ci_core::outcomes::Outcomes;
use swe_ci_core::report::Outcome;
use swe_ci_core::run::Limits;
use swe_ci_grading::{Contradictions, MOST_SESSIONS, Recorded, audit, generalisation, secret_seed};

use swe_ci_store::artifacts::{is_missing, is_outage};
use swe_ci_store::{EvolutionRow, IterationRow, TaskRow};
use tokio_util::sync::CancellationToken;

use super::verification::Repetition;
use crate::Engine;

const POLL_INTERVAL: Duration = Duration::from_secs(2);
/// The pause after a failure of the container engine or of the store.
const RETRY_DELAY: Duration = Duration::from_mins(5);
/// How long a worker's claim on an evolution lasts.
const LEASE: Duration = Duration::from_hours(6);
/// An audit may take as long as the evolution's own tests, and this long anyway.
pub(super) const LEAST_TIME: Duration = Duration::from_mins(2);

/// A worker's search for evolutions to audit.
#[derive(Debug, Default)]
struct Search {
    /// The change counter of the store when there was none.
    found_none: Option<i64>,
    /// Whether one waits for its time, which no change tells.
    put_back: bool,
}

#[swe_ci_boxed::boxed]
impl Engine {
    /// The audit of an evolution; `None` before.
    pub async fn evolution_audit(&self, evolution_id: &str) -> Result<Option<EvolutionAudit>> {
        let evolution = self.visible_evolution(evolution_id).await?;
        self.store.evolution_audit(&evolution.id).await
    }

    pub(crate) async fn accusations(&self, id: &str, iteration: u32) -> Result<Vec<Accusation>> {
        let states = self
            .store
            .evolution_audit(id)
            .await?
            .unwrap_or_default()
            .states;
        let mut states = states
            .into_iter()
            .filter(|state| state.iteration == iteration);
        Ok(states
            .next()
            .map_or_else(Vec::new, |state| state.audit.accusations))
    }

    /// Evolutions of a run that keep it from a rank until they are audited.
    pub(crate) async fn pending_audits(&self, run_id: &str) -> Result<u32> {
        match self.config.audit {
            true => self.store.pending_audits(run_id).await,
            false => Ok(0),
        }
    }

    /// Audits evolutions as they end, one at a time, until `stop`.
    pub(crate) async fn audit_ended(&self, stop: &CancellationToken) {
        // A failure, or an earlier process of this data folder, leaves a claim.
        let (mut may_hold_claim, mut search) = (true, Search::default());
        while !stop.is_cancelled() {
            let next = Box::pin(async {
                if may_hold_claim {
                    self.store.release_audits(&self.instance).await?;
                    may_hold_claim = false;
                }
                self.audit_next(&mut search).await
            });
            let Some(next) = stop.run_until_cancelled(next).await else {
                return;
            };
            let wait = match next {
                Ok(true) => continue,
                Ok(false) => POLL_INTERVAL,
                Err(error) => {
                    tracing::warn!("audit: {}", error.chain());
                    may_hold_claim = true;
                    RETRY_DELAY
                }
            };
            stop.run_until_cancelled(tokio::time::sleep(wait)).await;
        }
    }

    /// Audits evolutions until none is left, or a machine fails.
    pub(crate) async fn audit_the_rest(&self) {
        loop {
            match self.audit_next(&mut Search::default()).await {
                Ok(true) => {}
                Ok(false) => return,
                Err(error) => return tracing::warn!("audit: {}", error.chain()),
            }
        }
    }

    /// Whether one was audited.
    async fn audit_next(&self, search: &mut Search) -> Result<bool> {
        let changes = self.store.changes().await?;
        if search.found_none == Some(changes) && !search.put_back {
            return Ok(false);
        }
        let until = crate::after(LEASE);
        let Some(id) = self.store.claim_audit(&self.instance, until).await? else {
            search.found_none = Some(changes);
            return Ok(false);
        };
        let (audit, changed) = match Box::pin(self.audit_evolution(&id)).await {
            Ok(audited) => audited,
            // It holds up no other: its image or its code may be away alone.
            Err(error) if may_pass(&error) => {
                tracing::warn!(evolution = id, "audited later: {}", error.chain());
                let from = crate::after(RETRY_DELAY);
                self.store.put_back_audit(&id, from).await?;
                search.put_back = true;
                return Ok(false);
            }
            Err(error) => (without_audit(error.chain()), Vec::new()),
        };
        if let Some(why) = &audit.reason {
            tracing::warn!(evolution = id, "no audit: {why}");
        }
        self.store.put_audit(&id, &audit, &changed).await?;
        Ok(true)
    }

    /// The audit of an evolution, and its iterations that change by it.
    async fn audit_evolution(&self, id: &str) -> Result<(EvolutionAudit, Vec<IterationRow>)> {
        let evolution = self.store.evolution(id).await?;
        let task = self.store.task_of_evolution(&evolution).await?;
        let limits = self.store.run(&evolution.run_id).await?.config.limits;
        let all = match self.contradictions(&task, limits).await? {
            Ok(contradictions) => contradictions,
            Err(why) => return Ok((without_audit(why), Vec::new())),
        };
        let rows = self.store.iterations(id).await?;
        let seconds = rows.iter().map(|row| row.test_seconds).sum();
        let time = Duration::from_secs_f64(seconds).max(LEAST_TIME);
        let (began, states) = (Instant::now(), states(&rows));
        let (mut found, mut changed) = (EvolutionAudit::default(), Vec::new());
        for (n, row) in states.iter().enumerate() {
            if n > 0 && began.elapsed() > time {
                found.left_out = crate::as_u32(states.len() - n);
                break;
            }
            let repetition = self.recorded(&evolution, &task, limits, row).await?;
            let mut suspicions = Vec::new();
            if n == 0 {
                let asked = self.generalisation(&task, &repetition, &all, row).await?;
                suspicions.extend(asked.by_heart());
                found.generalisation = Some(asked);
            }
            // The last state, which is audited first, has one more.
            let sessions = MOST_SESSIONS - usize::from(n > 0);
            let state = self
                .audit_state(&task, &repetition, &all, row, sessions)
                .await?;
            suspicions.extend(state.audit.owed_to_clues.clone());
            if let Some(why) = state.audit.accuses() {
                tracing::warn!(evolution = id, iteration = row.iteration, "tampered: {why}");
                changed.push(collapse(&task, &rows, row, why));
            } else if !suspicions.is_empty() {
                let mut suspected = IterationRow::clone(row);
                suspected.findings.extend(suspicions);
                changed.push(suspected);
            }
            found.states.push(state);
        }
        found.states.sort_by_key(|state| state.iteration);
        Ok((found, changed))
    }

    /// The code of a state, to be tested again.
    async fn recorded(
        &self,
        evolution: &EvolutionRow,
        task: &TaskRow,
        limits: Limits,
        row: &IterationRow,
    ) -> Result<Repetition> {
        let code = self.artifacts.get_code(&row.code).await?;
        // Code that hangs where it notices the audit shall not take an hour.
        let seconds = Duration::from_secs_f64(10.0 * row.test_seconds) + LEAST_TIME;
        let limits = bounded(limits, seconds);
        self.repetition(task, code, limits, &evolution.id).await
    }

    async fn generalisation(
        &self,
        task: &TaskRow,
        Repetition { spec, grading, .. }: &Repetition,
        contradictions: &Contradictions,
        row: &IterationRow,
    ) -> Result<Generalisation> {
        let sandbox = self.sandbox();
        let tests = task.suite.tests.node_ids().iter().zip(row.outcomes.iter());
        let tests = tests.map(|(id, outcome)| (id.as_str(), outcome == Outcome::Passed));
        let questions = contradictions.questions();
        let asked = generalisation(sandbox.as_ref(), spec, grading, questions, tests);
        Box::pin(asked).await.map_err(crate::unavailable)
    }

    async fn audit_state(
        &self,
        task: &TaskRow,
        Repetition { spec, grading, .. }: &Repetition,
        contradictions: &Contradictions,
        row: &IterationRow,
        sessions: usize,
    ) -> Result<AuditedState> {
        let tests = task.suite.tests.node_ids().iter().zip(row.outcomes.iter());
        let passed = tests.filter(|(_, outcome)| *outcome == Outcome::Passed);
        let passed: Vec<&str> = passed.map(|(id, _)| id.as_str()).collect();
        let sandbox = self.sandbox();
        let seed = secret_seed()?;
        let audited = audit(
            sandbox.as_ref(),
            spec,
            grading,
            contradictions,
            Recorded {
                passed: &passed,
                seconds: row.test_seconds,
            },
            sessions,
            seed,
        );
        Ok(AuditedState {
            iteration: row.iteration,
            audit: Box::pin(audited).await.map_err(crate::unavailable)?,
        })
    }
}

/// Whether the machine or the store is at fault, so that a later try may succeed.
fn may_pass(error: &Error) -> bool {
    matches!(error, Error::Unavailable(_)) || is_outage(error) || is_missing(error)
}

pub(super) fn bounded(limits: Limits, seconds: Duration) -> Limits {
    Limits {
        test_seconds: crate::as_u32(seconds.as_secs() as usize).min(limits.test_seconds),
        ..limits
    }
}

fn without_audit(why: String) -> EvolutionAudit {
    EvolutionAudit {
        reason: Some(why),
        ..EvolutionAudit::default()
    }
}

/// The states to audit: the last one, then those that gained most.
fn states(rows: &[IterationRow]) -> Vec<&IterationRow> {
    let is_scored =
        |row: &&IterationRow| !row.code.is_empty() && matches!(row.verdict, Verdict::Scored { .. });
    let mut states: Vec<&IterationRow> = rows.iter().filter(is_scored).collect();
    let last = states.pop();
    states.retain(|row| row.gained > 0);
    states.sort_by_key(|row| std::cmp::Reverse(row.gained));
    last.into_iter().chain(states).collect()
}

/// An iteration as it counts now. What was built on it stands as it was done.
fn collapse(
    task: &TaskRow,
    rows: &[IterationRow],
    row: &IterationRow,
    why: String,
) -> IterationRow {
    let finding = Finding::tampered(FindingKind::Contradiction, why);
    let scored = |earlier: &&IterationRow| {
        earlier.iteration < row.iteration && matches!(earlier.verdict, Verdict::Scored { .. })
    };
    let before = rows.iter().rfind(scored).map(|earlier| &earlier.outcomes);
    let outcomes = Outcomes::none(&task.suite.tests);
    let lost = outcomes.lost_since(before.unwrap_or(&task.suite.base_outcomes));
    IterationRow {
        verdict: Verdict::Collapsed { lost },
        gained: 0,
        outcomes,
        collapse: tampering(std::slice::from_ref(&finding)),
        findings: row.findings.iter().cloned().chain([finding]).collect(),
        ..row.clone()
    }
}
