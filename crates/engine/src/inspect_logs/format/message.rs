//! Messages of a conversation.

use serde::Serialize;
use serde_json::{Map, Value};

#[derive(Debug, Clone, Serialize)]
pub struct Message {
    /// Unique in its sample.
    pub id: String,
    #[serde(flatten)]
    pub said: Said,
    /// The step it belongs to.
    pub metadata: Map<String, Value>,
}

#[derive(Debug, Clone, Serialize)]
#[serde(tag = "role", rename_all = "lowercase")]
pub enum Said {
    System {
        content: String,
    },
    User {
        content: String,
    },
    Assistant {
        content: Content,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<ToolCall>,
        model: String,
        /// `generate`; absent when the harness put it into a request, and no
        /// answer of this conversation has it.
        #[serde(skip_serializing_if = "Option::is_none")]
        source: Option<&'static str>,
    },
    Tool {
        content: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        tool_call_id: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        function: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<CallError>,
    },
}

#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub enum Content {
    Text(String),
    Parts(Vec<Part>),
}

#[derive(Debug, Clone, Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum Part {
    Reasoning { reasoning: String },
    Text { text: String },
}

#[derive(Debug, Clone, Serialize)]
pub struct ToolCall {
    pub id: String,
    pub function: String,
    pub arguments: Map<String, Value>,
}

/// Why a call failed: the result itself says it.
#[derive(Debug, Clone, Serialize)]
pub struct CallError {
    #[serde(rename = "type")]
    pub kind: &'static str,
    pub message: String,
}
