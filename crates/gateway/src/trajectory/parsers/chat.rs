//! Parser for OpenAI's chat completions.

use serde_json::Value;

use super::{call, list, string, text};
use crate::trajectory::transcript::{Answer, Call, CallResult, Message, Request, Speaker};

pub fn request(body: &Value, request: &mut Request) {
    request.tools = list(&body["tools"]).to_vec();
    for message in list(&body["messages"]) {
        request.push(parse_message(message));
    }
}

fn parse_message(value: &Value) -> Message {
    let speaker = match value["role"].as_str() {
        Some("system" | "developer") => Speaker::System,
        Some("user") => Speaker::User,
        Some("assistant") => Speaker::Assistant,
        Some("tool" | "function") => {
            return Message::result(CallResult {
                call: string(&value["tool_call_id"]),
                name: string(&value["name"]),
                text: text(&value["content"]),
                failed: false,
            });
        }
        _ => return Message::unreadable(value),
    };
    let mut message = Message::new(speaker, text(&value["content"]));
    if speaker == Speaker::Assistant {
        message.add_reasoning(reasoning(value));
        for value in list(&value["tool_calls"]) {
            let function = &value["function"];
            let call = call(&value["id"], &function["name"], &function["arguments"]);
            message.calls.push(call);
        }
    }
    message
}

/// The reasoning; providers use different fields.
fn reasoning(message: &Value) -> &str {
    let names = ["reasoning_content", "reasoning"];
    let found = names.into_iter().find_map(|name| message[name].as_str());
    found.unwrap_or_default()
}

pub fn answer(pieces: &[Value]) -> Answer {
    let mut answer = Answer::default();
    let mut calls = Vec::new();
    for piece in pieces {
        let choices = list(&piece["choices"]).iter();
        // Harnesses use the first of several answers.
        let first = choices.filter(|choice| choice["index"].as_u64().unwrap_or(0) == 0);
        answer.note(&piece["model"], &Value::Null);
        for choice in first {
            answer.note(&Value::Null, &choice["finish_reason"]);
            let message_part = match &choice["message"] {
                Value::Null => &choice["delta"],
                whole => whole,
            };
            let message = &mut answer.message;
            message.text.push_str(&text(&message_part["content"]));
            let refusal = message_part["refusal"].as_str();
            message.text.push_str(refusal.unwrap_or_default());
            message.reasoning.push_str(reasoning(message_part));
            for part in list(&message_part["tool_calls"]) {
                extend(&mut calls, part);
            }
        }
    }
    let whole = |call: Partial| Call::new(call.id, &call.name, call.arguments.into());
    answer.message.calls = calls.into_iter().map(whole).collect();
    answer
}

/// A call that is still streaming.
#[derive(Debug, Default)]
struct Partial {
    index: Option<u64>,
    id: Option<String>,
    name: String,
    arguments: String,
}

/// Adds a piece to its call. Some providers omit the index, or use index 0 for
/// all calls and distinguish them by id.
fn extend(calls: &mut Vec<Partial>, part: &Value) {
    let index = part["index"].as_u64();
    let id = string(&part["id"]);
    let same = |call: &Partial| match (&call.id, &id) {
        (Some(one), Some(other)) => one == other,
        _ => index.is_none() || call.index == index,
    };
    let call = match calls.iter().rposition(same) {
        Some(at) => &mut calls[at],
        None => calls.push_mut(Partial::default()),
    };
    call.index = index;
    call.id = id.or(call.id.take());
    let function = &part["function"];
    if call.name.is_empty() {
        call.name = string(&function["name"]).unwrap_or_default();
    }
    match &function["arguments"] {
        Value::String(piece) => call.arguments.push_str(piece),
        Value::Null => {}
        whole => call.arguments = whole.to_string(),
    }
}
