//! The conversations of a step, as the export in ATIF gives them: the fields
//! that a log needs.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::{Map, Value};

/// A step's conversations, and when each of its exchanges began and ended.
#[derive(Debug)]
pub struct Recorded {
    pub trajectory: Trajectory,
    /// By ordinal, in unix milliseconds.
    pub times: HashMap<u64, (i64, i64)>,
}

/// A conversation; the outermost one is the main conversation of a step and has
/// the others inside.
#[derive(Debug, Deserialize)]
pub struct Trajectory {
    pub agent: Agent,
    pub steps: Vec<Step>,
    #[serde(default)]
    pub subagent_trajectories: Vec<Trajectory>,
}

#[derive(Debug, Deserialize)]
pub struct Agent {
    pub model_name: String,
    /// In OpenAI's function format.
    #[serde(default)]
    pub tool_definitions: Vec<Value>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    System,
    User,
    Agent,
}

/// A message, with the results of its calls.
#[derive(Debug, Deserialize)]
pub struct Step {
    pub source: Source,
    pub message: String,
    pub model_name: Option<String>,
    #[serde(default)]
    pub reasoning_content: String,
    #[serde(default)]
    pub tool_calls: Vec<ToolCall>,
    #[serde(default)]
    pub observation: Observation,
    pub metrics: Option<Metrics>,
    #[serde(default)]
    pub is_copied_context: bool,
    #[serde(default)]
    pub extra: Extra,
}

#[derive(Debug, Deserialize)]
pub struct ToolCall {
    pub tool_call_id: String,
    pub function_name: String,
    pub arguments: Map<String, Value>,
}

#[derive(Debug, Default, Deserialize)]
pub struct Observation {
    pub results: Vec<CallResult>,
}

#[derive(Debug, Deserialize)]
pub struct CallResult {
    pub source_call_id: Option<String>,
    pub content: String,
    #[serde(default)]
    pub extra: ResultExtra,
}

#[derive(Debug, Default, Deserialize)]
pub struct ResultExtra {
    #[serde(default)]
    pub is_error: bool,
    /// The call's id and the tool, of a result that belongs to no call of its
    /// step.
    pub call: Option<String>,
    pub name: Option<String>,
}

#[derive(Debug, Deserialize)]
pub struct Metrics {
    pub prompt_tokens: u64,
    pub completion_tokens: u64,
    pub cached_tokens: u64,
    pub cost_usd: Option<f64>,
    #[serde(default)]
    pub extra: MetricsExtra,
}

#[derive(Debug, Default, Deserialize)]
pub struct MetricsExtra {
    #[serde(default)]
    pub reasoning_tokens: u64,
}

/// An agent's step has these facts of its exchange.
#[derive(Debug, Default, Deserialize)]
pub struct Extra {
    /// The ordinal of the exchange.
    pub exchange: Option<u64>,
    pub finish_reason: Option<String>,
    pub retries: Option<u32>,
    pub error: Option<String>,
    /// False when the answer was cut off; absent else.
    pub complete: Option<bool>,
}
