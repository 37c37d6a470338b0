//! Audits of evolutions: their code is run against contradictions of the tests that it
//! passes, while they run and as they end, and their last code is asked changed inputs.
//! Code that passes a test and its contradiction collapses once they are over.

use std::time::{Duration, Instant};

use swe_ci_base::error::{Error, Result};
use swe_ci_core::audit::{Accusation, Audit, AuditedState, EvolutionAudit, Generalisation};
use swe_ci_core::finding::{Finding, FindingKind, tampering};
use swe_ci_core::metrics::Verdict;
use swe_ci_core::outcomes::Outcomes;
use swe_ci_core::report::Outcome;
use swe_ci_core::run::Limits;
use swe_ci_dataset::contradictions::bounded;
use swe_ci_grading::{Contradictions, MOST_SESSIONS, Recorded, audit, generalisation, secret_seed};

use swe_ci_store::artifacts::{is_missing, is_outage};
use swe_ci_store::{EvolutionRow, IterationRow, Suite, TaskRow};
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

use super::verification::Repetition;
use super::worker::{CLAIM, POLL_INTERVAL, RETRY_DELAY, work_on_claims};
use crate::Engine;

/// After so many tries an evolution whose code is gone ends without an audit.
const MAX_TRIES: u32 = 3;
/// An audit may take as long as the evolution's own tests, and this long anyway.
const LEAST_TIME: Duration = Duration::from_mins(2);

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
        let audit = self.store.evolution_audit(id).await?.unwrap_or_default();
        let mut states = audit.states.into_iter();
        let state = states.find(|state| state.iteration == iteration);
        Ok(state.map_or_else(Vec::new, |state| state.audit.accusations))
    }

    /// Evolutions of a run that keep it from a rank until they are audited.
    pub(crate) async fn pending_audits(&self, run_id: &str) -> Result<u32> {
        match self.config.audit {
            true => self.store.pending_audits(run_id).await,
            false => Ok(0),
        }
    }

    /// Audits evolutions, one at a time, until `stop`.
    pub(crate) async fn audit_evolutions(&self, stop: &CancellationToken) {
        let search = Mutex::default();
        let release = || self.store.release_audits(&self.instance);
        let next = || self.audit_next(&search);
        work_on_claims("audit", stop, release, next).await;
    }

    /// Audits evolutions until none is left, or a machine fails.
    pub(crate) async fn audit_the_rest(&self) {
        loop {
            match self.audit_next(&Mutex::default()).await {
                Ok(pause) if pause.is_zero() => {}
                Ok(_) => return,
                Err(error) => return tracing::warn!("audit: {}", error.chain()),
            }
        }
    }

    /// Returns the pause before the next one: none if one was audited.
    async fn audit_next(&self, search: &Mutex<Search>) -> Result<Duration> {
        let mut search = search.lock().await;
        let changes = self.store.changes().await?;
        if search.found_none == Some(changes) && !search.put_back {
            return Ok(POLL_INTERVAL);
        }
        let until = crate::after(CLAIM);
        let Some(id) = self.store.claim_audit(&self.instance, until).await? else {
            search.found_none = Some(changes);
            return Ok(POLL_INTERVAL);
        };
        let evolution = self.store.evolution(&id).await?;
        let rows = self.store.iterations(&id).await?;
        let known = self.store.audited_states(&id).await?;
        let is_over = evolution.ending.is_some();
        let audit = Box::pin(self.audit_evolution(&evolution, &rows, known.clone())).await;
        let audit = match audit {
            Ok(audit) => audit,
            Err(error) => {
                let is_gone = is_over && is_missing(&error);
                let why = error.chain();
                // It holds up no other: its image or its code may be away alone.
                if may_pass(&error) {
                    tracing::warn!(evolution = id, "audited later: {why}");
                    let from = crate::after(RETRY_DELAY);
                    let tries = self.store.put_back_audit(&id, from, is_gone).await?;
                    if !is_gone || tries < MAX_TRIES {
                        search.put_back = true;
                        return Ok(POLL_INTERVAL);
                    }
                }
                EvolutionAudit {
                    states: known,
                    ..EvolutionAudit::without(why)
                }
            }
        };
        if let Some(why) = &audit.reason {
            tracing::warn!(evolution = id, "no audit: {why}");
        }
        if !is_over {
            let to = rows.last().map_or(0, |row| row.iteration);
            let states = &audit.states;
            self.store.put_audited_states(&id, states, to).await?;
            return Ok(Duration::ZERO);
        }
        let suite = self.store.suite(&evolution.suite).await?;
        let changed = changed_rows(&suite, &rows, &audit);
        self.store.put_audit(&id, &audit, &changed).await?;
        Ok(Duration::ZERO)
    }

    /// Audits the states of an evolution that are not known yet, and its last one
    /// once it is over.
    async fn audit_evolution(
        &self,
        evolution: &EvolutionRow,
        rows: &[IterationRow],
        known: Vec<AuditedState>,
    ) -> Result<EvolutionAudit> {
        let task = self.store.task_of_evolution(evolution).await?;
        let limits = self.store.run(&evolution.run_id).await?.config.limits;
        let mut found = EvolutionAudit {
            states: known,
            ..EvolutionAudit::default()
        };
        let all = match self.contradictions(&task, limits).await? {
            Ok(contradictions) => contradictions,
            Err(why) => {
                found.reason = Some(why);
                return Ok(found);
            }
        };
        let own = rows.iter().map(|row| row.test_seconds).sum::<f64>();
        let own = own.max(LEAST_TIME.as_secs_f64());
        let time = limits.audit_seconds.map_or(own, f64::from);
        let is_over = evolution.ending.is_some();
        for (n, row) in states(rows, is_over).into_iter().enumerate() {
            let is_last = is_over && n == 0;
            let at = |state: &AuditedState| state.iteration == row.iteration;
            if !is_last && found.states.iter().any(at) {
                continue;
            }
            if !is_last && found.seconds() > time {
                found.left_out += 1;
                continue;
            }
            let began = Instant::now();
            let repetition = self.recorded(evolution, &task, limits, row).await?;
            // Only Python's calls are understood.
            if is_last && task.test_command.plan().is_none() {
                let asked = self.generalisation(&task, &repetition, &all, row).await?;
                found.generalisation = Some(asked);
            }
            // The last state has one more.
            let sessions = MOST_SESSIONS - usize::from(!is_last);
            let audit = self
                .audit_state(&task, &repetition, &all, row, sessions)
                .await?;
            found.states.retain(|state| !at(state));
            found.states.push(AuditedState {
                iteration: row.iteration,
                seconds: began.elapsed().as_secs_f64(),
                audit,
            });
        }
        found.states.sort_by_key(|state| state.iteration);
        Ok(found)
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
    ) -> Result<Audit> {
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
        Box::pin(audited).await.map_err(crate::unavailable)
    }
}

/// Whether the machine or the store is at fault, so that a later try may succeed.
fn may_pass(error: &Error) -> bool {
    matches!(error, Error::Unavailable(_)) || is_outage(error) || is_missing(error)
}

fn can_be_audited(row: &&IterationRow) -> bool {
    !row.code.is_empty() && matches!(row.verdict, Verdict::Scored { .. })
}

/// The states to audit: the last one if the evolution is over, then those that gained
/// most.
fn states(rows: &[IterationRow], is_over: bool) -> Vec<&IterationRow> {
    let mut states: Vec<&IterationRow> = rows.iter().filter(can_be_audited).collect();
    let last = states.pop_if(|_| is_over);
    states.retain(|row| row.gained > 0);
    states.sort_by_key(|row| std::cmp::Reverse(row.gained));
    last.into_iter().chain(states).collect()
}

/// The iterations that change by an audit.
fn changed_rows(suite: &Suite, rows: &[IterationRow], audit: &EvolutionAudit) -> Vec<IterationRow> {
    let last = rows.iter().rfind(can_be_audited).map(|row| row.iteration);
    let change = |row: &IterationRow| {
        let mut states = audit.states.iter();
        let state = states.find(|state| state.iteration == row.iteration)?;
        if let Some(why) = state.audit.accuses() {
            tracing::warn!(iteration = row.iteration, "tampered: {why}");
            return Some(collapse(suite, rows, row, why));
        }
        let asked = audit.generalisation.as_ref();
        let asked = asked.filter(|_| Some(row.iteration) == last);
        let by_heart = asked.and_then(Generalisation::by_heart).into_iter();
        let suspicions = by_heart.chain(state.audit.suspicion());
        let mut findings = row.findings.clone();
        findings.extend(suspicions.filter(|new| !row.findings.contains(new)));
        (findings.len() > row.findings.len()).then(|| IterationRow {
            findings,
            ..row.clone()
        })
    };
    let audited = rows.iter().filter(can_be_audited);
    audited.filter_map(change).collect()
}

/// An iteration as it counts now. What was built on it stands as it was done.
fn collapse(suite: &Suite, rows: &[IterationRow], row: &IterationRow, why: String) -> IterationRow {
    let finding = Finding::tampered(FindingKind::Contradiction, why);
    let scored = |earlier: &&IterationRow| {
        earlier.iteration < row.iteration && matches!(earlier.verdict, Verdict::Scored { .. })
    };
    let before = rows.iter().rfind(scored).map(|earlier| &earlier.outcomes);
    let outcomes = Outcomes::none(&suite.tests);
    let lost = outcomes.lost_since(before.unwrap_or(&suite.base_outcomes));
    IterationRow {
        verdict: Verdict::Collapsed { lost },
        gained: 0,
        outcomes,
        collapse: tampering(std::slice::from_ref(&finding)),
        findings: row.findings.iter().cloned().chain([finding]).collect(),
        ..row.clone()
    }
}
