//! Google's generateContent.

use serde_json::Value;

use super::{function, list, other, string, text};
use crate::trajectory::said::{Answer, Call, CallResult, Message, Request, Speaker};

pub fn request(body: &Value, request: &mut Request) {
    let tools = list(&body["tools"]).iter();
    let functions = tools.flat_map(|tool| {
        list(either(
            tool,
            "functionDeclarations",
            "function_declarations",
        ))
    });
    request.tools = functions
        .map(|tool| function(tool, either(tool, "parametersJsonSchema", "parameters")))
        .collect();
    let system = either(body, "systemInstruction", "system_instruction");
    request.push(Message::new(Speaker::System, text(&system["parts"])));
    for content in list(&body["contents"]) {
        read(content, request);
    }
}

/// Names are written in camel case, and understood in snake case too.
fn either<'a>(value: &'a Value, one: &str, other: &str) -> &'a Value {
    match &value[one] {
        Value::Null => &value[other],
        found => found,
    }
}

/// A content of the user may hold results and text; they are told apart.
fn read(content: &Value, request: &mut Request) {
    let speaker = match content["role"].as_str() {
        Some("model") => Speaker::Agent,
        Some("user" | "function") | None if content.is_object() => Speaker::User,
        _ => return request.push(Message::unread(content)),
    };
    let mut message = Message::new(speaker, "");
    for part in list(&content["parts"]) {
        match either(part, "functionResponse", "function_response") {
            Value::Null => add(&mut message, part),
            response => request.push(Message::result(result(response))),
        }
    }
    request.push(message);
}

fn result(response: &Value) -> CallResult {
    let said = &response["response"];
    let told = either(said, "output", "error");
    CallResult {
        call: string(&response["id"]),
        name: string(&response["name"]),
        text: string(told).unwrap_or_else(|| text(said)),
        failed: !said["error"].is_null(),
    }
}

/// Adds a part. An agent's text comes in pieces that belong together.
fn add(message: &mut Message, part: &Value) {
    let call = either(part, "functionCall", "function_call");
    if !call.is_null() {
        let name = call["name"].as_str().unwrap_or_default();
        let call = Call::given(string(&call["id"]), name, &call["args"]);
        message.calls.push(call);
    } else if let Some(text) = part["text"].as_str() {
        match (message.speaker, part["thought"] == true) {
            (Speaker::Agent, true) => message.reasoning.push_str(text),
            (Speaker::Agent, false) => message.text.push_str(text),
            _ => message.say(text),
        }
    } else if part.get("thoughtSignature").is_none() {
        message.say(&other(part));
    }
}

pub fn answer(pieces: &[Value]) -> Answer {
    let mut answer = Answer::default();
    for piece in pieces {
        let candidate = &piece["candidates"][0];
        answer.note(&piece["modelVersion"], &candidate["finishReason"]);
        for part in list(&candidate["content"]["parts"]) {
            add(&mut answer.message, part);
        }
    }
    answer
}
