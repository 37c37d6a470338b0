//! The types of Inspect's log files (`.eval`), without the fields that are not
//! used here: the run as a whole in this file, a sample, its messages and its
//! events in their own. They follow the models of `inspect_ai` 0.3.285.

mod event;
mod message;
mod sample;
mod score;
mod usage;

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Map, Value};

pub use event::{Choice, Event, Input, Kind, ModelCall, Output, Stamp, StopReason, Tool, ToolRun};
pub use message::{CallError, Content, Message, Part, Said, ToolCall};
pub use sample::{EventsData, Sample, SampleText, Summary};
pub use score::{Failure, Score};
pub use usage::{ModelUsage, Usages};

/// Version of the file format.
pub const VERSION: u32 = 2;

/// A JSON object of these fields, without those that are null.
pub fn object<const N: usize>(fields: [(&str, Value); N]) -> Map<String, Value> {
    let known = fields.into_iter().filter(|(_, value)| !value.is_null());
    known
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

/// `_journal/start.json`: what is known when an evaluation begins.
#[derive(Debug, Serialize)]
pub struct Start<'a> {
    pub version: u32,
    pub eval: &'a Eval,
    pub plan: &'a Plan,
}

/// `header.json`: everything but the samples.
#[derive(Debug, Serialize)]
pub struct Header<'a> {
    pub version: u32,
    pub status: Status,
    pub eval: &'a Eval,
    pub plan: &'a Plan,
    pub results: &'a Results,
    pub stats: &'a Stats,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    Success,
    Cancelled,
}

/// The identity and the configuration of an evaluation.
#[derive(Debug, Serialize)]
pub struct Eval {
    pub eval_id: String,
    pub run_id: String,
    pub created: String,
    pub task: &'static str,
    pub task_id: String,
    pub task_version: u32,
    pub task_display_name: String,
    pub task_args: Map<String, Value>,
    pub solver: String,
    pub solver_args: Map<String, Value>,
    pub dataset: Dataset,
    pub model: String,
    /// The models by role, where the agents call one.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub model_roles: BTreeMap<&'static str, RoleModel>,
    pub config: Config,
    pub packages: BTreeMap<&'static str, String>,
    pub metadata: Map<String, Value>,
    pub headline_metric: Headline,
}

#[derive(Debug, Serialize)]
pub struct Dataset {
    pub name: String,
    /// Tasks, each once.
    pub samples: u32,
    pub sample_ids: Vec<String>,
    pub shuffled: bool,
}

#[derive(Debug, Serialize)]
pub struct RoleModel {
    pub model: String,
}

#[derive(Debug, Serialize)]
pub struct Config {
    pub epochs: u32,
    pub epochs_reducer: [&'static str; 1],
}

/// The solvers; here the harness alone.
#[derive(Debug, Serialize)]
pub struct Plan {
    pub name: &'static str,
    pub steps: Vec<PlanStep>,
}

#[derive(Debug, Serialize)]
pub struct PlanStep {
    pub solver: String,
    pub params: Map<String, Value>,
}

#[derive(Debug, Serialize)]
pub struct Results {
    pub total_samples: u32,
    pub completed_samples: u32,
    /// Empty without a scored evolution.
    pub scores: Vec<ScoreResult>,
    pub headline: Headline,
}

/// One number of the run, over all its tasks.
#[derive(Debug, Serialize)]
pub struct ScoreResult {
    pub name: &'static str,
    pub scorer: &'static str,
    pub reducer: &'static str,
    pub scored_samples: u32,
    pub unscored_samples: u32,
    pub metrics: BTreeMap<&'static str, Metric>,
}

#[derive(Debug, Serialize)]
pub struct Metric {
    pub name: &'static str,
    pub value: f64,
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub metadata: Map<String, Value>,
}

/// The number that stands for the run in lists.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Headline {
    pub scorer: &'static str,
    pub score: &'static str,
    pub metric: &'static str,
}

#[derive(Debug, Default, Serialize)]
pub struct Stats {
    /// Empty when it never began, or the times are unknown.
    pub started_at: String,
    pub completed_at: String,
    #[serde(flatten)]
    pub usages: Usages,
}
