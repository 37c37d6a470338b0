//! The three steps, each one attempt in one fresh container.

use std::sync::Arc;

use anyhow::Context;
use swe_ci_core::container::{Container, ContainerLimits};
use swe_ci_core::gap;
use swe_ci_core::metrics::Verdict;
use swe_ci_core::outcomes::Outcomes;
use swe_ci_core::report::Report;
use swe_ci_core::requirement::{Document, MAX_BYTES};
use swe_ci_core::step::{Cursor, Role, StepOutcome};

use super::agents::Work;
use super::boxes::Room;
use super::log::Log;
use super::{Evolution, integrity};
use crate::blocking::blocking;
use crate::clock::now_ms;
use crate::code::CodeTree;
use crate::dataset::base_report_key;
use crate::gateway::{Exchange, Recording};
use crate::harness::Play;
use crate::sandbox::SandboxError;
use crate::store::IterationRow;
use crate::suite::{self, CODE_FOLDER, TESTS};

pub(super) const APP: &str = "/app";
pub(super) const HARNESS_FOLDER: &str = "/app/harness";
const GAP_FOLDER: &str = "/app/non-passed";
const DOCUMENT: &str = "requirement.xml";
pub(super) const TRAJECTORY: &str = "trajectory.jsonl";
/// What came of one attempt.
#[derive(Debug)]
pub(super) struct Attempt {
    pub outcome: StepOutcome,
    /// In words, what is worth knowing of it.
    pub detail: String,
    pub product: Option<String>,
    pub log: Option<String>,
    pub iteration: Option<IterationRow>,
}

impl Attempt {
    fn of(outcome: StepOutcome, detail: impl Into<String>) -> Self {
        Self {
            outcome,
            detail: detail.into(),
            product: None,
            log: None,
            iteration: None,
        }
    }

    pub(super) fn cancelled() -> Self {
        Self::of(StepOutcome::Cancelled, "the run was cancelled")
    }

    pub(super) fn interrupted() -> Self {
        Self::of(
            StepOutcome::Interrupted,
            "the server was stopped, or the run paused",
        )
    }

    fn with_product(self, product: String) -> Self {
        Self {
            product: Some(product),
            ..self
        }
    }
}

/// Why an attempt did not come to its end: whose fault it was decides whether
/// it may count.
#[derive(Debug)]
pub(super) enum Failure {
    /// The agent's own, its provider's, or its budget's.
    Ended(StepOutcome, String),
    Platform(anyhow::Error),
}

impl Failure {
    fn malformed(why: impl std::fmt::Display) -> Self {
        Self::Ended(StepOutcome::MalformedRequirement, why.to_string())
    }
}

impl From<SandboxError> for Failure {
    fn from(error: SandboxError) -> Self {
        match error {
            SandboxError::TooBig { .. } => Self::Ended(StepOutcome::AgentFailed, error.to_string()),
            other => Self::Platform(other.into()),
        }
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Self::Platform(error)
    }
}

impl Evolution<'_> {
    /// One attempt at the step at hand. Never an error: what goes wrong is an
    /// outcome.
    pub(super) async fn attempt(&mut self, at: Cursor) -> Attempt {
        let mut log = Log::new(self, at);
        let done = match (self.agents.begin(at.role), at.role) {
            (Err(failure), _) => Err(failure),
            (Ok(()), Role::Architect) => self.architect(at, &mut log).await,
            (Ok(()), Role::Programmer) => self.programmer(at, &mut log).await,
            (Ok(()), Role::Test) => self.test(at, &mut log).await,
        };
        let mut attempt = done.unwrap_or_else(|failure| match failure {
            Failure::Ended(outcome, why) => Attempt::of(outcome, why),
            Failure::Platform(error) => {
                tracing::warn!(
                    evolution = self.claim.evolution_id,
                    role = at.role.name(),
                    "the platform failed: {error:#}"
                );
                Attempt::of(StepOutcome::InfraFailed, format!("{error:#}"))
            }
        });
        if !log.text.is_empty() {
            let key = self.key(at, "log.txt");
            attempt.log = self
                .evolver
                .artifacts
                .put(&key, log.text.into_bytes())
                .await
                .ok();
        }
        attempt
    }

    async fn architect(&mut self, at: Cursor, log: &mut Log) -> Result<Attempt, Failure> {
        let Some(play) = self.play(at).await? else {
            return Ok(Attempt::of(
                StepOutcome::NothingLeft,
                "there is nothing left to ask for",
            ));
        };
        let code = self.code_of(at.code_of).await?;
        let gap = self.gap_files(at.code_of).await?;
        let parts = [(CODE_FOLDER, code.as_ref()), (GAP_FOLDER, &gap)];
        let room = self.work(at, play, &parts, log).await?;
        let path = format!("{APP}/{DOCUMENT}");
        let written = match room.sandbox.read(&path, MAX_BYTES as u64).await {
            Err(SandboxError::TooBig { .. }) => {
                return Err(Failure::malformed(format!(
                    "{DOCUMENT} has more than {MAX_BYTES} bytes"
                )));
            }
            read => read?,
        };
        let written = written
            .ok_or_else(|| Failure::malformed(format!("the architect left no {DOCUMENT}")))?;
        let text = String::from_utf8(written)
            .map_err(|_| Failure::malformed(format!("{DOCUMENT} is not UTF-8")))?;
        let document = Document::parse(&text).map_err(Failure::malformed)?;
        let key = self
            .evolver
            .artifacts
            .put(&self.key(at, DOCUMENT), document.to_xml().into_bytes())
            .await?;
        Ok(Attempt::of(StepOutcome::Done, "").with_product(key))
    }

    async fn programmer(&mut self, at: Cursor, log: &mut Log) -> Result<Attempt, Failure> {
        let play = self
            .play(at)
            .await?
            .context("the programmer has nothing to play")?;
        let code = self.code_of(at.code_of).await?;
        let document = self.product_of(at, Role::Architect)?;
        let document = self.evolver.artifacts.get(&document).await?;
        let mut asked = CodeTree::default();
        asked.insert_file(DOCUMENT, document);
        let parts = [(CODE_FOLDER, code.as_ref()), (APP, &asked)];
        let room = self.work(at, play, &parts, log).await?;
        let limit = u64::from(self.config.limits.disk_mb) << 20;
        let changed = room.sandbox.get(CODE_FOLDER, limit).await?;
        let changed = changed.ok_or_else(|| {
            let why = "the programmer removed the code folder";
            Failure::Ended(StepOutcome::AgentFailed, why.into())
        })?;
        let changed = changed.with_folder_of(TESTS, &self.oracle);
        let attempt = if changed == *code {
            Attempt::of(StepOutcome::NoChange, "nothing was changed")
        } else {
            Attempt::of(StepOutcome::Done, "")
        };
        let key = self.evolver.artifacts.put_code(&changed).await?;
        self.cache = Some((key.clone(), Arc::new(changed)));
        Ok(attempt.with_product(key))
    }

    /// How the step at hand is played.
    async fn play(&self, at: Cursor) -> Result<Option<Play>, Failure> {
        let harness = self.agents.harness(at.role);
        let harness = harness.with_context(|| format!("nobody plays the {}", at.role.name()))?;
        Ok(blocking(move || harness.play(at.role, at.iteration)).await?)
    }

    /// Lets an agent work in a container of its own, which is given back for
    /// what it left there.
    async fn work(
        &mut self,
        at: Cursor,
        play: Play,
        parts: &[(&str, &CodeTree)],
        log: &mut Log,
    ) -> Result<Room, Failure> {
        let recording = self.recording(at).await?;
        let room = self.boxes.open(at.role, &self.agents).await?;
        let work = Work {
            role: at.role,
            play,
            room: &room,
            parts,
            recording,
        };
        let worked = Box::pin(self.agents.work(work, log)).await;
        self.agents.hang_up(&self.key(at, TRAJECTORY)).await;
        self.look_at(&room, at.role).await;
        match self.agents.talk.trouble.take() {
            // An agent whose model was cut off has not shown what it can do,
            // whatever it made of it.
            Some(why) if !matches!(worked, Err(Failure::Ended(StepOutcome::BudgetSpent, _))) => {
                Err(Failure::Ended(StepOutcome::ProviderFailed, why))
            }
            _ => worked.map(|()| room),
        }
    }

    /// Takes down what is known of the container of a step, before it goes.
    async fn look_at(&mut self, room: &Room, role: Role) {
        let Some(seen) = room.sandbox.seen().await else {
            return;
        };
        self.container = Some(Container {
            image: seen.image,
            image_name: seen.image_name,
            limits: ContainerLimits::of(self.config.limits, role),
            // The builtin agent is as many commands as it likes.
            exit_code: seen.exit_code.filter(|_| !self.agents.is_builtin(role)),
            out_of_memory: seen.out_of_memory,
            seconds: seen.seconds,
        });
    }

    /// What the same step of the run that is to be heard again was answered.
    async fn recording(&self, at: Cursor) -> Result<Option<Arc<Recording>>, Failure> {
        let Some(run_id) = self.agents.replayed_run(at.role) else {
            return Ok(None);
        };
        let said = self
            .evolver
            .store
            .trajectory_of(run_id, self.claim, at)
            .await
            .map_err(anyhow::Error::new)?;
        let key = said.with_context(|| {
            format!(
                "run {run_id} has no recording of the {} in iteration {} of this task",
                at.role.name(),
                at.iteration
            )
        })?;
        let lines = self.evolver.artifacts.get(&key).await?;
        Ok(Some(Arc::new(Recording::new(Exchange::parse_lines(
            &lines,
        )?))))
    }

    async fn test(&mut self, at: Cursor, log: &mut Log) -> Result<Attempt, Failure> {
        let code_key = self.product_of(at, Role::Programmer)?;
        let code = self.stored_code(&code_key).await?;
        let room = self.boxes.open(at.role, &self.agents).await?;
        let mut on_line = |line: &str| log.line(line);
        let run = suite::run(
            room.sandbox.as_ref(),
            &code,
            self.config.limits,
            &mut on_line,
        )
        .await;
        self.look_at(&room, at.role).await;
        let run = run?;
        let report_key = match run.raw {
            Some(raw) => Some(
                self.evolver
                    .artifacts
                    .put(&self.key(at, "report.json"), raw)
                    .await?,
            ),
            None => None,
        };
        let before = self.outcomes_of(at.code_of)?;
        let (outcomes, passed) = match &run.result {
            Ok(report) => (Outcomes::of(&self.suite.tests, report), report.passed()),
            Err(_) => (Outcomes::none(&self.suite.tests), 0),
        };
        let lost = outcomes.lost_since(before);
        let verdict = match &run.result {
            Ok(_) => Verdict::Scored {
                in_target: outcomes.passed(),
                passed,
                lost,
            },
            Err(_) => Verdict::Collapsed { lost },
        };
        let outcome = match &run.result {
            Ok(_) => StepOutcome::Scored {
                solved: outcomes.passed() == self.suite.tests.len(),
            },
            Err(_) => StepOutcome::Collapsed,
        };
        let collapse = run.result.err();
        let iteration = IterationRow {
            iteration: at.iteration,
            verdict,
            gained: outcomes.gained_since(before),
            outcomes,
            findings: integrity::findings(&code, &self.base, &self.oracle),
            code: code_key,
            test_seconds: run.seconds,
            finished_at: now_ms(),
            collapse: collapse.clone(),
        };
        let mut attempt = Attempt::of(outcome, collapse.unwrap_or_default());
        attempt.product = report_key;
        attempt.iteration = Some(iteration);
        Ok(attempt)
    }

    /// The code after an iteration; 0 is the base, with the oracle's tests.
    async fn code_of(&mut self, iteration: u32) -> anyhow::Result<Arc<CodeTree>> {
        if iteration == 0 {
            return Ok(self.base.clone());
        }
        let key = self.iteration(iteration)?.code.clone();
        self.stored_code(&key).await
    }

    /// Code by its artifact; the one written last is still at hand.
    async fn stored_code(&mut self, key: &str) -> anyhow::Result<Arc<CodeTree>> {
        if let Some((cached, code)) = &self.cache
            && cached == key
        {
            return Ok(code.clone());
        }
        let code = Arc::new(self.evolver.artifacts.get_code(key).await?);
        self.cache = Some((key.to_owned(), code.clone()));
        Ok(code)
    }

    fn outcomes_of(&self, iteration: u32) -> anyhow::Result<&Outcomes> {
        match iteration {
            0 => Ok(&self.suite.base_outcomes),
            n => Ok(&self.iteration(n)?.outcomes),
        }
    }

    fn iteration(&self, number: u32) -> anyhow::Result<&IterationRow> {
        let found = self.iterations.iter().find(|row| row.iteration == number);
        found.with_context(|| format!("the record of iteration {number} is missing"))
    }

    /// What the last successful attempt at an earlier step of this iteration
    /// produced.
    fn product_of(&self, at: Cursor, role: Role) -> anyhow::Result<String> {
        let step = self
            .steps
            .iter()
            .rev()
            .find(|s| s.iteration == at.iteration && s.role == role && s.outcome.has_product());
        step.and_then(|s| s.product.clone())
            .with_context(|| format!("what the {} produced is missing", role.name()))
    }

    /// The gap of the last scored code as the architect is shown it.
    async fn gap_files(&self, code_of: u32) -> anyhow::Result<CodeTree> {
        let key = match code_of {
            0 => Some(format!("{}.zst", base_report_key(&self.task.id))),
            n => self
                .steps
                .iter()
                .rev()
                .find(|s| s.iteration == n && s.role == Role::Test)
                .and_then(|s| s.product.clone()),
        };
        let report = match key {
            Some(key) => Some(Report::parse(&self.evolver.artifacts.get(&key).await?)?),
            None => None,
        };
        let mut files = CodeTree::default();
        for file in gap::files(&gap::non_passed(&self.suite.tests, report.as_ref())) {
            files.insert_file(&file.name, file.content);
        }
        Ok(files)
    }

    pub(super) fn key(&self, at: Cursor, name: &str) -> String {
        let id = &self.claim.evolution_id;
        format!(
            "evolutions/{id}/{:04}/{}-{}-{name}",
            at.iteration,
            at.role.name(),
            at.attempt
        )
    }
}
