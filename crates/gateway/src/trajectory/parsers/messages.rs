//! Parser for Anthropic's messages.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{call, function, list, other, string, text};
use crate::trajectory::transcript::{Answer, CallResult, Message, Request, Speaker};

pub fn request(body: &Value, request: &mut Request) {
    let tools = list(&body["tools"]).iter();
    request.tools = tools
        .map(|tool| function(tool, &tool["input_schema"]))
        .collect();
    match &body["system"] {
        Value::Array(blocks) => {
            for block in blocks {
                request.push(Message::new(Speaker::System, text(block)));
            }
        }
        system => request.push(Message::new(Speaker::System, text(system))),
    }
    for message in list(&body["messages"]) {
        parse_message(message, request);
    }
}

/// A message of the user may mix results and text; this splits them.
fn parse_message(value: &Value, request: &mut Request) {
    let speaker = match value["role"].as_str() {
        Some("system") => Speaker::System,
        Some("user") => Speaker::User,
        Some("assistant") => Speaker::Assistant,
        _ => return request.push(Message::unreadable(value)),
    };
    let Value::Array(blocks) = &value["content"] else {
        return request.push(Message::new(speaker, text(&value["content"])));
    };
    let mut message = Message::new(speaker, "");
    for block in blocks {
        if block["type"] == "tool_result" {
            request.push(Message::result(result(block)));
        } else {
            add(&mut message, block);
        }
    }
    request.push(message);
}

fn result(block: &Value) -> CallResult {
    CallResult {
        call: string(&block["tool_use_id"]),
        name: None,
        text: text(&block["content"]),
        failed: block["is_error"] == true,
    }
}

fn add(message: &mut Message, block: &Value) {
    match block["type"].as_str() {
        Some("text") => message.add_text(&text(block)),
        Some("thinking") => message.add_reasoning(&text(&block["thinking"])),
        // Encrypted by the provider.
        Some("redacted_thinking") => {}
        Some("tool_use" | "server_tool_use") => {
            let call = call(&block["id"], &block["name"], &block["input"]);
            message.calls.push(call);
        }
        _ => message.add_text(&other(block)),
    }
}

pub fn answer(pieces: &[Value]) -> Answer {
    let mut answer = Answer::default();
    let mut blocks = BTreeMap::<u64, Block>::new();
    for piece in pieces {
        let index = piece["index"].as_u64().unwrap_or(0);
        match piece["type"].as_str() {
            Some("message") => {
                answer.note(&piece["model"], &piece["stop_reason"]);
                for block in list(&piece["content"]) {
                    add(&mut answer.message, block);
                }
            }
            Some("message_start") => answer.note(&piece["message"]["model"], &Value::Null),
            Some("message_delta") => answer.note(&Value::Null, &piece["delta"]["stop_reason"]),
            Some("content_block_start") => {
                let block = Block {
                    start: piece["content_block"].clone(),
                    ..Block::default()
                };
                blocks.insert(index, block);
            }
            Some("content_block_delta") => {
                blocks.entry(index).or_default().extend(&piece["delta"]);
            }
            _ => {}
        }
    }
    for block in blocks.into_values() {
        block.end(&mut answer.message);
    }
    answer
}

/// A streaming block: its start, and the pieces since.
#[derive(Debug, Default)]
struct Block {
    start: Value,
    text: String,
    thinking: String,
    input: String,
}

impl Block {
    fn extend(&mut self, delta: &Value) {
        let fields = [
            (&mut self.text, "text"),
            (&mut self.thinking, "thinking"),
            (&mut self.input, "partial_json"),
        ];
        for (field, name) in fields {
            field.push_str(delta[name].as_str().unwrap_or_default());
        }
    }

    fn end(self, message: &mut Message) {
        if self.start["type"] == "tool_use" && !self.input.is_empty() {
            let call = call(&self.start["id"], &self.start["name"], &self.input.into());
            message.calls.push(call);
        } else if !self.start.is_null() {
            add(message, &self.start);
        }
        // A block's start is empty, so this adds its whole text.
        message.add_text(&self.text);
        message.add_reasoning(&self.thinking);
    }
}
