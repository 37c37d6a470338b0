//! The types of ATIF, Harbor's Agent Trajectory Interchange Format, without the
//! fields that are not used here.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// For fields that are written only when they have a value.
fn unset<T: Default + PartialEq>(field: &T) -> bool {
    *field == T::default()
}

/// 1.8 only adds audio, so 1.7 serves more readers.
pub const VERSION: &str = "ATIF-v1.7";

#[derive(Debug, Serialize)]
pub struct Trajectory {
    pub schema_version: &'static str,
    pub session_id: String,
    pub trajectory_id: String,
    pub agent: Agent,
    pub steps: Vec<Step>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notes: Option<String>,
    pub final_metrics: FinalMetrics,
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub extra: Map<String, Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub subagent_trajectories: Vec<Trajectory>,
}

#[derive(Debug, Serialize)]
pub struct Agent {
    pub name: String,
    pub version: String,
    pub model_name: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tool_definitions: Vec<Value>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    System,
    User,
    Agent,
}

#[derive(Debug, Serialize)]
pub struct Step {
    /// From 1, without gaps.
    pub step_id: usize,
    pub timestamp: String,
    pub source: Source,
    pub message: String,
    /// Only for steps of an agent, like `reasoning_content`, `tool_calls` and
    /// `metrics`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_name: Option<String>,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reasoning_content: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCall>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observation: Option<Observation>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metrics: Option<Metrics>,
    /// From an earlier or another conversation, repeated for context.
    #[serde(skip_serializing_if = "unset")]
    pub is_copied_context: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub llm_call_count: Option<u32>,
    #[serde(skip_serializing_if = "unset")]
    pub extra: StepExtra,
}

/// The facts that the format has no fields for: the exchange of an answer, and its
/// irregularities.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub struct StepExtra {
    /// About parts of the message that could not be parsed.
    #[serde(skip_serializing_if = "unset")]
    pub notes: Vec<String>,
    /// Its ordinal in the recording.
    #[serde(skip_serializing_if = "unset")]
    pub exchange: Option<u32>,
    #[serde(skip_serializing_if = "unset")]
    pub finish_reason: Option<String>,
    /// False when the answer was cut off.
    #[serde(skip_serializing_if = "unset")]
    pub complete: Option<bool>,
    #[serde(skip_serializing_if = "unset")]
    pub status: Option<u16>,
    #[serde(skip_serializing_if = "unset")]
    pub error: Option<String>,
    /// From the request to the end of its answer: the format has the end alone.
    #[serde(skip_serializing_if = "unset")]
    pub duration_ms: i64,
    #[serde(skip_serializing_if = "unset")]
    pub retries: usize,
    #[serde(skip_serializing_if = "unset")]
    pub waiting_ms: u64,
}

#[derive(Debug, Serialize)]
pub struct ToolCall {
    pub tool_call_id: String,
    pub function_name: String,
    pub arguments: Map<String, Value>,
    #[serde(skip_serializing_if = "unset")]
    pub extra: CallExtra,
}

#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub struct CallExtra {
    #[serde(skip_serializing_if = "unset")]
    pub note: Option<&'static str>,
}

#[derive(Debug, Default, Serialize)]
pub struct Observation {
    pub results: Vec<ObservationResult>,
}

#[derive(Debug, Serialize)]
pub struct ObservationResult {
    /// A call of the same step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_call_id: Option<String>,
    pub content: String,
    #[serde(skip_serializing_if = "unset")]
    pub extra: ResultExtra,
}

#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub struct ResultExtra {
    #[serde(skip_serializing_if = "unset")]
    pub is_error: bool,
    /// The call's id and the tool, of a result that belongs to no call of its step.
    #[serde(skip_serializing_if = "unset")]
    pub call: Option<String>,
    #[serde(skip_serializing_if = "unset")]
    pub name: Option<String>,
}

#[derive(Debug, Serialize)]
pub struct Metrics {
    pub prompt_tokens: u64,
    pub completion_tokens: u64,
    pub cached_tokens: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    #[serde(skip_serializing_if = "unset")]
    pub extra: MetricsExtra,
}

#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub struct MetricsExtra {
    #[serde(skip_serializing_if = "unset")]
    pub reasoning_tokens: u64,
}

/// The totals of this trajectory alone, except for the cost, which includes the
/// trajectories inside.
#[derive(Debug, Serialize)]
pub struct FinalMetrics {
    pub total_prompt_tokens: u64,
    pub total_completion_tokens: u64,
    pub total_cached_tokens: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_cost_usd: Option<f64>,
    pub total_steps: usize,
}
