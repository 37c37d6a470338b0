//! Tasks, runs and evolutions as the REST API and the pages show them. Times
//! are RFC 3339 texts in UTC, durations are seconds.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use swe_ci_core::audit::{Contradicted, Coverage};
use swe_ci_core::finding::{Finding, Unranked};
use swe_ci_core::handover::NoStart;
use swe_ci_core::labels::Labels;
use swe_ci_core::metrics::SuiteCounts;
use swe_ci_core::metrics::Verdict;
use swe_ci_core::outcomes::Outcomes;
use swe_ci_core::requirement::Requirement;
use swe_ci_core::run::{Kind, Progress, RunConfig};
use swe_ci_core::step::{Ending, Role, StepOutcome, Truncation};
use swe_ci_core::task::{TaskId, TestCommand};
use swe_ci_core::usage::{Traffic, Usage};
use swe_ci_core::wall::Wall;

use crate::account::Visibility;
use crate::background::BackgroundWork;
use crate::container::Container;
use crate::conversation::RecordingFormat;
use crate::host::HostLoad;
use crate::preflight::Preflight;
use crate::preparation::Preparation;
use crate::steering::Steering;
use crate::task_results::{Difficulty, FirstRequirements, TaskInResults};
use crate::verification::{Mark, Verification, Verified};

/// A page of a longer list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Page<T> {
    pub items: Vec<T>,
    /// Pass it as `after` to get the next page; absent on the last one.
    pub next: Option<String>,
}

/// A split in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct SplitSummary {
    pub name: String,
    pub tasks: u32,
    /// Tasks that can run.
    pub ready: u32,
}

impl SplitSummary {
    /// The one that is shown where none is asked for: the one with the most tasks;
    /// of several with equally many, the first.
    pub fn largest(splits: &[Self]) -> Option<&Self> {
        splits.iter().rev().max_by_key(|split| split.tasks)
    }
}

/// Whether a task can run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum TaskState {
    /// Its image is loaded and its suite runs on base and target.
    Ready,
    /// It cannot be used, for this reason.
    Unusable { reason: String },
}

/// A task in a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct TaskSummary {
    pub task_id: TaskId,
    pub repo: String,
    pub base_sha: String,
    pub target_sha: String,
    #[serde(flatten)]
    pub state: TaskState,
    /// All tests the base passes; 0 where that is not known.
    pub base_passed: u32,
    /// Tests the target passes: the size of T.
    pub target_passed: u32,
    /// Tests of T the base does not pass.
    pub gap: u32,
    /// Commits from base (not counted) to target.
    pub commits: u32,
    /// Days between base and target.
    pub span_days: f64,
    /// Seconds the target's suite takes: the median of its runs.
    pub suite_seconds: f64,
    /// Lines added and deleted between base and target, in files of every
    /// kind; unknown for old imports.
    pub modified_lines: Option<u32>,
    /// Licence of the target, an SPDX name, if one was recognised; else as the
    /// split's metadata file declares it.
    pub licence: Option<String>,
    /// Number of findings of its preparation.
    #[serde(default)]
    pub findings: u32,
    /// Walls that it is graded without.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub left_away: BTreeSet<Wall>,
    /// Its tests were not counted here: base, target and gap are as results have
    /// them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub from_results: bool,
    /// Absent where no run with a rank has a score on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub difficulty: Option<Difficulty>,
    /// Share of its tests that can be contradicted, 0 to 1; absent before they are
    /// audited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contradicted: Option<f64>,
}

impl TaskSummary {
    /// Whether its tests were counted here, or results have their numbers.
    pub fn has_counts(&self) -> bool {
        self.target_passed > 0
    }

    /// Whether its tests were counted here. Imported results name tasks that
    /// were not.
    pub fn is_prepared(&self) -> bool {
        self.has_counts() && !self.from_results
    }

    /// Adds what results tell of it. Of several splits that have it, the one with
    /// the most runs counts.
    pub fn add_results(&mut self, found: &TaskInResults) {
        if !self.has_counts() {
            self.base_passed = found.base_passed;
            self.target_passed = found.target_passed;
            self.gap = found.gap;
            self.from_results = true;
        }
        let runs = |of: &Option<Difficulty>| of.as_ref().map_or(0, |of| of.runs);
        if runs(&found.difficulty) > runs(&self.difficulty) {
            self.difficulty.clone_from(&found.difficulty);
        }
    }
}

/// A task with its history and tests.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct TaskDetail {
    #[serde(flatten)]
    pub summary: TaskSummary,
    /// The splits that list it with this content.
    pub splits: Vec<String>,
    /// The splits that list it with other content, which was imported before.
    #[serde(default)]
    pub other_revisions: Vec<OtherRevision>,
    /// Content digest of the image of its containers.
    pub image_digest: String,
    /// How pytest is started for its tests.
    #[serde(default)]
    pub test_command: TestCommand,
    /// From base to target.
    pub history: Vec<Commit>,
    /// T, with the outcome of each test on the base.
    pub tests: Vec<TaskTest>,
    /// How many of its tests have a contradiction; absent before the first audit.
    #[serde(default)]
    pub contradictions: Option<Coverage>,
    /// The first requirements of the run that did best on it; absent where they are
    /// not recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_requirements: Option<FirstRequirements>,
    /// Its preparation; empty for old imports, which did not record it.
    #[serde(default)]
    pub preparation: Preparation,
    /// Unknown columns of the split's metadata file.
    pub extra: Vec<(String, String)>,
}

/// A task in a split that lists it with other content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct OtherRevision {
    pub split: String,
    pub base_sha: String,
    pub target_sha: String,
    pub image_digest: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Commit {
    pub sha: String,
    pub date: String,
    /// First line of the message.
    pub subject: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct TaskTest {
    pub node_id: String,
    /// Outcome on the base: `passed`, `failed`, `missing`, …
    pub base: String,
}

/// A run in a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct RunSummary {
    pub run_id: String,
    pub config: RunConfig,
    pub visibility: Visibility,
    /// The reason for its withdrawal, if it was withdrawn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub withdrawn: Option<String>,
    /// A mark of its trustworthiness, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mark: Option<Mark>,
    /// The run whose code this one graded again; absent for most runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub regraded_from: Option<String>,
    /// Its evolutions that were run again after their agents had given up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cleared: Option<Cleared>,
    /// Why its history keeps it from a rank; `unranked` has it too.
    #[serde(skip)]
    pub set_aside: Option<Unranked>,
    pub progress: Progress,
    /// Its preflight, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preflight: Option<Preflight>,
    #[serde(flatten)]
    pub steering: Steering,
    pub created_at: String,
    pub started_at: Option<String>,
    pub finished_at: Option<String>,
    pub evolutions: u32,
    /// Those that came to an end; one that was cancelled did not.
    pub evolutions_over: u32,
    /// Those whose result counts.
    pub evolutions_scored: u32,
    pub evolutions_blocked: u32,
    pub evolutions_solved: u32,
    /// Those whose agents gave up.
    pub evolutions_gave_up: u32,
    /// Iterations tested so far, over all evolutions.
    pub iterations: u32,
}

/// Evolutions put back in the queue after their agents had given up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Cleared {
    pub evolutions: u32,
    /// The last time.
    pub at: String,
}

/// A run with its evolutions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct RunDetail {
    #[serde(flatten)]
    pub summary: RunSummary,
    /// Whether the caller may pause, cancel, publish, … it.
    pub may_steer: bool,
    /// Why it may take no rank; absent for most runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unranked: Option<Unranked>,
    /// The verification mark with its author and time, if it is verified.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verified: Option<Verified>,
    /// The result of running its tests again, if a user requested that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verification: Option<Verification>,
    /// The verification that was last started on the site, since the start of
    /// its process; only for administrators.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verifying: Option<BackgroundWork>,
    /// The runs that graded its code again, of those that the caller may see.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub regraded_as: Vec<String>,
    /// The inputs that reproduce its results.
    pub provenance: Provenance,
    /// The model usage of its agents so far; absent when nothing was counted.
    pub spent: Option<Spent>,
    /// Seconds since it started, until now or its end; null before it started, and for
    /// imported results.
    pub elapsed_seconds: Option<f64>,
    /// Estimated seconds until it is over, from its finished evolutions; null
    /// without any, and while no worker works on it.
    pub eta_seconds: Option<f64>,
    /// The load of the machine that works on it, while one does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<HostLoad>,
    /// The labels it needs, while evolutions are queued that no worker may take:
    /// none that is at work has these labels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unmet_needs: Option<Labels>,
    pub evolution_list: Vec<EvolutionView>,
}

/// Model usage, where it was counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Spent {
    pub usage: Usage,
    /// The gateway's measurements; absent without a gateway.
    pub traffic: Option<Traffic>,
}

impl Spent {
    /// The sum of these steps; absent when none has a count.
    pub fn of<'a>(steps: impl IntoIterator<Item = &'a StepView>) -> Option<Self> {
        let mut sum: Option<Self> = None;
        for step in steps {
            if let Some(usage) = step.usage {
                sum.get_or_insert_default().usage += usage;
            }
            if let Some(traffic) = step.traffic {
                match &mut sum.get_or_insert_default().traffic {
                    Some(total) => *total += traffic,
                    none => *none = Some(traffic),
                }
            }
        }
        sum
    }
}

/// Recorded with every run (reproducibility).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Provenance {
    pub platform_version: String,
    /// Version of the metric definitions behind the numbers.
    pub metric_version: u32,
    /// Digest over the split's tasks: ids, commits, images.
    pub dataset_digest: String,
    pub harness_version: String,
    /// Version and digest of the agents' prompts, if they call a model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompts: Option<String>,
    /// The origin of imported results; absent for measured ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub imported: Option<ImportedFrom>,
    /// The container engines that its evolutions ran on last, with what they could
    /// promise; empty for imported and older runs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub engines: Vec<String>,
    /// What a handover leaves out; empty for other runs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_handed_over: Vec<NotHandedOver>,
}

/// An evolution that a handover leaves out: the earlier run has nothing to go on
/// with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct NotHandedOver {
    pub task_id: TaskId,
    /// From 1.
    pub sample: u32,
    pub why: NoStart,
}

/// The origin of imported results.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ImportedFrom {
    /// Layout of the files: `reference` or `otter`.
    pub layout: String,
    /// Name of the experiment's folder.
    pub experiment: String,
    /// Digest over all imported files.
    pub digest: String,
    /// Remarks of the importer for readers of the results.
    pub notes: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct EvolutionView {
    pub evolution_id: String,
    pub task_id: TaskId,
    /// From 1.
    pub sample: u32,
    pub progress: Progress,
    pub ending: Option<Ending>,
    /// Why it is blocked or the agent gave up, in words.
    pub reason: Option<String>,
    pub suite: SuiteCounts,
    /// The code it started from in place of the base, in a handover: `suite`
    /// then counts that code instead of the base.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<HandedOver>,
    pub max_iterations: u32,
    pub started_at: Option<String>,
    pub finished_at: Option<String>,
    /// The current step, if any.
    pub current: Option<CurrentStep>,
    pub iterations: Vec<IterationView>,
    /// Why its code is not audited, once that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_audited: Option<String>,
}

impl EvolutionView {
    /// The target tests that pass now, or at the end.
    pub fn passing(&self) -> u32 {
        let last = self.iterations.last();
        last.map_or(self.suite.base_in_target, |i| i.verdict.in_target())
    }

    /// The wait for its model's provider, if its step does not go on for it.
    pub fn wait(&self) -> Option<&ProviderWait> {
        let wait = self.current.as_ref()?.waiting.as_ref()?;
        (!wait.since.is_empty() && wait.answering.is_none()).then_some(wait)
    }
}

/// The code that an evolution of a handover started from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct HandedOver {
    /// The run it comes from.
    pub run_id: String,
    pub evolution_id: String,
    /// The scored iteration it comes from, from 1.
    pub iteration: u32,
    /// Digest of the code.
    pub code: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct CurrentStep {
    pub iteration: u32,
    pub role: Role,
    pub attempt: u32,
    /// Present while it waits for its model's provider, or repeats itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting: Option<ProviderWait>,
}

/// A wait for a provider that does not answer or limits its rate, which does not
/// count towards the agent's time limit; or a long answer, or that the step repeats
/// itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ProviderWait {
    /// Empty if it does not wait.
    pub since: String,
    /// The number of the step's request that the model has been answering since then;
    /// absent for a wait, and for answers of less than five seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answering: Option<u32>,
    /// The provider's last answer, in words; empty while a request waits for its
    /// first one.
    pub why: String,
    /// When the provider is asked again; absent while it is being asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_try: Option<String>,
    /// The platform's own requests to the provider in this step, and millionths of a US
    /// dollar for them.
    #[serde(default)]
    pub probes: u64,
    #[serde(default)]
    pub probe_micro_usd: u64,
    /// How often in a row the agent has made the same call, from ten.
    #[serde(default)]
    pub repeats: u32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct IterationView {
    /// From 1.
    pub iteration: u32,
    #[serde(flatten)]
    pub verdict: Verdict,
    /// Tests of T gained since the last scored code.
    pub gained: u32,
    /// Why it collapsed, if it did.
    pub collapse: Option<String>,
    /// Integrity findings: what was noticed about the way its tests came to
    /// their result.
    pub findings: Vec<Finding>,
    pub test_seconds: f64,
    pub finished_at: String,
    /// The contradicted tests that its agents saw, and those of them that its code passes
    /// with their contradictions; in the mode impossible alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contradicted: Option<Contradicted>,
}

/// An evolution with the outcomes of every test: one letter per test,
/// in the order of the node ids: `p`assed, `f`ailed, `e`rror, `s`kipped,
/// `x`failed, `X`passed, `-` missing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct EvolutionDetail {
    pub run_id: String,
    pub model: String,
    pub kind: Kind,
    /// Samples of the task in the run.
    pub samples: u32,
    #[serde(flatten)]
    pub view: EvolutionView,
    /// T; empty when only counts are known.
    pub node_ids: Vec<String>,
    #[schema(value_type = String)]
    pub base_outcomes: Outcomes,
    /// For each iteration; null where the code collapsed. Empty when only
    /// counts are known.
    #[schema(value_type = Vec<Option<String>>)]
    pub outcomes: Vec<Option<Outcomes>>,
    /// For each iteration, an earlier one that was scored with identical code,
    /// or null. Empty when no code is known.
    pub same_code: Vec<Option<u32>>,
}

/// One iteration with its requirements and steps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct IterationDetail {
    #[serde(flatten)]
    pub view: IterationView,
    pub requirements: Vec<Requirement>,
    pub steps: Vec<StepView>,
    /// Node ids of T lost and gained.
    pub lost_tests: Vec<String>,
    pub gained_tests: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct StepView {
    pub iteration: u32,
    pub role: Role,
    pub attempt: u32,
    pub outcome: StepOutcome,
    pub detail: String,
    pub seconds: f64,
    /// Absent for a step of a check, which is not kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finished_at: Option<String>,
    /// Tokens sent and received, if they were counted.
    pub usage: Option<Usage>,
    /// The gateway's measurements; absent without a gateway.
    pub traffic: Option<Traffic>,
    /// How the model's last answer was cut short, if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub truncation: Option<Truncation>,
    /// How its conversation was recorded; absent for one that called no model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recording: Option<RecordingFormat>,
    /// Its container; absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub container: Option<Container>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usage_of_several_steps() {
        let step = |tokens: Option<u64>, cost: Option<Option<u64>>| StepView {
            iteration: 1,
            role: Role::Architect,
            attempt: 1,
            outcome: StepOutcome::Done,
            detail: String::new(),
            seconds: 1.0,
            finished_at: None,
            usage: tokens.map(|input_tokens| Usage {
                input_tokens,
                ..Usage::default()
            }),
            traffic: cost.map(|micro_usd| Traffic {
                requests: 2,
                micro_usd,
                ..Traffic::default()
            }),
            truncation: None,
            recording: None,
            container: None,
        };
        let check = |steps: &[StepView], tokens: Option<u64>, over: Option<(u64, Option<u64>)>| {
            let spent = Spent::of(steps);
            assert_eq!(spent.map(|spent| spent.usage.input_tokens), tokens);
            let traffic = spent.and_then(|spent| spent.traffic);
            assert_eq!(traffic.map(|t| (t.requests, t.micro_usd)), over);
        };
        let (replay, imported) = (step(None, None), step(Some(5), None));
        let priced = step(Some(5), Some(Some(7)));
        let unpriced = step(Some(1), Some(None));
        check(&[], None, None);
        check(std::slice::from_ref(&replay), None, None);
        check(&[replay, imported], Some(5), None);
        check(
            &[priced.clone(), priced.clone()],
            Some(10),
            Some((4, Some(14))),
        );
        check(&[priced, unpriced], Some(6), Some((4, None)));
    }
}
