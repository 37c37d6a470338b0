//! Events of a sample. Spans nest: an event belongs to the innermost one that
//! is open.

use serde::Serialize;
use serde_json::Value;

use super::message::{CallError, Message, ToolCall};
use super::score::{Failure, Score};
use super::usage::ModelUsage;

#[derive(Debug, Serialize)]
pub struct Event {
    #[serde(flatten)]
    pub at: Stamp,
    #[serde(flatten)]
    pub kind: Kind,
}

#[derive(Debug, Serialize)]
pub struct Stamp {
    pub uuid: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub span_id: Option<String>,
    pub timestamp: String,
    /// Seconds since the first step of the evolution.
    pub working_start: f64,
}

#[derive(Debug, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Kind {
    SpanBegin {
        id: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        parent_id: Option<String>,
        #[serde(rename = "type")]
        span: &'static str,
        name: String,
    },
    SpanEnd {
        id: String,
    },
    Model(Box<ModelCall>),
    Tool(ToolRun),
    Info {
        source: &'static str,
        data: Value,
    },
    Error {
        error: Failure,
    },
    Score {
        score: Score,
        scorer: &'static str,
    },
}

#[derive(Debug, Serialize)]
pub struct ModelCall {
    pub model: String,
    pub role: &'static str,
    #[serde(flatten)]
    pub input: Input,
    pub tools: Vec<Tool>,
    pub tool_choice: &'static str,
    pub config: Empty,
    pub output: Output,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retries: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    pub completed: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub working_time: Option<f64>,
}

/// A call of a tool with its result.
#[derive(Debug, Serialize)]
pub struct ToolRun {
    #[serde(flatten)]
    pub call: ToolCall,
    #[serde(rename = "type")]
    pub kind: &'static str,
    pub result: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<CallError>,
    /// Of the message with the result.
    pub message_id: String,
}

/// The messages of a request, as a range of the sample's pool: each request
/// repeats those before it, and writing them out would take their square.
#[derive(Debug, Serialize)]
pub struct Input {
    input: [Message; 0],
    input_refs: [(usize, usize); 1],
}

impl Input {
    /// From `begin` up to, and without, `end`.
    pub fn range(begin: usize, end: usize) -> Self {
        Self {
            input: [],
            input_refs: [(begin, end)],
        }
    }
}

/// The name of a tool. The export as ATIF has its whole definition; here each
/// request would repeat it.
#[derive(Debug, Clone, Serialize)]
pub struct Tool {
    pub name: String,
    pub description: &'static str,
}

/// An object without fields.
#[derive(Debug, Default, Serialize)]
pub struct Empty {}

#[derive(Debug, Serialize)]
pub struct Output {
    pub model: String,
    pub choices: [Choice; 1],
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<ModelUsage>,
    /// Seconds from the request to the end of the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<f64>,
}

#[derive(Debug, Serialize)]
pub struct Choice {
    pub message: Message,
    pub stop_reason: StopReason,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    Stop,
    MaxTokens,
    ToolCalls,
    ContentFilter,
    Unknown,
}

impl StopReason {
    /// From the words of the protocols: OpenAI's two, Anthropic's, Google's.
    pub fn from_provider(word: Option<&str>) -> Self {
        match word.map(str::to_ascii_lowercase).as_deref() {
            Some("stop" | "end_turn" | "stop_sequence" | "completed") => Self::Stop,
            Some("length" | "max_tokens" | "max_output_tokens") => Self::MaxTokens,
            Some("tool_calls" | "tool_use" | "function_call") => Self::ToolCalls,
            Some("content_filter" | "refusal" | "safety" | "recitation") => Self::ContentFilter,
            _ => Self::Unknown,
        }
    }
}
