//! A look into a recorded step: a fresh container with the files that it had, for
//! a person. It has no network, no agent and no key.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use swe_ci_base::blocking::blocking;
use swe_ci_base::clock::ExcludedTime;
use swe_ci_base::code::CodeTree;
use swe_ci_base::error::{Error, Result};
use swe_ci_core::metrics::Verdict;
use swe_ci_core::requirement::Mode;
use swe_ci_core::step::Role;
use swe_ci_core::task::TaskId;
use swe_ci_grading::placed;
use swe_ci_runner::evolve::{ProgrammerFiles, agent_files, remove_hidden_tests};
use swe_ci_sandbox::{CODE_FOLDER, Exec, Exit, Output, SandboxContainer};
use swe_ci_store::{EvolutionRow, StepRow};
use swe_ci_views::account::AccountRole;
use tokio::io::AsyncRead;

use super::verification::Repetition;
use crate::{Engine, unavailable};

/// A person who looks longer has forgotten it.
const TIME_LIMIT: Duration = Duration::from_hours(12);

/// The container, until this is dropped.
#[derive(Debug)]
pub struct OpenedStep(Box<dyn SandboxContainer>);

#[swe_ci_boxed::boxed]
impl Engine {
    /// Opens a container with the files of a recorded step, the programmer's or that
    /// of the tests; for administrators.
    ///
    /// # Errors
    /// [`Error::NotFound`] when the run has no such task, or its evolution did not
    /// come so far; [`Error::Unavailable`] when the container engine fails.
    pub async fn open_step(
        &self,
        run_id: &str,
        task: &TaskId,
        sample: u32,
        iteration: u32,
        role: Role,
    ) -> Result<OpenedStep> {
        self.require(AccountRole::Admin)?;
        let config = self.visible_run(run_id).await?.config;
        let evolution = self.sample_of(run_id, task, sample).await?;
        let mut steps = self.store.steps(&evolution.id).await?;
        steps.retain(|step| step.iteration == iteration);
        let row = self.store.task_of_evolution(&evolution).await?;
        let code = match role {
            Role::Test => {
                let code = product(&steps, Role::Programmer)?;
                self.artifacts.get_code(code).await?
            }
            Role::Architect | Role::Programmer => self.code_before(&evolution, iteration).await?,
        };
        let what_for = format!("look into {}", evolution.id);
        let again = self.repetition(&row, code, config.limits, &what_for);
        let Repetition { spec, grading, .. } = again.await?;
        let container = self.sandbox().open(&spec).await.map_err(unavailable)?;
        let put = match role {
            Role::Test => {
                let files = blocking(move || Ok(placed(&grading))).await?;
                let parts = files.each_ref().map(|(folder, tree)| (*folder, tree));
                container.put(&parts).await
            }
            Role::Architect | Role::Programmer => {
                if config.mode == Mode::Rdd {
                    let ends = [&*grading.base, &*grading.oracle];
                    remove_hidden_tests(container.as_ref(), &grading.command, ends).await?;
                }
                let document = self.artifacts.get(product(&steps, Role::Architect)?);
                let code = match config.mode {
                    Mode::Impossible => {
                        let contradictions = self.task_contradictions();
                        let shown = contradictions.impossible(&row, config.limits);
                        let tests = Box::pin(shown).await?.tests;
                        Arc::new(tests.laid_beside(&grading.code))
                    }
                    Mode::Tdd | Mode::Rdd => grading.code.clone(),
                };
                let (mode, command) = (config.mode, &grading.command);
                let files = ProgrammerFiles::new(mode, command, &code, document.await?);
                let own = agent_files(&config.agent_files);
                let [code, document] = files.parts();
                container.put(&[code, document, ("/app", &own)]).await
            }
        };
        put.map_err(unavailable)?;
        Ok(OpenedStep(container))
    }

    /// The code that an iteration began with.
    async fn code_before(&self, evolution: &EvolutionRow, iteration: u32) -> Result<CodeTree> {
        let mut before = self.store.iterations(&evolution.id).await?;
        before.retain(|row| {
            row.iteration < iteration && matches!(row.verdict, Verdict::Scored { .. })
        });
        match before.last() {
            Some(row) => Ok(self.artifacts.get_code(&row.code).await?),
            None => Ok(self.base_code(evolution).await?),
        }
    }
}

impl OpenedStep {
    /// Runs a command in the folder of the code, with this input; returns its exit
    /// code.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the container is lost.
    pub async fn run(
        &self,
        command: Vec<String>,
        env: Vec<String>,
        mut input: impl AsyncRead + Send + Unpin + 'static,
        on_output: &mut (dyn FnMut(&[u8]) + Send),
    ) -> Result<i64> {
        let exec = Exec {
            command,
            env,
            reads_input: true,
            unprivileged: false,
            wanted: None,
            working_dir: CODE_FOLDER.into(),
            time_limit: TIME_LIMIT,
            off: ExcludedTime::default(),
        };
        let started = self.0.start(&exec).await;
        let mut command = started.map_err(unavailable)?;
        let mut to = command.take_input();
        let passing_on = tokio::spawn(async move {
            // Who has left reads no more.
            let _ = tokio::io::copy(&mut input, &mut to).await;
            let _ = tokio::io::AsyncWriteExt::shutdown(&mut to).await;
        });
        let mut on_piece = |piece| {
            let (Output::Stdout(bytes) | Output::Stderr(bytes)) = piece;
            on_output(&bytes);
            ControlFlow::Continue(())
        };
        let ended = self.0.wait(command, &exec, &mut on_piece).await;
        passing_on.abort();
        match ended.map_err(unavailable)? {
            Exit::Code(code) => Ok(code),
            Exit::TimedOut => Err(Error::Unavailable(format!(
                "the container was open for {} h, and is closed",
                TIME_LIMIT.as_secs() / 3_600
            ))),
            Exit::DiskSpent => Err(Error::Unavailable(
                "more was written than the run's limits.disk_mb allows: the container is closed"
                    .into(),
            )),
        }
    }
}

/// What the last attempt at a step left that left anything.
fn product(steps: &[StepRow], role: Role) -> Result<&str> {
    let mut steps = steps.iter().rev();
    let step = steps.find(|step| step.role == role && step.outcome.has_product());
    let product = step.and_then(|step| step.product.as_deref());
    product.ok_or_else(|| Error::not_found_in("this iteration", "work of the", role.name()))
}
