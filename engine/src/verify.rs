//! Checking runs: the tests of their iterations are run again in fresh
//! containers, on the code that was kept and with the oracle's tests, and held
//! against what was recorded.

use anyhow::Context;
use futures::StreamExt;
use sha2::{Digest, Sha256};
use swe_ci_core::account::AccountRole;
use swe_ci_core::metrics::Verdict;
use swe_ci_core::outcomes::{Outcomes, TestList};
use swe_ci_core::run::Limits;
use swe_ci_core::verification::{Difference, Verification, Verified, compare};

use crate::Engine;
use crate::blocking::blocking;
use crate::clock::{now_ms, rfc3339};
use crate::code::CodeTree;
use crate::error::{Error, Result};
use crate::sandbox::{BoxSpec, Purpose, Sandbox};
use crate::store::{EvolutionRow, IterationRow, TaskRow};
use crate::suite::{self, TESTS};

/// How much of a run is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    All,
    /// So many iterations, chosen by lot; the same ones each time.
    Some(u32),
}

/// What is told while a run is checked.
#[derive(Debug, Clone)]
pub struct Checked {
    /// How many are done, and how many are to be.
    pub done: u32,
    pub of: u32,
    /// What came out otherwise in this one, if anything did.
    pub difference: Option<Difference>,
}

/// An iteration to be checked.
#[derive(Debug, Clone)]
struct Case {
    evolution: EvolutionRow,
    row: IterationRow,
}

impl Engine {
    /// Runs the tests of a run's iterations again, `at_once` at a time, and
    /// keeps what came of it with the run; for administrators.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error::Conflict`] while the run is under way, or
    /// when no code of it was kept; [`Error::Unavailable`] when the container
    /// engine fails; [`Error::Unauthenticated`], [`Error::Forbidden`]. What
    /// comes out otherwise is no error.
    pub async fn verify(
        &self,
        run_id: &str,
        extent: Extent,
        at_once: usize,
        tell: &(dyn Fn(Checked) + Send + Sync),
    ) -> Result<Verification> {
        self.require(AccountRole::Admin)?;
        let run = self.seen_run(run_id).await?;
        if !run.progress.is_over() {
            return Err(Error::Conflict(format!(
                "run {run_id} is {}; it can be checked when it is over",
                run.progress.name()
            )));
        }
        self.ready().await?;
        let all = self.cases(run_id).await?;
        if all.is_empty() {
            return Err(Error::Conflict(format!(
                "no code of run {run_id} was kept, so there is nothing its tests can be run on again"
            )));
        }
        let iterations = u32::try_from(all.len()).unwrap_or(u32::MAX);
        let cases = chosen(run_id, all, extent);
        let of = u32::try_from(cases.len()).unwrap_or(u32::MAX);
        let limits = run.config.limits;
        let mut checks = futures::stream::iter(cases)
            .map(|case| self.check(case, limits))
            .buffer_unordered(at_once.max(1));
        let (mut done, mut differences) = (0, Vec::new());
        while let Some(difference) = checks.next().await {
            let difference = difference?;
            done += 1;
            differences.extend(difference.clone());
            tell(Checked {
                done,
                of,
                difference,
            });
        }
        drop(checks);
        differences.sort_by(|a, b| place(a).cmp(&place(b)));
        let found = Verification {
            at: rfc3339(now_ms()),
            by: self.by().name().to_owned(),
            platform_version: env!("CARGO_PKG_VERSION").into(),
            checked: done,
            iterations,
            differences,
        };
        let store = &self.inner.store;
        store.put_verification(run_id, &found, self.by()).await?;
        Ok(found)
    }

    /// Marks a run as verified, for administrators: that its tests came out as
    /// recorded when they were run again. Marking twice is the same as once.
    ///
    /// # Errors
    /// [`Error::Conflict`] unless the run was checked and its last check found
    /// no differences; [`Error::NotFound`], [`Error::Unauthenticated`],
    /// [`Error::Forbidden`].
    pub async fn mark_verified(&self, run_id: &str) -> Result<()> {
        self.require(AccountRole::Admin)?;
        self.seen_run(run_id).await?;
        let mark = Verified {
            at: rfc3339(now_ms()),
            by: self.by().name().to_owned(),
        };
        let store = &self.inner.store;
        store.mark_verified(run_id, &mark, self.by()).await
    }

    /// Takes that mark away again, for administrators; nothing where there is
    /// none. A check that finds differences does so by itself.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Unauthenticated`], [`Error::Forbidden`].
    pub async fn unmark(&self, run_id: &str) -> Result<()> {
        self.require(AccountRole::Admin)?;
        self.seen_run(run_id).await?;
        self.inner.store.unmark(run_id, self.by()).await
    }

    /// Every iteration whose code was kept.
    async fn cases(&self, run_id: &str) -> Result<Vec<Case>> {
        let store = &self.inner.store;
        let mut cases = Vec::new();
        for evolution in store.evolutions_of_run(run_id).await? {
            let rows = store.iterations(&evolution.id).await?;
            let kept = rows.into_iter().filter(|row| !row.code.is_empty());
            cases.extend(kept.map(|row| Case {
                evolution: evolution.clone(),
                row,
            }));
        }
        Ok(cases)
    }

    async fn check(&self, case: Case, limits: Limits) -> Result<Option<Difference>> {
        let Case { evolution, row } = case;
        let store = &self.inner.store;
        let task = store.task(&evolution.task_id).await?;
        let suite = store.suite(&evolution.suite).await?;
        let code = self.inner.artifacts.get_code(&row.code).await?;
        let found = self
            .tested_again(&task, &suite.tests, code, limits, &evolution.id)
            .await?;
        let scored = matches!(row.verdict, Verdict::Scored { .. });
        let recorded = scored.then_some(&row.outcomes);
        let what = compare(
            &suite.tests,
            recorded,
            found.as_ref().map_err(String::as_str),
        );
        Ok(what.map(|what| Difference {
            evolution_id: evolution.id,
            task_id: evolution.task_id,
            sample: evolution.sample,
            iteration: row.iteration,
            what,
        }))
    }

    /// What these tests of a task make of some code, with the oracle's tests in
    /// a fresh container; or why the code counts as collapsed. `what_for` is
    /// what the container is marked with.
    pub(crate) async fn tested_again(
        &self,
        task: &TaskRow,
        tests: &TestList,
        code: CodeTree,
        limits: Limits,
        what_for: &str,
    ) -> Result<std::result::Result<Outcomes, String>> {
        let history = self.inner.folders.history(&task.id);
        let target = task.target_sha.clone();
        let oracle = blocking(move || history.code(&target)).await?;
        let purpose = Purpose::Preparation(format!("check of {what_for}"));
        let spec = BoxSpec::new(&task.image, limits, purpose);
        let again = async {
            let sandbox = self.inner.docker.open(&spec).await?;
            let code = code.with_folder_of(TESTS, &oracle);
            suite::run(sandbox.as_ref(), &code, limits, &mut |_| {}).await
        };
        let again = again
            .await
            .map_err(anyhow::Error::new)
            .with_context(|| format!("the tests of {} could not be run again", task.id))?;
        Ok(again.result.map(|report| Outcomes::of(tests, &report)))
    }
}

/// Drawn by lot, which anybody can do again: by the digest of run, evolution
/// and iteration.
fn chosen(run_id: &str, mut cases: Vec<Case>, extent: Extent) -> Vec<Case> {
    if let Extent::Some(most) = extent {
        cases.sort_by_cached_key(|case| {
            let lot = format!("{run_id}/{}/{}", case.evolution.id, case.row.iteration);
            Sha256::digest(lot).to_vec()
        });
        cases.truncate(most as usize);
    }
    cases
}

/// In the order of the run's page.
fn place(difference: &Difference) -> (&str, u32, u32) {
    let task = difference.task_id.as_str();
    (task, difference.sample, difference.iteration)
}
