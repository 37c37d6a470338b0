//! Parser for OpenAI's responses.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{function, list, other, string, text};
use crate::trajectory::transcript::{Answer, Call, CallResult, Message, Request, Speaker};

pub fn request(body: &Value, request: &mut Request) {
    request.tools = list(&body["tools"]).iter().map(tool).collect();
    request.push(Message::new(Speaker::System, text(&body["instructions"])));
    match &body["input"] {
        Value::String(text) => request.push(Message::new(Speaker::User, text)),
        items => {
            for item in list(items) {
                request.push(parse_item(item));
            }
        }
    }
}

/// The provider's own tools are not functions and stay as they are.
fn tool(tool: &Value) -> Value {
    match tool["type"].as_str() {
        Some("function") => function(tool, &tool["parameters"]),
        _ => tool.clone(),
    }
}

/// Parses an item of the input or of an answer.
fn parse_item(item: &Value) -> Message {
    match item["type"].as_str() {
        Some("message") | None if !item["role"].is_null() => {
            let speaker = match item["role"].as_str() {
                Some("system" | "developer") => Speaker::System,
                Some("assistant") => Speaker::Assistant,
                _ => Speaker::User,
            };
            Message::new(speaker, content_text(&item["content"]))
        }
        Some("reasoning") => {
            let mut message = Message::new(Speaker::Assistant, "");
            message.add_reasoning(&text(&item["summary"]));
            message.add_reasoning(&text(&item["content"]));
            message
        }
        Some(kind) if kind.ends_with("_call") => Message {
            calls: vec![call(item, kind)],
            ..Message::new(Speaker::Assistant, "")
        },
        Some(kind) if kind.ends_with("_output") => Message::result(CallResult {
            call: string(&item["call_id"]),
            name: None,
            text: text(&item["output"]),
            failed: false,
        }),
        _ => Message::unreadable(item),
    }
}

/// The text of a content, or its refusal.
fn content_text(content: &Value) -> String {
    let refusals = list(content).iter();
    let refusals: Vec<&str> = refusals
        .filter_map(|part| part["refusal"].as_str())
        .collect();
    if refusals.is_empty() {
        return text(content);
    }
    refusals.join("\n")
}

/// Functions have `arguments`, free-form tools `input`, the shell an `action`.
/// Tools without a name get the name of their kind.
fn call(item: &Value, kind: &str) -> Call {
    let kind = kind.trim_end_matches("_call");
    let name = item["name"].as_str().unwrap_or(kind);
    let arguments = ["arguments", "input", "action"].map(|field| &item[field]);
    let arguments = arguments.into_iter().find(|value| !value.is_null());
    let id = string(&item["call_id"]).or_else(|| string(&item["id"]));
    Call::new(id, name, arguments.cloned().unwrap_or_default())
}

pub fn answer(pieces: &[Value]) -> Answer {
    let mut answer = Answer::default();
    let mut items = BTreeMap::<u64, Item>::new();
    for piece in pieces {
        let index = index(piece, &items);
        match piece["type"].as_str() {
            Some("response.output_item.added") => {
                items.entry(index).or_default().item = piece["item"].clone();
            }
            Some("response.output_item.done") => {
                let item = items.entry(index).or_default();
                item.item = piece["item"].clone();
                item.done = true;
            }
            Some(kind) if kind.ends_with(".delta") => {
                let item = items.entry(index).or_default();
                item.extend(kind, &piece["delta"]);
            }
            Some(_) => whole(&mut answer, &mut items, &piece["response"]),
            None => whole(&mut answer, &mut items, piece),
        }
    }
    for item in items.into_values() {
        answer.message.append(item.end());
    }
    answer
}

/// The index of an event's item. Without an index, the event belongs to the last
/// item until that is done.
fn index(piece: &Value, items: &BTreeMap<u64, Item>) -> u64 {
    let current = || match items.last_key_value() {
        Some((index, item)) => index.saturating_add(item.done.into()),
        None => 0,
    };
    piece["output_index"].as_u64().unwrap_or_else(current)
}

/// A whole response; the last event of a stream repeats it. Some providers leave
/// its output empty there.
fn whole(answer: &mut Answer, items: &mut BTreeMap<u64, Item>, response: &Value) {
    let stopped = match &response["incomplete_details"]["reason"] {
        Value::Null => &response["status"],
        reason => reason,
    };
    answer.note(&response["model"], stopped);
    for (index, item) in (0..).zip(list(&response["output"])) {
        items.entry(index).or_default().item = item.clone();
    }
}

/// A streaming item: its last full version, and the pieces.
#[derive(Debug, Default)]
struct Item {
    item: Value,
    done: bool,
    text: String,
    reasoning: String,
    arguments: String,
}

impl Item {
    fn extend(&mut self, kind: &str, delta: &Value) {
        let to = match kind {
            "response.output_text.delta" | "response.refusal.delta" => &mut self.text,
            "response.function_call_arguments.delta" | "response.custom_tool_call_input.delta" => {
                &mut self.arguments
            }
            _ if kind.starts_with("response.reasoning") => &mut self.reasoning,
            _ => return,
        };
        to.push_str(delta.as_str().unwrap_or_default());
    }

    /// The item, completed with its pieces if no full version came.
    fn end(self) -> Message {
        let mut message = match &self.item {
            Value::Null => Message::new(Speaker::Assistant, ""),
            item => parse_item(item),
        };
        if message.speaker != Speaker::Assistant {
            message = Message::new(Speaker::Assistant, other(&self.item));
        }
        if message.text.is_empty() {
            message.text = self.text;
        }
        if message.reasoning.is_empty() {
            message.reasoning = self.reasoning;
        }
        let written = |value: &Value| value.as_object().is_none_or(|all| !all.is_empty());
        if let [call] = message.calls.as_mut_slice()
            && !written(&call.arguments)
        {
            *call = Call::new(call.id.take(), &call.name, self.arguments.into());
        }
        message
    }
}
