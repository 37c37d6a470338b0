//! Handovers: where the evolutions of a run start that goes on with the code of
//! another, and the reasons why it may not.

use std::collections::BTreeMap;

use swe_ci_base::error::{Error, Result};
use swe_ci_core::handover::{Handover, HandoverTarget, NoStart};
use swe_ci_core::metrics::SuiteCounts;
use swe_ci_core::metrics::Verdict;
use swe_ci_core::run::{Kind, Progress, RunConfig};
use swe_ci_core::step::{Ending, Role, StepOutcome};
use swe_ci_core::task::TaskId;
use swe_ci_store::{EvolutionRow, IterationRow, MeasuredStart, NewStart, Start, Suite, TaskRow};
use swe_ci_views::account::Visibility;
use swe_ci_views::view::{NotHandedOver, RunSummary};

use super::validation_errors::ValidationErrors;
use crate::api::runs::by_evolution;
use crate::{Engine, METRIC_VERSION, as_u32};

/// Where the evolutions of a handover start.
#[derive(Debug, Default)]
pub(crate) struct Starts {
    pub starts: Vec<NewStart>,
    pub left_out: Vec<NotHandedOver>,
}

#[swe_ci_boxed::boxed]
impl Engine {
    /// Where each evolution of a configuration starts over these tasks; `None`
    /// if it starts from the bases.
    pub(super) async fn starts(
        &self,
        config: &RunConfig,
        visibility: Visibility,
        tasks: &[TaskRow],
        errors: &mut ValidationErrors,
    ) -> Result<Option<Starts>> {
        let Some(handover) = &config.handover else {
            return Ok(None);
        };
        let run = match self.visible_run(&handover.run).await {
            Err(missing @ Error::NotFound { .. }) => {
                errors.add("handover.run", missing.to_string());
                return Ok(None);
            }
            run => run?,
        };
        let version = self.store.provenance(&run.run_id).await?.metric_version;
        if let Some(problem) = unfit(&run, version, config, visibility) {
            errors.add("handover.run", problem);
            return Ok(None);
        }
        let earlier = self.earlier(&run.run_id).await?;
        let tasks = match handover.target {
            HandoverTarget::Same => self.continued(tasks, &earlier, errors).await?,
            HandoverTarget::Moved => followed(tasks, &earlier, errors),
        };
        check_iteration(handover, &tasks, errors);
        let mut found = Starts::default();
        for (task, evolutions) in tasks {
            for sample in 1..=config.samples {
                // With more samples than the earlier run has, its own repeat.
                let earlier = &evolutions[(sample as usize - 1) % evolutions.len()];
                match self.start(&task.id, sample, earlier, handover).await? {
                    Ok(start) => found.starts.push(start),
                    Err(why) => found.left_out.push(NotHandedOver {
                        task_id: task.id.clone(),
                        sample,
                        why,
                    }),
                }
            }
        }
        if found.starts.is_empty() {
            let problem = "leaves nothing to go on with: every evolution of that run is solved at that point, or not scored; choose an earlier iteration, or another run";
            errors.add("handover.run", problem);
        }
        Ok(Some(found))
    }

    /// The evolutions of a run with their iterations, by task and then by sample.
    pub(in crate::api) async fn earlier(
        &self,
        run_id: &str,
    ) -> Result<BTreeMap<TaskId, Vec<Earlier>>> {
        let mut iterations = by_evolution(self.store.iterations_of_run(run_id).await?);
        let mut earlier: BTreeMap<TaskId, Vec<Earlier>> = BTreeMap::new();
        for evolution in self.store.evolutions_of_run(run_id).await? {
            let of_task = earlier.entry(evolution.task_id.clone()).or_default();
            of_task.push(Earlier {
                iterations: iterations.remove(&evolution.id).unwrap_or_default(),
                evolution,
            });
        }
        Ok(earlier)
    }

    /// The tasks with their earlier evolutions; reports those that the earlier
    /// run lacks, or had with other commits, another image or other tests.
    async fn continued<'a>(
        &self,
        tasks: &'a [TaskRow],
        earlier: &'a BTreeMap<TaskId, Vec<Earlier>>,
        errors: &mut ValidationErrors,
    ) -> Result<Vec<(&'a TaskRow, &'a [Earlier])>> {
        let (mut continued, mut lacking, mut changed) = (Vec::new(), Vec::new(), Vec::new());
        for task in tasks {
            let Some(evolutions) = earlier.get(&task.id) else {
                lacking.push(task.id.as_str());
                continue;
            };
            match self.is_same(task, evolutions).await? {
                true => continued.push((task, evolutions.as_slice())),
                false => changed.push(task.id.as_str()),
            }
        }
        if !lacking.is_empty() {
            let lacking = lacking.join("`, `");
            let problem = format!(
                "the run that is handed over has no `{lacking}`; name only tasks that it has"
            );
            errors.add("tasks", problem);
        }
        if !changed.is_empty() {
            let changed = changed.join("`, `");
            let problem = format!(
                "`{changed}` had another base, target, image or other tests in the run that is handed over; leave out, or hand over a run of today's task"
            );
            errors.add("tasks", problem);
        }
        Ok(continued)
    }

    async fn is_same(&self, task: &TaskRow, evolutions: &[Earlier]) -> Result<bool> {
        for Earlier { evolution, .. } in evolutions {
            let then = self.store.task_of_evolution(evolution).await?;
            if then.ends() != task.ends() || then.suite.tests != task.suite.tests {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Where a sample of a task starts; inside is why it does not.
    async fn start(
        &self,
        task: &TaskId,
        sample: u32,
        earlier: &Earlier,
        handover: &Handover,
    ) -> Result<std::result::Result<NewStart, NoStart>> {
        let Earlier {
            evolution,
            iterations,
        } = earlier;
        if !evolution.ending.is_some_and(Ending::is_scored) {
            return Ok(Err(NoStart::Unscored));
        }
        let last = handover.iteration.unwrap_or(u32::MAX);
        let until = iterations.iter().filter(|row| row.iteration <= last);
        let mut scored = until.filter_map(|row| match row.verdict {
            Verdict::Scored { passed, .. } => Some((row, passed)),
            Verdict::Collapsed { .. } => None,
        });
        let Some((row, passed)) = scored.next_back() else {
            return Ok(Err(NoStart::NothingScored));
        };
        let measured = match handover.target {
            // The tests of the later target are others.
            HandoverTarget::Moved => None,
            HandoverTarget::Same => {
                let tests = self.store.suite(&evolution.suite).await?.tests;
                if row.outcomes.passed() >= tests.len() {
                    return Ok(Err(NoStart::SolvedAtStart));
                }
                let steps = self.store.steps(&evolution.id).await?;
                let tested = steps.into_iter().rfind(|step| {
                    let scored = matches!(step.outcome, StepOutcome::Scored { .. });
                    step.role == Role::Test && step.iteration == row.iteration && scored
                });
                Some(MeasuredStart {
                    suite: Suite {
                        counts: SuiteCounts {
                            base_in_target: row.outcomes.passed(),
                            target: tests.len(),
                            base_passed: passed,
                            counts_only: false,
                        },
                        base_outcomes: row.outcomes.clone(),
                        tests,
                    },
                    report: tested.and_then(|step| step.product),
                })
            }
        };
        Ok(Ok(NewStart {
            task: task.clone(),
            sample,
            start: Start {
                run_id: evolution.run_id.clone(),
                evolution_id: evolution.id.clone(),
                iteration: row.iteration,
                code: row.code.clone(),
            },
            measured,
        }))
    }
}

/// An evolution of the run that is handed over.
pub(in crate::api) struct Earlier {
    pub evolution: EvolutionRow,
    pub iterations: Vec<IterationRow>,
}

/// The tasks with the earlier evolutions of the task that ends where they begin;
/// reports those without.
fn followed<'a>(
    tasks: &'a [TaskRow],
    earlier: &'a BTreeMap<TaskId, Vec<Earlier>>,
    errors: &mut ValidationErrors,
) -> Vec<(&'a TaskRow, &'a [Earlier])> {
    let by_target: BTreeMap<&str, &[Earlier]> = earlier
        .values()
        .filter_map(|evolutions| {
            let pinned = evolutions.first()?.evolution.pinned.as_ref()?;
            Some((pinned.target_sha.as_str(), evolutions.as_slice()))
        })
        .collect();
    let (mut followed, mut lacking) = (Vec::new(), Vec::new());
    for task in tasks {
        match by_target.get(task.base_sha.as_str()) {
            Some(evolutions) => followed.push((task, *evolutions)),
            None => lacking.push(task.id.as_str()),
        }
    }
    if !lacking.is_empty() {
        let lacking = lacking.join("`, `");
        let problem = format!(
            "no task of the run that is handed over ends where `{lacking}` begins; name only tasks whose base is a target of that run"
        );
        errors.add("tasks", problem);
    }
    followed
}

/// Why a run cannot be handed over, and what to do about it.
fn unfit(
    run: &RunSummary,
    metric_version: u32,
    config: &RunConfig,
    visibility: Visibility,
) -> Option<String> {
    let RunSummary {
        run_id, progress, ..
    } = run;
    let own_split = &run.config.split;
    if run.config.kind == Kind::Imported {
        return Some(format!(
            "`{run_id}` was made elsewhere and its code is not here; choose a run that this site carried out"
        ));
    }
    if *progress != Progress::Finished {
        return Some(format!(
            "`{run_id}` is {}; hand over a finished run",
            progress.name()
        ));
    }
    let moves = (config.handover.as_ref()).is_some_and(|it| it.target == HandoverTarget::Moved);
    if *own_split != config.split && !moves {
        return Some(format!(
            "`{run_id}` is over the split `{own_split}`, and this run over `{}`; choose the same split, or a moved target",
            config.split
        ));
    }
    if metric_version != METRIC_VERSION {
        return Some(format!(
            "`{run_id}` was scored by version {metric_version} of the metric definitions, and this site uses version {METRIC_VERSION}; bring it up to date first: swe-ci rescore"
        ));
    }
    let shows = visibility == Visibility::Public && run.visibility != Visibility::Public;
    shows.then(|| {
        format!("`{run_id}` is not public, and a public run would show its code; publish it first, or submit this run as private")
    })
}

/// Reports an iteration that no evolution reached.
fn check_iteration(
    handover: &Handover,
    tasks: &[(&TaskRow, &[Earlier])],
    errors: &mut ValidationErrors,
) {
    let evolutions = tasks.iter().flat_map(|(_, evolutions)| *evolutions);
    let longest = evolutions
        .map(|earlier| as_u32(earlier.iterations.len()))
        .max();
    if let (Some(iteration), Some(longest)) = (handover.iteration, longest)
        && iteration > longest
    {
        let problem = format!(
            "no evolution of that run has an iteration {iteration} on these tasks; the longest has {longest}"
        );
        errors.add("handover.iteration", problem);
    }
}
