//! The three steps, each one attempt in one fresh container.

use std::collections::BTreeSet;
use std::sync::Arc;

use anyhow::{Context, anyhow};
use swe_ci_base::blocking::blocking;
use swe_ci_base::clock::now_ms;
use swe_ci_base::code::{CodeTree, Entry};
use swe_ci_core::finding::Finding;
use swe_ci_core::metrics::Verdict;
use swe_ci_core::outcomes::Outcomes;
use swe_ci_core::report::Report;
use swe_ci_core::requirement::{Document, MAX_BYTES, Mode, Rules};
use swe_ci_core::step::{Cursor, Role, StepOutcome};
use swe_ci_core::task::TestCommand;
use swe_ci_core::test_gap;
use swe_ci_dataset::base_report_of;
use swe_ci_gateway::{Exchange, Recording};
use swe_ci_grading::Grading;
use swe_ci_sandbox::{CODE_FOLDER, SandboxError, WantedFiles};
use swe_ci_store::IterationRow;
use swe_ci_views::container::ContainerLimits;
use swe_ci_views::conversation::RecordingFormat;
use tracing::Instrument;

use super::agents::Work;
use super::container_pool::StepContainer;
use super::failure::Failure;
use super::hidden_tests;
use super::log::Log;
use super::model_usage::ModelUsage;
use super::paths::{APP, DOCUMENT, GAP_FOLDER, TRAJECTORY};
use super::programmer_files::ProgrammerFiles;
use super::regrade::{Original, RecordedWork};
use super::{Evolution, step_row};
use crate::harness::Play;

#[derive(Debug)]
pub(super) struct Attempt {
    pub outcome: StepOutcome,
    /// Details worth knowing, in words.
    pub detail: String,
    pub product: Option<String>,
    pub log: Option<String>,
    pub iteration: Option<IterationRow>,
}

impl Attempt {
    pub(super) fn of(outcome: StepOutcome, detail: impl Into<String>) -> Self {
        Self {
            outcome,
            detail: detail.into(),
            product: None,
            log: None,
            iteration: None,
        }
    }

    fn recorded(work: RecordedWork) -> Self {
        Self {
            product: work.product,
            ..Self::of(work.outcome, work.detail)
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
        let product = Some(product);
        Self { product, ..self }
    }
}

impl Evolution<'_> {
    /// One attempt at the current step. Never an error: a failure is an
    /// outcome.
    pub(super) async fn attempt(&mut self, at: Cursor) -> Attempt {
        let mut log = Log::new(&self.evolver.events, self.claim, at.role);
        let done = match (self.agents.begin(at.role, &self.steps).await, at.role) {
            (Err(failure), _) => Err(failure),
            (Ok(()), Role::Architect | Role::Programmer) if let Some(original) = &self.original => {
                Ok(Attempt::recorded(original.work(at)))
            }
            (Ok(()), Role::Architect) => self.begin_iteration(at, &mut log).await,
            (Ok(()), Role::Programmer) => self.programmer(at, &mut log).await,
            (Ok(()), Role::Test) => self.test(at, &mut log).await,
        };
        let mut attempt = done.unwrap_or_else(|failure| match failure {
            Failure::Ended(outcome, why) => Attempt::of(outcome, why),
            Failure::Platform(error) => {
                tracing::warn!("the platform failed: {error:#}");
                self.containers.clear();
                Attempt::of(StepOutcome::InfraFailed, format!("{error:#}"))
            }
        });
        if matches!(
            attempt.outcome,
            StepOutcome::MalformedRequirement
                | StepOutcome::AgentFailed
                | StepOutcome::AgentTimedOut
                | StepOutcome::NoChange
        ) && let Some((truncation, tokens)) = &self.agents.model_usage.truncation
        {
            attempt.detail.push_str("; ");
            attempt.detail.push_str(&truncation.in_words(tokens));
        }
        if !log.text.is_empty() {
            let (key, text) = (self.key(at, "log.txt"), log.text.into_bytes());
            attempt.log = match self.evolver.artifacts.put(&key, text).await {
                Ok(key) => Some(key),
                Err(error) => {
                    tracing::warn!("the output of the step is lost: {error:#}");
                    None
                }
            };
        }
        attempt
    }

    async fn begin_iteration(&mut self, at: Cursor, log: &mut Log<'_>) -> Result<Attempt, Failure> {
        if !self.start_measured {
            Box::pin(self.measure_start(log)).await?;
        }
        let suite = &self.task.suite;
        let is_handed_over = self.config.handover.is_some() && at.code_of == 0;
        if is_handed_over && suite.base_outcomes.passed() >= suite.tests.len() {
            let why = "the code that was handed over passes every test already";
            return Ok(Attempt::of(StepOutcome::NothingLeft, why));
        }
        self.architect(at, log).await
    }

    async fn architect(&mut self, at: Cursor, log: &mut Log<'_>) -> Result<Attempt, Failure> {
        let Some(play) = self.play(at).await? else {
            return Ok(Attempt::of(StepOutcome::NothingLeft, "no work is left"));
        };
        let code = self.code_of(at.code_of).await?;
        let gap = self.gap_files(at.code_of).await?;
        let visible = self.with_shown(&code);
        let parts = [(CODE_FOLDER, visible.as_ref()), (GAP_FOLDER, &gap)];
        let wanted = WantedFiles::file(&format!("{APP}/{DOCUMENT}"), MAX_BYTES as u64);
        let left = match self.work(at, play, &parts, &wanted, log).await? {
            Err(SandboxError::TooBig { .. }) => {
                let why = format!("{DOCUMENT} has more than {MAX_BYTES} bytes");
                return Err(Failure::malformed(why));
            }
            left => left?,
        };
        let document = left.as_ref().and_then(|left| left.file(DOCUMENT));
        let document = document
            .ok_or_else(|| Failure::malformed(format!("the architect left no {DOCUMENT}")))?;
        let text = str::from_utf8(document)
            .map_err(|_| Failure::malformed(format!("{DOCUMENT} is not UTF-8")))?;
        let is_own_name = |name: &str| is_named_outside_tests(&self.task.test_command, &code, name);
        let rules = match self.config.mode {
            Mode::Tdd | Mode::Impossible => Rules::Tdd,
            Mode::Rdd => Rules::Rdd {
                is_own_name: &is_own_name,
            },
        };
        let document = Document::parse(text, rules).map_err(Failure::malformed)?;
        if self.hidden_tests.is_some() {
            let copied = {
                let command = self.task.test_command.clone();
                hidden_tests::copied(document.clone(), self.oracle.clone(), command).await?
            };
            self.findings.extend(copied);
        }
        let (key, document) = (self.key(at, DOCUMENT), document.to_xml().into_bytes());
        let key = self.evolver.artifacts.put(&key, document).await?;
        Ok(Attempt::of(StepOutcome::Done, "").with_product(key))
    }

    async fn programmer(&mut self, at: Cursor, log: &mut Log<'_>) -> Result<Attempt, Failure> {
        let play = self.play(at).await?.context("the programmer has no work")?;
        let code = self.code_of(at.code_of).await?;
        let document = self.product_of(at, Role::Architect)?;
        let document = self.evolver.artifacts.get(&document).await?;
        let command = &self.task.test_command;
        let shown = self.with_shown(&code);
        let files = ProgrammerFiles::new(self.config.mode, command, &shown, document);
        // Code that was large before may stay so.
        let limit = u64::from(self.config.limits.code_mb) << 20;
        let limit = limit.max(code.weight());
        let wanted = WantedFiles::folder(CODE_FOLDER, limit);
        let changed = self.work(at, play, &files.parts(), &wanted, log).await??;
        let changed = changed.ok_or_else(|| {
            let why = "the programmer removed the code folder";
            Failure::Ended(StepOutcome::AgentFailed, why.into())
        })?;
        let command = &self.task.test_command;
        let mut changed = changed.with_files_of(|path| command.is_test(path), &self.oracle);
        for folder in command.plan().into_iter().flat_map(|plan| &plan.caches) {
            changed.remove(folder);
        }
        let attempt = if changed == *code {
            Attempt::of(StepOutcome::NoChange, "nothing was changed")
        } else {
            Attempt::of(StepOutcome::Done, "")
        };
        let changed = Arc::new(changed);
        let key = self.evolver.artifacts.put_code(&changed).await?;
        self.cache = Some((key.clone(), changed));
        Ok(attempt.with_product(key))
    }

    /// How the agent works in the current step; `None` if no work is left.
    #[tracing::instrument(name = "prepare the agent", level = "debug", skip_all)]
    async fn play(&self, at: Cursor) -> Result<Option<Play>, Failure> {
        let harness = self.agents.harness(at.role).cloned();
        let harness = harness
            .with_context(|| format!("no agent is configured for the {}", at.role.name()))?;
        Ok(blocking(move || harness.play(at.role, at.iteration)).await?)
    }

    /// Runs an agent in a fresh container, and returns what it left of the wanted
    /// files.
    async fn work(
        &mut self,
        at: Cursor,
        play: Play,
        parts: &[(&str, &CodeTree)],
        wanted: &WantedFiles,
        log: &mut Log<'_>,
    ) -> Result<Result<Option<CodeTree>, SandboxError>, Failure> {
        let recording = self.recording(at).await?;
        let container = self.open_container(at).await?;
        if let (Role::Programmer, Some(tests)) = (at.role, &self.hidden_tests) {
            tests.remove_copies(container.sandbox.as_ref()).await?;
        }
        let usage = ModelUsage {
            layer: self.agents.model_usage.layer.clone(),
            ..ModelUsage::default()
        };
        let work = Work {
            attempt: step_row(at, now_ms(), &Attempt::interrupted(), usage, None),
            play,
            command: &self.task.test_command,
            container: &container,
            parts,
            wanted,
            recording,
        };
        let worked = Box::pin(self.agents.work(work, log)).await;
        let recorded = self.agents.close_session(&self.key(at, TRAJECTORY)).await;
        let left = match worked {
            Ok(()) => Ok(container.sandbox.get(wanted).await),
            Err(failure) => Err(failure),
        };
        self.note_container(container, at.role);
        // A step is as good as what is known of it: it is repeated.
        recorded?;
        match self.agents.model_usage.trouble.take() {
            // An agent that lost its model has not shown what it can do,
            // whatever it did with that.
            Some(why) if !matches!(&left, Err(failure) if failure.is_of_budget()) => {
                Err(Failure::Ended(StepOutcome::ProviderFailed, why))
            }
            _ => left,
        }
    }

    async fn open_container(&mut self, at: Cursor) -> Result<StepContainer, Failure> {
        let next = at.iteration + 1;
        let last_stored = self.original.as_ref().map(Original::last_iteration);
        let last = last_stored.unwrap_or(self.config.plan.max_iterations);
        let architect = self.agents.harness(Role::Architect);
        let goes_on = architect.is_none_or(|harness| harness.may_reach(next));
        let last_iteration = next > last || !goes_on;
        let layer = |role| self.agents.layer(role);
        Ok(self.containers.open(at.role, last_iteration, layer).await?)
    }

    /// Records what is known of a step's container, and removes it, while the step
    /// goes on.
    fn note_container(&mut self, container: StepContainer, role: Role) {
        let limits = ContainerLimits::of(self.config.limits, role);
        // The builtin agent runs any number of commands.
        let has_exit_code = !self.agents.is_builtin(role);
        let noting = container.noted(limits, has_exit_code).in_current_span();
        self.container = Some(tokio::spawn(noting));
    }

    /// The recorded answers of the same step of the run to be replayed.
    async fn recording(&self, at: Cursor) -> Result<Option<Arc<Recording>>, Failure> {
        let Some(run_id) = self.agents.replayed_run(at.role) else {
            return Ok(None);
        };
        let stored = self.evolver.store.trajectory_of(run_id, self.claim, at);
        let key = stored.await.map_err(anyhow::Error::new)?;
        let key = key.with_context(|| {
            format!(
                "run {run_id} has no recording of the {} in iteration {} of this task",
                at.role.name(),
                at.iteration
            )
        })?;
        if RecordingFormat::of(&key) == RecordingFormat::Atif {
            return Err(anyhow!(
                "run {run_id} was imported: its trajectories have no requests to replay"
            )
            .into());
        }
        let lines = self.evolver.artifacts.get(&key).await?;
        let recording = Recording::new(Exchange::parse_lines(&lines)?);
        Ok(Some(Arc::new(recording)))
    }

    async fn test(&mut self, at: Cursor, log: &mut Log<'_>) -> Result<Attempt, Failure> {
        let code_key = self.product_of(at, Role::Programmer)?;
        let code = self.stored_code(&code_key).await?;
        let container = self.open_container(at).await?;
        let grading = self.grading(code).await?;
        let run = Box::pin(container.grade(&grading, &mut |line| log.line(line))).await;
        self.note_container(container, at.role);
        let run = run?;
        let contradicted = match run.result {
            Ok(_) => self.contradicted(at, &grading).await?,
            Err(_) => None,
        };
        let product = match run.raw {
            Some(raw) => {
                let key = self.key(at, "report.json");
                Some(self.evolver.artifacts.put(&key, raw).await?)
            }
            None => None,
        };
        let findings: Vec<Finding> = run
            .findings
            .into_iter()
            .chain(self.findings.clone())
            .collect();
        let (before, tests) = (self.outcomes_of(at.code_of)?, &self.task.suite.tests);
        let (outcomes, verdict, outcome) = match &run.result {
            Ok(report) => {
                let outcomes = Outcomes::of(tests, report);
                let verdict = Verdict::Scored {
                    in_target: outcomes.passed(),
                    passed: report.passed(),
                    lost: outcomes.lost_since(before),
                };
                let solved = outcomes.passed() == tests.len();
                (outcomes, verdict, StepOutcome::Scored { solved })
            }
            Err(_) => {
                let outcomes = Outcomes::none(tests);
                let lost = outcomes.lost_since(before);
                (
                    outcomes,
                    Verdict::Collapsed { lost },
                    StepOutcome::Collapsed,
                )
            }
        };
        let collapse = run.result.err();
        let iteration = IterationRow {
            iteration: at.iteration,
            verdict,
            gained: outcomes.gained_since(before),
            outcomes,
            findings,
            code: code_key,
            test_seconds: run.seconds,
            finished_at: now_ms(),
            collapse: collapse.clone(),
            contradicted,
        };
        Ok(Attempt {
            product,
            iteration: Some(iteration),
            ..Attempt::of(outcome, collapse.unwrap_or_default())
        })
    }

    /// How code is graded against the target.
    pub(super) async fn grading(&mut self, code: Arc<CodeTree>) -> anyhow::Result<Grading> {
        Ok(Grading {
            code,
            base: self.base.clone(),
            oracle: self.oracle.clone(),
            command: self.task.test_command.clone(),
            known_tests: Some(self.known_tests().await?),
            limits: self.config.limits,
            left_away: self.task.preparation.left_away(),
        })
    }

    /// The code after an iteration; 0 is the start.
    async fn code_of(&mut self, iteration: u32) -> anyhow::Result<Arc<CodeTree>> {
        if iteration == 0 {
            return Ok(self.start.clone());
        }
        let key = self.iteration(iteration)?.code.clone();
        self.stored_code(&key).await
    }

    /// Code by its artifact; the one written last is cached.
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
            0 => Ok(&self.task.suite.base_outcomes),
            n => Ok(&self.iteration(n)?.outcomes),
        }
    }

    pub(super) fn iteration(&self, number: u32) -> anyhow::Result<&IterationRow> {
        let row = self.iterations.iter().find(|row| row.iteration == number);
        row.with_context(|| format!("the record of iteration {number} is missing"))
    }

    /// The product of the last successful attempt at an earlier step of this
    /// iteration.
    fn product_of(&self, at: Cursor, role: Role) -> anyhow::Result<String> {
        let mut steps = self.steps.iter().rev().filter(|s| s.role == role);
        let step = steps.find(|s| s.iteration == at.iteration && s.outcome.has_product());
        step.and_then(|s| s.product.clone())
            .with_context(|| format!("the product of the {} is missing", role.name()))
    }

    /// Node ids of T, and of all tests that the base has.
    async fn known_tests(&mut self) -> anyhow::Result<Arc<BTreeSet<String>>> {
        if let Some(known) = &self.known_tests {
            return Ok(known.clone());
        }
        let base = base_report_of(&self.task);
        let base = Report::parse(&self.evolver.artifacts.get(&base).await?)?;
        let target = self.task.suite.tests.node_ids().iter().cloned();
        let known: BTreeSet<String> = base.tests.into_keys().chain(target).collect();
        let known = self.known_tests.insert(Arc::new(known));
        Ok(known.clone())
    }

    /// The gap of the last scored code, as the architect sees it.
    #[tracing::instrument(name = "write the gap", level = "debug", skip_all)]
    async fn gap_files(&self, code_of: u32) -> anyhow::Result<CodeTree> {
        let key = match code_of {
            0 => Some(base_report_of(&self.task)),
            n => {
                let mut tests = self.steps.iter().rev().filter(|s| s.role == Role::Test);
                let step = tests.find(|s| s.iteration == n);
                step.and_then(|s| s.product.clone())
            }
        };
        let report = self.report(key).await?;
        let tests = self.task.suite.tests.node_ids();
        let mut gap = test_gap::non_passed(tests, report.as_ref());
        if let Some(shown) = self.shown_gap(code_of).await? {
            gap.extend(shown);
            gap.sort_by(|a, b| a.node_id.cmp(&b.node_id));
        }
        let mut files = CodeTree::default();
        for file in test_gap::files(&gap) {
            files.insert_file(&file.name, file.content);
        }
        Ok(files)
    }

    pub(super) async fn report(&self, key: Option<String>) -> anyhow::Result<Option<Report>> {
        Ok(match key {
            Some(key) => Some(Report::parse(&self.evolver.artifacts.get(&key).await?)?),
            None => None,
        })
    }

    /// The key of an artifact of the current attempt. An interrupted attempt is
    /// repeated under its number, perhaps by another worker, and its artifacts
    /// stay: hence the number of the claim.
    pub(super) fn key(&self, at: Cursor, name: &str) -> String {
        format!(
            "evolutions/{}/{:04}/{}-{}.{}-{name}",
            self.claim.evolution_id,
            at.iteration,
            at.role.name(),
            at.attempt,
            self.claim.number,
        )
    }
}

/// Whether a name stands in the code outside the tests.
fn is_named_outside_tests(command: &TestCommand, code: &CodeTree, name: &str) -> bool {
    let is_source = |path: &str| command.plan().is_some() || path.ends_with(".py");
    let sources = code
        .iter()
        .filter(|(path, _)| is_source(path) && !command.is_test(path));
    let mut texts = sources.filter_map(|(_, entry)| match entry {
        Entry::File { bytes, .. } => Some(bytes),
        Entry::Symlink { .. } => None,
    });
    texts.any(|text| memchr::memmem::find(text, name.as_bytes()).is_some())
}
