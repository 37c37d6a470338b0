//! The preflight of a run: its agents work on a tiny task, and the quickest of
//! its own tasks is tested at both ends again. A row marks a waiting run; while
//! it exists, no worker claims anything of the run. If the process dies in
//! between, the row stays and the next process starts the preflight again.

use std::convert::Infallible;
use std::time::Duration;

use swe_ci_base::blocking::blocking;
use swe_ci_base::error::{Error, Result};
use swe_ci_core::outcomes::Outcomes;
use swe_ci_store::{EvolutionRow, TaskRow};
use swe_ci_views::event::What;
use swe_ci_views::preflight::{Finding, PreflightState};
use swe_ci_views::verification::compare;
use swe_ci_views::view::RunSummary;
use tokio_util::sync::CancellationToken;

use crate::Engine;
use crate::api::steering::over;

/// How often the row is checked: whether a run waits, and whether it still
/// does.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// The pause after a failure of the platform.
const RETRY_DELAY: Duration = Duration::from_secs(10);

#[swe_ci_boxed::boxed]
impl Engine {
    /// Repeats a failed preflight.
    ///
    /// # Errors
    /// [`Error::Conflict`] when it has none to repeat or is over.
    pub async fn preflight_again(&self, run_id: &str) -> Result<()> {
        self.set_preflight(run_id, PreflightState::Waiting).await
    }

    /// Starts a run whose preflight failed or is not over.
    ///
    /// # Errors
    /// As [`Engine::preflight_again`].
    pub async fn begin_anyway(&self, run_id: &str) -> Result<()> {
        self.set_preflight(run_id, PreflightState::Skipped).await
    }

    async fn set_preflight(&self, run_id: &str, state: PreflightState) -> Result<()> {
        let run = self.steerable_run(run_id).await?;
        if run.progress.is_over() {
            return Err(over(run_id, run.progress));
        }
        let now = self.store.preflight(run_id).await?.map(|found| found.state);
        if now == Some(state) {
            return Ok(());
        }
        if !now.is_some_and(PreflightState::holds_up) {
            return Err(Error::Conflict(format!(
                "run {run_id} waits for no preflight"
            )));
        }
        self.store.set_preflight(run_id, state, self.by()).await?;
        self.publish_preflight(run_id).await
    }

    async fn publish_preflight(&self, run_id: &str) -> Result<()> {
        if let Some(preflight) = self.store.preflight(run_id).await? {
            self.events.publish(run_id, What::Preflight { preflight });
        }
        Ok(())
    }

    /// Runs the waiting preflights, one after the other, until `stop`.
    pub(crate) async fn run_preflights(&self, stop: &CancellationToken) {
        while !stop.is_cancelled() {
            let wait = match self.preflight_next(stop).await {
                Ok(true) => continue,
                Ok(false) => POLL_INTERVAL,
                // A harness check by hand is active.
                Err(Error::Conflict(_)) => POLL_INTERVAL,
                Err(error) => {
                    tracing::warn!("no preflight: {:#}", anyhow::Error::new(error));
                    RETRY_DELAY
                }
            };
            stop.run_until_cancelled(tokio::time::sleep(wait)).await;
        }
    }

    /// Whether there was a waiting run.
    async fn preflight_next(&self, stop: &CancellationToken) -> Result<bool> {
        let Some(run_id) = self.store.next_preflight().await? else {
            return Ok(false);
        };
        let run = self.store.run(&run_id).await?;
        let interrupted = stop.child_token();
        let findings = tokio::select! {
            findings = self.preflight(&run, &interrupted) => findings,
            never = self.watch_preflight(&run_id, &interrupted) => match never {},
        };
        if interrupted.is_cancelled() {
            return Ok(true);
        }
        if self.store.end_preflight(&run_id, &findings?).await? {
            self.publish_preflight(&run_id).await?;
        }
        Ok(true)
    }

    /// Stops the preflight when its run no longer waits for it.
    async fn watch_preflight(&self, run_id: &str, interrupted: &CancellationToken) -> Infallible {
        loop {
            tokio::time::sleep(POLL_INTERVAL).await;
            if !self.waits(run_id).await.unwrap_or(true) {
                interrupted.cancel();
            }
        }
    }

    async fn waits(&self, run_id: &str) -> Result<bool> {
        let (progress, steering) = self.store.steering(run_id).await?;
        let preflight = self.store.preflight(run_id).await?;
        let waiting = preflight.is_some_and(|found| found.state == PreflightState::Waiting);
        Ok(waiting && !progress.is_over() && !steering.paused)
    }

    async fn preflight(&self, run: &RunSummary, stop: &CancellationToken) -> Result<Vec<Finding>> {
        let mut findings = Vec::new();
        if run.config.harness.asks_a_model() {
            findings.push(self.check_run_agents(run, stop).await?);
        }
        let task = Box::pin(self.test_quickest_task(run));
        let task = stop.run_until_cancelled(task).await;
        findings.extend(task.transpose()?.flatten());
        Ok(findings)
    }

    async fn check_run_agents(
        &self,
        run: &RunSummary,
        stop: &CancellationToken,
    ) -> Result<Finding> {
        let grant = self.store.permissions(&run.run_id).await?;
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
            // A program that cannot be installed, or a missing key.
            Err(error) => Ok(Finding {
                subject,
                good: false,
                says: format!("{:#}", anyhow::Error::new(error)),
                advice: Vec::new(),
                last_lines: Vec::new(),
            }),
        }
    }

    async fn test_quickest_task(&self, run: &RunSummary) -> Result<Option<Finding>> {
        let mut tasks: Vec<(TaskRow, EvolutionRow)> = Vec::new();
        for evolution in self.store.evolutions_of_run(&run.run_id).await? {
            if !tasks.iter().any(|(task, _)| task.id == evolution.task_id) {
                let task = self.store.task_of_evolution(&evolution).await?;
                tasks.push((task, evolution));
            }
        }
        let quickest = tasks
            .into_iter()
            .min_by(|(a, _), (b, _)| a.suite_seconds.total_cmp(&b.suite_seconds));
        let Some((task, evolution)) = quickest else {
            return Ok(None);
        };
        let all_pass = Outcomes::all_pass(&task.suite.tests);
        let history = self.folders.fetched(&task).await?;
        let target = task.target_sha.clone();
        let target = blocking(move || history.code(&target)).await?;
        let start = self.base_code(&evolution).await?;
        let ends = [
            ("base", start, &task.suite.base_outcomes),
            ("target", target, &all_pass),
        ];
        let mut differences = Vec::new();
        for (end, code, recorded) in ends {
            let (tests, limits) = (&task.suite.tests, run.config.limits);
            let outcomes = self.run_tests_again(&task, tests, code, limits, &run.run_id);
            let outcomes = outcomes.await?;
            let outcomes = outcomes.as_ref().map_err(String::as_str);
            if let Some(what) = compare(tests, Some(recorded), outcomes) {
                differences.push(format!(
                    "the outcomes at the {end} differ from the recorded ones: {what}"
                ));
            }
        }
        let good = differences.is_empty();
        let (says, advice) = match good {
            true => (
                "the outcomes at base and target are as recorded".into(),
                None,
            ),
            false => {
                let advice = "import the split again, or leave the task out".to_owned();
                (differences.join("; "), Some(advice))
            }
        };
        Ok(Some(Finding {
            subject: task.id.to_string(),
            good,
            says,
            advice: advice.into_iter().collect(),
            last_lines: Vec::new(),
        }))
    }
}
