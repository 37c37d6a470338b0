//! The try before a run begins: its agents on a tiny task, and the quickest of
//! its own tasks tested at both ends again. A row says that a run waits for
//! it; as long as it does, no worker claims anything of the run. A process
//! that dies in between leaves the row, and the next one tries anew.

use std::convert::Infallible;
use std::time::Duration;

use swe_ci_core::event::What;
use swe_ci_core::outcomes::Outcomes;
use swe_ci_core::preflight::{Finding, PreflightState};
use swe_ci_core::verification::compare;
use swe_ci_core::view::RunSummary;
use tokio_util::sync::CancellationToken;

use crate::Engine;
use crate::blocking::blocking;
use crate::error::{Error, Result};
use crate::store::TaskRow;

/// How often it is looked whether a run waits, and whether it still does.
const LOOK: Duration = Duration::from_secs(1);
/// After a failure of the platform.
const LATER: Duration = Duration::from_secs(10);

impl Engine {
    /// Has a run tried again whose preflight failed.
    ///
    /// # Errors
    /// [`Error::Conflict`] when it has none to repeat or is over;
    /// [`Error::NotFound`], [`Error::Unauthenticated`], [`Error::Forbidden`].
    pub async fn preflight_again(&self, run_id: &str) -> Result<()> {
        self.set_preflight(run_id, PreflightState::Waiting).await
    }

    /// Lets a run begin whose preflight failed or is not over.
    ///
    /// # Errors
    /// As [`Engine::preflight_again`].
    pub async fn begin_anyway(&self, run_id: &str) -> Result<()> {
        self.set_preflight(run_id, PreflightState::Skipped).await
    }

    async fn set_preflight(&self, run_id: &str, state: PreflightState) -> Result<()> {
        let run = self.steered_run(run_id).await?;
        if run.progress.is_over() {
            let progress = run.progress.name();
            return Err(Error::Conflict(format!(
                "run {run_id} is {progress} already"
            )));
        }
        let store = &self.inner.store;
        let now = store.preflight(run_id).await?.map(|found| found.state);
        if now == Some(state) {
            return Ok(());
        }
        if !now.is_some_and(PreflightState::holds_up) {
            return Err(Error::Conflict(format!(
                "run {run_id} waits for no preflight"
            )));
        }
        store.set_preflight(run_id, state, self.by()).await?;
        self.tell_preflight(run_id).await
    }

    async fn tell_preflight(&self, run_id: &str) -> Result<()> {
        if let Some(preflight) = self.inner.store.preflight(run_id).await? {
            self.inner
                .events
                .tell(run_id, What::Preflight { preflight });
        }
        Ok(())
    }

    /// Tries the runs that wait for it, one after the other, until `stop`.
    pub(crate) async fn try_runs(&self, stop: &CancellationToken) {
        while !stop.is_cancelled() {
            let wait = match self.try_next(stop).await {
                Ok(true) => continue,
                Ok(false) => LOOK,
                // Somebody checks a harness by hand.
                Err(Error::Conflict(_)) => LOOK,
                Err(error) => {
                    tracing::warn!("no preflight: {:#}", anyhow::Error::new(error));
                    LATER
                }
            };
            tokio::select! {
                () = stop.cancelled() => {}
                () = tokio::time::sleep(wait) => {}
            }
        }
    }

    /// Whether there was one to try.
    async fn try_next(&self, stop: &CancellationToken) -> Result<bool> {
        let store = &self.inner.store;
        let Some(run_id) = store.next_preflight().await? else {
            return Ok(false);
        };
        let run = store.run(&run_id).await?;
        let broken_off = stop.child_token();
        let tried = tokio::select! {
            tried = self.try_run(&run, &broken_off) => tried,
            never = self.watch(&run_id, &broken_off) => match never {},
        };
        if broken_off.is_cancelled() {
            return Ok(true);
        }
        if store.end_preflight(&run_id, &tried?).await? {
            self.tell_preflight(&run_id).await?;
        }
        Ok(true)
    }

    /// Breaks the try off when nobody waits for it any more.
    async fn watch(&self, run_id: &str, broken_off: &CancellationToken) -> Infallible {
        loop {
            tokio::time::sleep(LOOK).await;
            if !self.waits(run_id).await.unwrap_or(true) {
                broken_off.cancel();
            }
        }
    }

    async fn waits(&self, run_id: &str) -> Result<bool> {
        let store = &self.inner.store;
        let (progress, steering) = store.steering(run_id).await?;
        let preflight = store.preflight(run_id).await?;
        let waiting = preflight.is_some_and(|found| found.state == PreflightState::Waiting);
        Ok(waiting && !progress.is_over() && !steering.paused)
    }

    async fn try_run(&self, run: &RunSummary, stop: &CancellationToken) -> Result<Vec<Finding>> {
        let mut findings = Vec::new();
        if run.config.harness.asks_a_model() {
            findings.push(self.try_agents(run, stop).await?);
        }
        let task = tokio::select! {
            tried = self.try_task(run) => tried?,
            () = stop.cancelled() => None,
        };
        findings.extend(task);
        Ok(findings)
    }

    async fn try_agents(&self, run: &RunSummary, stop: &CancellationToken) -> Result<Finding> {
        let grant = self.inner.store.grant(&run.run_id).await?;
        let subject = "agents".to_owned();
        let checked = self.check_agents(run.config.clone(), grant, &|_| {}, stop);
        match checked.await {
            Ok(checked) => Ok(Finding {
                subject,
                good: checked.works,
                says: checked.verdict,
                advice: checked.advice,
                last_lines: checked.last_lines,
            }),
            Err(error @ (Error::Unavailable(_) | Error::Conflict(_))) => Err(error),
            // A program that cannot be installed, a key that is gone.
            Err(error) => Ok(Finding {
                subject,
                good: false,
                says: format!("{:#}", anyhow::Error::new(error)),
                advice: Vec::new(),
                last_lines: Vec::new(),
            }),
        }
    }

    /// The quickest of its tasks, tested at the base and at the target.
    async fn try_task(&self, run: &RunSummary) -> Result<Option<Finding>> {
        let store = &self.inner.store;
        let mut quickest: Option<TaskRow> = None;
        for evolution in store.evolutions_of_run(&run.run_id).await? {
            let task = store.task(&evolution.task_id).await?;
            if quickest
                .as_ref()
                .is_none_or(|known| task.suite_seconds < known.suite_seconds)
            {
                quickest = Some(task);
            }
        }
        let Some(task) = quickest else {
            return Ok(None);
        };
        let all_pass = Outcomes::all_pass(&task.suite.tests);
        let ends = [
            ("base", &task.base_sha, &task.suite.base_outcomes),
            ("target", &task.target_sha, &all_pass),
        ];
        let mut wrong = Vec::new();
        for (end, sha, recorded) in ends {
            let (history, sha) = (self.inner.folders.history(&task.id), sha.clone());
            let code = blocking(move || history.code(&sha)).await?;
            let found = self
                .tested_again(
                    &task,
                    &task.suite.tests,
                    code,
                    run.config.limits,
                    &run.run_id,
                )
                .await?;
            let found = found.as_ref().map_err(String::as_str);
            if let Some(what) = compare(&task.suite.tests, Some(recorded), found) {
                wrong.push(format!("the {end} does not come out as recorded: {what}"));
            }
        }
        let good = wrong.is_empty();
        let advice = match good {
            true => Vec::new(),
            false => vec!["import the split again, or leave the task out".into()],
        };
        Ok(Some(Finding {
            subject: task.id.to_string(),
            good,
            says: match good {
                true => "base and target come out as recorded".into(),
                false => wrong.join("; "),
            },
            advice,
            last_lines: Vec::new(),
        }))
    }
}
