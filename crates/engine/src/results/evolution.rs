//! One imported evolution, in the store's form.

use swe_ci_core::finding::{Finding, FindingKind};
use swe_ci_core::metrics::Verdict;
use swe_ci_core::results::Recorded;
use swe_ci_core::step::{Ending, Plan, Role, StepOutcome};
use swe_ci_core::task::TaskId;
use swe_ci_core::usage::Usage;
use swe_ci_store::{ImportedEvolution, IterationRow, StepRow, Suite};

use super::measurement::Measured;
use super::{Detail, Evolution};
use crate::as_u32;

/// An evolution with at least one iteration. `now` is the time of the import,
/// in unix milliseconds: the real times of its steps are unknown.
pub fn imported(
    evolution: &Evolution,
    task: &TaskId,
    sample: u32,
    plan: Plan,
    detail: Detail,
    now: i64,
) -> ImportedEvolution {
    let measured = match detail {
        Detail::Tests => evolution.measured(plan.max_iterations),
        Detail::Counts => evolution.counted(plan.max_iterations),
    };
    let recorded = &evolution.record.iterations[..measured.iterations.len()];
    let (ending, reason) = ending(recorded, &measured, plan);
    let mut steps = Vec::new();
    let mut iterations = Vec::new();
    for (index, recorded) in recorded.iter().enumerate() {
        let last = index + 1 == measured.iterations.len();
        let solved = last && ending == Ending::Solved;
        steps.extend(steps_of(index, recorded, solved, now));
        iterations.push(row(index, recorded, &measured, now));
    }
    ImportedEvolution {
        task_id: task.clone(),
        sample,
        suite: measured.suite,
        ending,
        reason,
        steps,
        iterations,
    }
}

/// An evolution that was never started.
pub fn blocked(task: &TaskId, sample: u32, reason: &str) -> ImportedEvolution {
    ImportedEvolution {
        task_id: task.clone(),
        sample,
        suite: Suite::none(),
        ending: Ending::Blocked,
        reason: Some(reason.to_owned()),
        steps: Vec::new(),
        iterations: Vec::new(),
    }
}

fn ending(recorded: &[Recorded], measured: &Measured, plan: Plan) -> (Ending, Option<String>) {
    let used = recorded.len();
    let last = recorded.last();
    let reported = last.is_some_and(|last| last.solved && last.passed.is_some());
    if reported || measured.reaches_target(used) {
        return (Ending::Solved, None);
    }
    if used >= plan.max_iterations as usize {
        return (Ending::IterationsSpent, None);
    }
    let reason = format!(
        "the results end after {used} of {} iterations, without reaching the target",
        plan.max_iterations
    );
    (Ending::CutShort, Some(reason))
}

fn steps_of(index: usize, recorded: &Recorded, solved: bool, now: i64) -> [StepRow; 3] {
    let tested = match recorded.passed {
        Some(_) => StepOutcome::Scored { solved },
        None => StepOutcome::Collapsed,
    };
    let step = |role: Role, outcome: StepOutcome, usage: Option<Usage>| StepRow {
        iteration: number(index),
        role,
        attempt: 1,
        outcome,
        detail: String::new(),
        product: None,
        log: None,
        usage,
        traffic: None,
        truncation: None,
        trajectory: None,
        layer: None,
        container: None,
        started_at: now,
        finished_at: now,
    };
    [
        step(Role::Architect, StepOutcome::Done, recorded.architect),
        step(Role::Programmer, StepOutcome::Done, recorded.programmer),
        step(Role::Test, tested, None),
    ]
}

fn row(index: usize, recorded: &Recorded, measured: &Measured, now: i64) -> IterationRow {
    let measure = &measured.iterations[index];
    let collapsed = matches!(measure.verdict, Verdict::Collapsed { .. });
    IterationRow {
        iteration: number(index),
        verdict: measure.verdict,
        gained: measure.gained,
        outcomes: measure.outcomes.clone(),
        collapse: collapsed.then(|| "collapsed, as its results say".to_owned()),
        findings: Vec::from_iter(contradiction(index, recorded, measured)),
        code: String::new(),
        test_seconds: 0.0,
        finished_at: now,
        contradicted: None,
    }
}

/// A contradiction between what the files say about the target and what they
/// count.
fn contradiction(index: usize, recorded: &Recorded, measured: &Measured) -> Option<Finding> {
    let reached = measured.reaches_target(index + 1);
    if recorded.solved == reached {
        return None;
    }
    let counts = measured.suite.counts;
    let verdict = measured.iterations[index].verdict;
    let passing = match counts.counts_only {
        true => verdict.passed(),
        false => verdict.in_target(),
    };
    let claim = if recorded.solved { "say" } else { "do not say" };
    // Programs that recorded them count in their own ways, so it is no suspicion.
    let text = format!(
        "the results {claim} that the target was reached; {passing} tests pass, of {} to reach",
        counts.target
    );
    Some(Finding::note(FindingKind::Report, text))
}

/// The number of an iteration, from 1.
fn number(index: usize) -> u32 {
    as_u32(index + 1)
}
