//! OpenAI's chat completions.

use serde_json::Value;

use super::{list, string, text};
use crate::trajectory::said::{Answer, Call, CallResult, Message, Request, Speaker};

pub fn request(body: &Value, request: &mut Request) {
    request.tools = list(&body["tools"]).to_vec();
    for message in list(&body["messages"]) {
        request.push(read(message));
    }
}

fn read(value: &Value) -> Message {
    let speaker = match value["role"].as_str() {
        Some("system" | "developer") => Speaker::System,
        Some("user") => Speaker::User,
        Some("assistant") => Speaker::Agent,
        Some("tool" | "function") => {
            return Message::result(CallResult {
                call: string(&value["tool_call_id"]),
                name: string(&value["name"]),
                text: text(&value["content"]),
                failed: false,
            });
        }
        _ => return Message::unread(value),
    };
    let mut message = Message::new(speaker, text(&value["content"]));
    if speaker == Speaker::Agent {
        message.reason(reasoning(value));
        message.calls = list(&value["tool_calls"]).iter().map(call).collect();
    }
    message
}

fn call(value: &Value) -> Call {
    let function = &value["function"];
    let name = function["name"].as_str().unwrap_or_default();
    Call::given(string(&value["id"]), name, &function["arguments"])
}

/// Providers do not agree on its name.
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
        // Of several answers, harnesses take the first.
        let first = choices.filter(|choice| choice["index"].as_u64().unwrap_or(0) == 0);
        answer.note(&piece["model"], &Value::Null);
        for choice in first {
            answer.note(&Value::Null, &choice["finish_reason"]);
            let said = match &choice["message"] {
                Value::Null => &choice["delta"],
                whole => whole,
            };
            let message = &mut answer.message;
            message.text.push_str(&text(&said["content"]));
            message
                .text
                .push_str(said["refusal"].as_str().unwrap_or_default());
            message.reasoning.push_str(reasoning(said));
            for part in list(&said["tool_calls"]) {
                extend(&mut calls, part);
            }
        }
    }
    answer.message.calls = calls.into_iter().map(Partial::whole).collect();
    answer
}

/// A call on its way.
#[derive(Debug, Default)]
struct Partial {
    index: Option<u64>,
    id: Option<String>,
    name: String,
    arguments: String,
}

/// Adds a piece of a call to the call it belongs to. Some providers leave the
/// index out, or count all calls as 0 and tell them apart by their ids.
fn extend(calls: &mut Vec<Partial>, part: &Value) {
    let index = part["index"].as_u64();
    let id = string(&part["id"]);
    let same = |call: &Partial| match (&call.id, &id) {
        (Some(one), Some(other)) => one == other,
        _ => index.is_none() || call.index == index,
    };
    let at = calls.iter().rposition(same);
    let at = at.unwrap_or_else(|| {
        calls.push(Partial::default());
        calls.len() - 1
    });
    let call = &mut calls[at];
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

impl Partial {
    fn whole(self) -> Call {
        Call::written(self.id, &self.name, &self.arguments)
    }
}
