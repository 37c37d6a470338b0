//! The contradictions of a task's tests, made once for its suite, and those that the
//! mode impossible shows.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use swe_ci_base::blocking::blocking;
use swe_ci_base::code::CodeTree;
use swe_ci_base::digest::hex;
use swe_ci_base::error::{Error, Result};
use swe_ci_core::audit::Coverage;
use swe_ci_core::report::Outcome;
use swe_ci_core::run::Limits;
use swe_ci_core::task::TestCommand;
use swe_ci_grading::{
    Contradictions, Grading, ShownTests, contradictions_of, grade, passing_on_empty_functions,
};
use swe_ci_sandbox::{ContainerSpec, Purpose, Sandbox};
use swe_ci_store::artifacts::{Artifacts, is_missing};
use swe_ci_store::{ContradictedSuite, Store, TaskRow};

use super::TaskFolders;

/// The most vacuous tests that are named.
const LISTED: usize = 50;
/// Code with empty functions may never end.
const LEAST_TIME: Duration = Duration::from_mins(2);

/// Makes contradictions, or reads those that were made.
#[derive(Debug)]
pub struct TaskContradictions {
    pub store: Store,
    pub artifacts: Artifacts,
    pub sandbox: Arc<dyn Sandbox>,
    pub folders: TaskFolders,
}

/// What the mode impossible shows of a task.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Impossible {
    pub tests: ShownTests,
    /// Artifact: the report of both on the base; absent where it came to none.
    pub base_report: Option<String>,
}

impl TaskContradictions {
    /// The contradictions of a task's suite; inside is why it has none.
    ///
    /// # Errors
    /// Failures of the platform.
    pub async fn of(
        &self,
        task: &TaskRow,
        limits: Limits,
    ) -> Result<std::result::Result<Contradictions, String>> {
        let suite = suite_of(task);
        if let Some(made) = self.store.contradictions(&suite).await? {
            if let Some(why) = made.coverage.reason {
                return Ok(Err(why));
            }
            let json = self.artifacts.get(&made.artifact).await?;
            let read = serde_json::from_slice(&json);
            return Ok(Ok(read.context("contradictions cannot be read")?));
        }
        let seconds = Duration::from_secs_f64(10.0 * task.suite_seconds) + LEAST_TIME;
        let limits = bounded(limits, seconds);
        let (spec, grading) = self.on_oracle(task, limits).await?;
        let made = contradictions_of(self.sandbox.as_ref(), &spec, &grading);
        let made = Box::pin(made).await.map_err(unavailable)?;
        let mut stored = ContradictedSuite {
            artifact: String::new(),
            coverage: Coverage {
                reason: made.as_ref().err().cloned(),
                ..Coverage::default()
            },
        };
        if let Ok(contradictions) = &made {
            let tests = task.suite.tests.node_ids().iter().map(String::as_str);
            stored.coverage = contradictions.coverage(tests);
            let passing = passing_on_empty_functions(self.sandbox.as_ref(), &spec, &grading);
            if let Some(passing) = Box::pin(passing).await.map_err(unavailable)? {
                let tests = task.suite.tests.node_ids().iter();
                let mut vacuous: Vec<String> =
                    tests.filter(|id| passing.contains(*id)).cloned().collect();
                stored.coverage.vacuous = u32::try_from(vacuous.len()).ok();
                vacuous.truncate(LISTED);
                stored.coverage.some_vacuous = vacuous;
            }
            let json = serde_json::to_vec(contradictions).context("they have no JSON")?;
            let key = format!("contradictions/{suite}.json");
            stored.artifact = self.artifacts.put(&key, json).await?;
        }
        self.store.put_contradictions(&suite, &stored).await?;
        Ok(made)
    }

    /// The contradicted tests that a task shows, each of which the oracle's code fails
    /// beside its test. A task without contradictions shows none.
    ///
    /// # Errors
    /// Failures of the platform.
    pub async fn impossible(&self, task: &TaskRow, limits: Limits) -> Result<Impossible> {
        let base = &task.base_sha;
        let key = format!("contradictions/{}-shown-{base}", suite_of(task));
        match self.artifacts.get(&format!("{key}.json.zst")).await {
            Ok(json) => {
                let read = serde_json::from_slice(&json);
                return Ok(read.context("the contradicted tests cannot be read")?);
            }
            Err(error) if is_missing(error.as_ref()) => {}
            Err(error) => return Err(error.into()),
        }
        let mut impossible = Impossible::default();
        if let Ok(contradictions) = self.of(task, limits).await? {
            let (spec, grading) = self.on_oracle(task, limits).await?;
            let suite = &task.suite;
            let ids = suite
                .tests
                .node_ids()
                .iter()
                .zip(suite.base_outcomes.iter());
            let gap = ids.filter(|(_, outcome)| *outcome != Outcome::Passed);
            let gap = gap.map(|(id, _)| id.as_str());
            let mut tests = contradictions.shown(gap, &grading.oracle);
            let run = async |grading: &Grading| {
                let container = self.sandbox.open(&spec).await?;
                grade(container.as_ref(), grading, &mut |_| {}).await
            };
            if !tests.is_empty() {
                let both = tests.grading(&grading);
                let on_oracle = Box::pin(run(&both)).await.map_err(unavailable)?;
                let is_test = |path: &str| task.test_command.is_test(path);
                let base = CodeTree::clone(&grading.base).with_files_of(is_test, &grading.oracle);
                let both = Grading {
                    code: Arc::new(tests.laid_beside(&base)),
                    ..both
                };
                let on_base = Box::pin(run(&both)).await.map_err(unavailable)?;
                if let Ok(oracle) = &on_oracle.result {
                    tests.draw(&contradictions, oracle, on_base.result.as_ref().ok());
                    impossible.tests = tests;
                }
                if let (Ok(_), Some(raw)) = (&on_base.result, on_base.raw) {
                    let key = format!("{key}-base.json");
                    impossible.base_report = Some(self.artifacts.put(&key, raw).await?);
                }
            }
        }
        let json = serde_json::to_vec(&impossible).context("they have no JSON")?;
        self.artifacts.put(&format!("{key}.json"), json).await?;
        Ok(impossible)
    }

    async fn on_oracle(&self, task: &TaskRow, limits: Limits) -> Result<(ContainerSpec, Grading)> {
        let code = CodeTree::default();
        let (spec, grading) = self
            .folders
            .graded(task, code, limits, "contradictions")
            .await?;
        let code = grading.oracle.clone();
        Ok((spec, Grading { code, ..grading }))
    }
}

impl TaskFolders {
    /// Some code of a task, to be tested in fresh containers; `what_for` is their label.
    ///
    /// # Errors
    /// When the checkout of the task cannot be read.
    pub async fn graded(
        &self,
        task: &TaskRow,
        code: CodeTree,
        limits: Limits,
        what_for: &str,
    ) -> Result<(ContainerSpec, Grading)> {
        let history = self.fetched(task).await?;
        let (base, target) = (task.base_sha.clone(), task.target_sha.clone());
        let ends = blocking(move || Ok((history.code(&base)?, history.code(&target)?)));
        let (base, oracle) = ends.await?;
        let purpose = Purpose::Preparation(format!("check of {what_for}"));
        let grading = Grading {
            code: Arc::new(code),
            base: Arc::new(base),
            oracle: Arc::new(oracle),
            command: task.test_command.clone(),
            known_tests: None,
            limits,
            left_away: task.preparation.left_away(),
        };
        Ok((ContainerSpec::new(&task.image, limits, purpose), grading))
    }
}

/// The limits with so many seconds for the tests, if they have more.
pub fn bounded(limits: Limits, seconds: Duration) -> Limits {
    let seconds = u32::try_from(seconds.as_secs()).unwrap_or(u32::MAX);
    Limits {
        test_seconds: seconds.min(limits.test_seconds),
        ..limits
    }
}

/// A failure of the container engine: what needs it can be repeated later.
fn unavailable(error: impl Into<anyhow::Error>) -> Error {
    Error::Unavailable(format!("{:#}", error.into()))
}

/// On which the contradictions of a task and its changed inputs depend: the way in
/// which they are made, too.
pub fn suite_id(target: &str, image: &str, command: &TestCommand) -> String {
    hex(&Sha256::digest(format!("9\n{target}\n{image}\n{command}")))
}

pub fn suite_of(task: &TaskRow) -> String {
    suite_id(&task.target_sha, &task.image, &task.test_command)
}
