//! Runs graded again: the stored code of a finished run goes through the grading
//! of today, in a new run that says which verdicts moved.

use std::collections::{BTreeMap, HashMap};

use swe_ci_base::error::{Error, Result};
use swe_ci_core::run::{Kind, Progress};
use swe_ci_core::step::Ending;
use swe_ci_core::task::TaskId;
use swe_ci_dataset::dataset_digest;
use swe_ci_store::{EvolutionRow, IterationRow, NewRegrade, PinnedTask, Suite, TaskRow};
use swe_ci_views::account::AccountRole;
use swe_ci_views::event::What;
use swe_ci_views::regrade::{Grading, Regrade, compare};
use swe_ci_views::view::{Provenance, RunSummary, TaskState};

use super::runs::by_evolution;
use super::verification::place;
use crate::{Engine, METRIC_VERSION};

#[swe_ci_boxed::boxed]
impl Engine {
    /// Queues a run that grades the stored code of this one again, with the
    /// suites, commands and images of today; returns its id. For administrators.
    /// Evolutions without a scored ending are left out.
    ///
    /// # Errors
    /// [`Error::Conflict`] when the run is not finished, was made elsewhere, was
    /// itself graded again, goes on with another run's code, has no scored evolution, or a task of it cannot be
    /// run or goes between other commits today.
    pub async fn regrade(&self, run_id: &str) -> Result<String> {
        self.require(AccountRole::Admin)?;
        let run = self.visible_run(run_id).await?;
        check(&run)?;
        let (mut tasks, mut evolutions) = (BTreeMap::new(), Vec::new());
        for evolution in self.store.evolutions_of_run(run_id).await? {
            if !is_scored(&evolution) {
                continue;
            }
            if !tasks.contains_key(&evolution.task_id) {
                let task = self.store.revision_of_evolution(&evolution.id).await?;
                check_task(&task, evolution.pinned.as_ref())?;
                tasks.insert(evolution.task_id.clone(), task);
            }
            evolutions.push(evolution.id);
        }
        if evolutions.is_empty() {
            return Err(Error::Conflict(format!(
                "no evolution of run {run_id} has a score, so there is nothing to grade again"
            )));
        }
        let identities = tasks.values().map(TaskRow::identity);
        let identities: Vec<[String; 2]> = identities.collect::<Result<_>>()?;
        let recorded = self.store.provenance(run_id).await?;
        let regrade = NewRegrade {
            original: run.run_id,
            provenance: Provenance {
                platform_version: env!("CARGO_PKG_VERSION").into(),
                metric_version: METRIC_VERSION,
                dataset_digest: dataset_digest(&identities),
                ..recorded
            },
            evolutions,
        };
        let id = self.store.insert_regrade(&regrade, self.by()).await?;
        let progress = Progress::Queued;
        self.events.publish(&id, What::Run { progress });
        Ok(id)
    }

    /// The verdicts of a run that moved against the run whose code it graded
    /// again.
    ///
    /// # Errors
    /// [`Error::NotFound`] when it graded no other run's code.
    pub async fn moved_verdicts(&self, run_id: &str) -> Result<Regrade> {
        let run = self.visible_run(run_id).await?;
        match self.regrade_of(&run).await? {
            Some(regrade) => Ok(regrade),
            None => Err(Error::not_found("regrade of another run named", run_id)),
        }
    }

    pub(crate) async fn regrade_of(&self, run: &RunSummary) -> Result<Option<Regrade>> {
        let Some(original) = run.regraded_from.clone() else {
            return Ok(None);
        };
        let before = self.side(&original).await?;
        let now = self.side(&run.run_id).await?;
        let suites = self.suites([&before, &now]).await?;
        let mut regrade = Regrade {
            regraded_from: original,
            compared: 0,
            not_graded: 0,
            left_out: 0,
            moved: Vec::new(),
        };
        // By task and sample, as the store lists them.
        for (old, old_rows) in &before.evolutions {
            let same = |(new, _): &&(EvolutionRow, Vec<IterationRow>)| {
                (&new.task_id, new.sample) == (&old.task_id, old.sample)
            };
            let Some((new, new_rows)) = now.evolutions.iter().find(same) else {
                regrade.left_out += 1;
                continue;
            };
            for old_row in old_rows {
                let graded = new_rows
                    .iter()
                    .find(|row| row.iteration == old_row.iteration);
                let Some(new_row) = graded else {
                    regrade.not_graded += 1;
                    continue;
                };
                regrade.compared += 1;
                let old_grading = grading(old, old_row, &before.platform, &suites);
                let new_grading = grading(new, new_row, &now.platform, &suites);
                let at = place(new, new_row);
                regrade
                    .moved
                    .extend(compare(at, &old_grading, &new_grading));
            }
        }
        Ok(Some(regrade))
    }

    /// The runs that graded this one's code again, of those the actor may see.
    pub(crate) async fn regraded_as(&self, run_id: &str) -> Result<Vec<String>> {
        let mut seen = Vec::new();
        for id in self.store.regrades_of(run_id).await? {
            if self.by().may_see(&self.store.standing(&id).await?) {
                seen.push(id);
            }
        }
        Ok(seen)
    }

    async fn side(&self, run_id: &str) -> Result<Side> {
        let mut rows = by_evolution(self.store.iterations_of_run(run_id).await?);
        let evolutions = self.store.evolutions_of_run(run_id).await?.into_iter();
        Ok(Side {
            platform: self.store.provenance(run_id).await?.platform_version,
            evolutions: evolutions
                .map(|evolution| {
                    let rows = rows.remove(&evolution.id).unwrap_or_default();
                    (evolution, rows)
                })
                .collect(),
        })
    }

    async fn suites(&self, sides: [&Side; 2]) -> Result<HashMap<String, Suite>> {
        let mut suites = HashMap::new();
        for (evolution, _) in sides.into_iter().flat_map(|side| &side.evolutions) {
            if !suites.contains_key(&evolution.suite) {
                let suite = self.store.suite(&evolution.suite).await?;
                suites.insert(evolution.suite.clone(), suite);
            }
        }
        Ok(suites)
    }
}

/// One of the two runs, its evolutions by task and sample.
struct Side {
    platform: String,
    evolutions: Vec<(EvolutionRow, Vec<IterationRow>)>,
}

fn grading<'a>(
    evolution: &'a EvolutionRow,
    row: &'a IterationRow,
    platform: &'a str,
    suites: &'a HashMap<String, Suite>,
) -> Grading<'a> {
    let pinned = evolution.pinned.as_ref();
    Grading {
        tests: &suites[&evolution.suite].tests,
        command: pinned.map(|task| &task.test_command),
        image: pinned.map(|task| task.image.as_str()),
        platform,
        verdict: row.verdict,
        outcomes: &row.outcomes,
        collapse: row.collapse.as_deref(),
    }
}

fn is_scored(evolution: &EvolutionRow) -> bool {
    evolution.ending.is_some_and(Ending::is_scored)
}

/// Whether the code of a run can be graded again.
fn check(run: &RunSummary) -> Result<()> {
    let id = &run.run_id;
    let why = match (&run.regraded_from, run.config.kind, run.progress) {
        (Some(original), ..) => format!(
            "run {id} is itself graded again from run {original}; grade that one again instead"
        ),
        (None, Kind::Imported, _) => format!(
            "the results of run {id} were made elsewhere; `swe-ci verify {id}` runs their tests"
        ),
        // Its suites count from the code that it was handed.
        (None, ..) if run.config.handover.is_some() => format!(
            "run {id} goes on with the code of another run, and such runs cannot be graded again; grade the other one again, and continue that"
        ),
        (None, _, Progress::Finished) => return Ok(()),
        (None, _, progress) => format!(
            "run {id} is {}; it can be graded again when it is finished",
            progress.name()
        ),
    };
    Err(Error::Conflict(why))
}

/// Whether a task still goes between the commits that the run was started on.
fn check_task(task: &TaskRow, pinned: Option<&PinnedTask>) -> Result<()> {
    let id: &TaskId = &task.id;
    if let TaskState::Unusable { reason } = &task.state {
        return Err(Error::Conflict(format!(
            "task {id} cannot be run today: {reason}; import it again first"
        )));
    }
    let same = |pinned: &PinnedTask| {
        (&pinned.base_sha, &pinned.target_sha) == (&task.base_sha, &task.target_sha)
    };
    match pinned.is_none_or(same) {
        true => Ok(()),
        false => Err(Error::Conflict(format!(
            "task {id} goes between other commits today than when the run was started, so its tests ask for something else; import it with the old commits first"
        ))),
    }
}
