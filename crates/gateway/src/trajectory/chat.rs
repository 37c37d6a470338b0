//! The main conversation of a step as chat messages, in the form that training
//! programs read: OpenAI's, with the arguments of calls as objects.

use serde_json::{Value, json};

use super::conversations::Conversation;
use super::transcript::{Call, CallResult, Message, Speaker};

/// A conversation as chat messages.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Chat {
    /// The tools that were offered, in OpenAI's function format.
    pub tools: Vec<Value>,
    pub messages: Vec<Value>,
}

impl Chat {
    /// The messages before the model's first, and those from there on.
    pub fn split(mut self) -> (Vec<Value>, Vec<Value>) {
        let first = self
            .messages
            .iter()
            .position(|message| message["role"] == "assistant");
        let said = self
            .messages
            .split_off(first.unwrap_or(self.messages.len()));
        (self.messages, said)
    }
}

pub(super) fn chat(conversation: &Conversation) -> Chat {
    let mut messages: Vec<Value> = conversation
        .instructions
        .iter()
        .map(|text| json!({"role": "system", "content": text}))
        .collect();
    for turn in &conversation.turns {
        messages.extend(turn.added.iter().flat_map(written));
        messages.extend(written(&turn.answer.message));
        messages.extend(turn.results.iter().map(result));
    }
    messages.extend(conversation.rest.iter().flat_map(written));
    Chat {
        tools: conversation.tools.clone(),
        messages,
    }
}

fn written(message: &Message) -> Vec<Value> {
    let mut all: Vec<Value> = message.results.iter().map(result).collect();
    if !message.text.is_empty() || !message.calls.is_empty() || !message.reasoning.is_empty() {
        let mut said = json!({"role": role(message.speaker), "content": message.text});
        if !message.reasoning.is_empty() {
            said["reasoning_content"] = json!(message.reasoning);
        }
        if !message.calls.is_empty() {
            said["tool_calls"] = message.calls.iter().map(call).collect();
        }
        all.push(said);
    }
    all
}

fn role(speaker: Speaker) -> &'static str {
    match speaker {
        Speaker::System => "system",
        Speaker::User => "user",
        Speaker::Assistant => "assistant",
        Speaker::Tool => "tool",
    }
}

fn call(call: &Call) -> Value {
    let function = json!({"name": call.name, "arguments": call.arguments});
    json!({"id": call.id, "type": "function", "function": function})
}

fn result(result: &CallResult) -> Value {
    json!({"role": "tool", "tool_call_id": result.call, "name": result.name, "content": result.text})
}
