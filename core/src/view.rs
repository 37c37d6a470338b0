//! What the REST API and the pages show. Times are RFC 3339 texts in UTC,
//! durations are seconds.

use serde::{Deserialize, Serialize};

use crate::account::Visibility;
use crate::container::Container;
use crate::host::HostLoad;
use crate::metrics::Verdict;
use crate::outcomes::Outcomes;
use crate::preflight::Preflight;
use crate::preparation::Preparation;
use crate::requirement::Requirement;
use crate::run::{Kind, Progress, RunConfig};
use crate::steering::Steering;
use crate::step::{Ending, Role, StepOutcome};
use crate::task::{SuiteCounts, TaskId};
use crate::usage::{Traffic, Usage};
use crate::verification::{Mark, Verification, Verified};

/// A page of a longer list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Page<T> {
    pub items: Vec<T>,
    /// Give it as `after` to get the next page; absent on the last one.
    pub next: Option<String>,
}

/// A split and how ready it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SplitSummary {
    pub name: String,
    pub tasks: u32,
    /// Tasks that can be run.
    pub ready: u32,
}

/// Whether a task can be run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum TaskState {
    /// Its image is loaded and its suite runs on both ends.
    Ready,
    /// It cannot be used, for this reason.
    Unusable { reason: String },
}

/// A task in a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TaskSummary {
    pub task_id: TaskId,
    pub repo: String,
    pub base_sha: String,
    pub target_sha: String,
    #[serde(flatten)]
    pub state: TaskState,
    /// All tests the base passes; 0 while unusable.
    pub base_passed: u32,
    /// Tests the target passes: the size of T.
    pub target_passed: u32,
    /// Tests of T the base does not pass.
    pub gap: u32,
    /// Commits from base (not counted) to target.
    pub commits: u32,
    /// Days between the two ends.
    pub span_days: f64,
    /// Seconds the target's suite takes, in the middle of all times it was run.
    pub suite_seconds: f64,
    /// Lines added and deleted between the ends, in files of every kind; not
    /// known of tasks imported before it was counted.
    #[serde(default)]
    pub modified_lines: Option<u32>,
    /// Licence of the target, an SPDX name; where one was recognised.
    #[serde(default)]
    pub licence: Option<String>,
    /// How much its preparation found that is to be known of it.
    #[serde(default)]
    pub findings: u32,
}

/// A task with its history and tests.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TaskDetail {
    #[serde(flatten)]
    pub summary: TaskSummary,
    pub splits: Vec<String>,
    /// Content digest of the image its containers are made from.
    pub image_digest: String,
    /// From base to target.
    pub history: Vec<Commit>,
    /// T, with what the base does on each test.
    pub tests: Vec<TaskTest>,
    /// How it was prepared; of nothing where it was imported before that was
    /// written down.
    #[serde(default)]
    pub preparation: Preparation,
    /// Columns of the split's metadata file that we keep without knowing them.
    pub extra: Vec<(String, String)>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Commit {
    pub sha: String,
    pub date: String,
    /// First line of the message.
    pub subject: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TaskTest {
    pub node_id: String,
    /// Outcome on the base: `passed`, `failed`, `missing`, …
    pub base: String,
}

/// A run in a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RunSummary {
    pub run_id: String,
    pub config: RunConfig,
    pub visibility: Visibility,
    /// Why it was taken back, where it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub withdrawn: Option<String>,
    /// How far it is to be trusted, where that is to be said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mark: Option<Mark>,
    pub progress: Progress,
    #[serde(flatten)]
    pub steering: Steering,
    pub created_at: String,
    pub started_at: Option<String>,
    pub finished_at: Option<String>,
    pub evolutions: u32,
    pub evolutions_over: u32,
    pub evolutions_blocked: u32,
    /// Iterations tested so far, over all evolutions.
    pub iterations: u32,
}

/// A run with its evolutions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RunDetail {
    #[serde(flatten)]
    pub summary: RunSummary,
    /// Whether who asked may pause, cancel, publish, … it.
    pub may_steer: bool,
    /// Who marked it as verified and when, where it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verified: Option<Verified>,
    /// The try before it begins, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preflight: Option<Preflight>,
    /// What came of running its tests again, if somebody did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verification: Option<Verification>,
    /// What a result must be reproducible from.
    pub provenance: Provenance,
    /// What its agents took of their models until now; absent where nothing
    /// was counted.
    pub spent: Option<Spent>,
    /// Seconds until it is over, from the pace of what is over of it; null
    /// while there is none, and while it stands still.
    pub eta_seconds: Option<f64>,
    /// How busy the machine is, while it is worked on there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<HostLoad>,
    pub evolution_list: Vec<EvolutionView>,
}

/// What was taken of models, as far as it was counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Spent {
    pub usage: Usage,
    /// What went over the gateway; absent where there was none.
    pub traffic: Option<Traffic>,
}

impl Spent {
    /// The sum of these steps; absent when nothing was counted in any.
    pub fn of<'a>(steps: impl IntoIterator<Item = &'a StepView>) -> Option<Self> {
        let mut sum: Option<Self> = None;
        for step in steps {
            if let Some(usage) = step.usage {
                sum.get_or_insert_default().usage += usage;
            }
            if let Some(traffic) = step.traffic {
                match &mut sum.get_or_insert_default().traffic {
                    Some(all) => *all += traffic,
                    none => *none = Some(traffic),
                }
            }
        }
        sum
    }
}

/// Recorded with every run (reproducibility).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Provenance {
    pub platform_version: String,
    /// Version of the metric definitions the numbers follow.
    pub metric_version: u32,
    /// Digest over the split's tasks: ids, commits, images.
    pub dataset_digest: String,
    pub harness_version: String,
    /// Version and digest of what the agents are told, where they ask a model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompts: Option<String>,
    /// Where imported results come from; absent for what was measured here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub imported: Option<ImportedFrom>,
}

/// What is known of results that were made elsewhere.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ImportedFrom {
    /// Whose layout the files had: `reference` or `otter`.
    pub layout: String,
    /// Name of the experiment's folder.
    pub experiment: String,
    /// Digest over everything that was read.
    pub digest: String,
    /// What the importer noticed, for readers of the results.
    pub notes: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct EvolutionView {
    pub evolution_id: String,
    pub task_id: TaskId,
    /// From 1.
    pub sample: u32,
    pub progress: Progress,
    pub ending: Option<Ending>,
    /// Why it is blocked or was given up, in words.
    pub reason: Option<String>,
    pub suite: SuiteCounts,
    pub max_iterations: u32,
    pub started_at: Option<String>,
    pub finished_at: Option<String>,
    /// The step at work now, if any.
    pub current: Option<CurrentStep>,
    pub iterations: Vec<IterationView>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CurrentStep {
    pub iteration: u32,
    pub role: Role,
    pub attempt: u32,
    /// Set while its model's provider is what it waits for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting: Option<ProviderWait>,
}

/// A wait for a provider that does not answer or takes no more requests now.
/// The agent is not charged for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ProviderWait {
    pub since: String,
    /// What the provider said last, in words; empty where it is not asked yet,
    /// because others of its requests come first.
    pub why: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct IterationView {
    /// From 1.
    pub iteration: u32,
    #[serde(flatten)]
    pub verdict: Verdict,
    /// Tests of T gained since the last scored code.
    pub gained: u32,
    /// Why it collapsed, if it did.
    pub collapse: Option<String>,
    /// Integrity findings: configuration of the tests that was changed.
    pub findings: Vec<String>,
    pub test_seconds: f64,
    pub finished_at: String,
}

/// An evolution with what every test did. Outcomes are one letter per test,
/// in the order of the node ids: `p`assed, `f`ailed, `e`rror, `s`kipped,
/// `x`failed, `X`passed, `-` missing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct EvolutionDetail {
    pub run_id: String,
    pub model: String,
    pub kind: Kind,
    /// Samples the run has of the task.
    pub samples: u32,
    #[serde(flatten)]
    pub view: EvolutionView,
    /// T; none where tests are known by counts alone.
    pub node_ids: Vec<String>,
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub base_outcomes: Outcomes,
    /// For each iteration; null where the code collapsed. None where tests
    /// are known by counts alone.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<Option<String>>))]
    pub outcomes: Vec<Option<Outcomes>>,
    /// For each iteration an earlier one that was scored with the very same
    /// code; null where there is none. None where no code is known.
    pub same_code: Vec<Option<u32>>,
}

/// One iteration with what was asked and done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct IterationDetail {
    #[serde(flatten)]
    pub view: IterationView,
    pub requirements: Vec<Requirement>,
    pub steps: Vec<StepView>,
    /// Node ids of T lost and gained.
    pub lost_tests: Vec<String>,
    pub gained_tests: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct StepView {
    pub iteration: u32,
    pub role: Role,
    pub attempt: u32,
    pub outcome: StepOutcome,
    pub detail: String,
    pub seconds: f64,
    /// What the model was sent and sent back, where it was counted.
    pub usage: Option<Usage>,
    /// What went over the gateway; absent where there was none.
    pub traffic: Option<Traffic>,
    /// Where it worked; absent where nothing is known of that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub container: Option<Container>,
}

impl StepView {
    /// Whether what was said is written down: whoever asked a model was
    /// recorded.
    #[must_use]
    pub fn is_recorded(&self) -> bool {
        self.traffic.is_some_and(|traffic| traffic.requests > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_steps_took_together() {
        let step = |tokens: Option<u64>, cost: Option<Option<u64>>| StepView {
            iteration: 1,
            role: Role::Architect,
            attempt: 1,
            outcome: StepOutcome::Done,
            detail: String::new(),
            seconds: 1.0,
            usage: tokens.map(|input_tokens| Usage {
                input_tokens,
                ..Usage::default()
            }),
            traffic: cost.map(|micro_usd| Traffic {
                requests: 2,
                micro_usd,
                ..Traffic::default()
            }),
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
