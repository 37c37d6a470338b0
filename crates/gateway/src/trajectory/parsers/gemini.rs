//! Parser for Google's generateContent.

use serde_json::Value;

use super::{call, function, list, other, string, text};
use crate::trajectory::transcript::{Answer, CallResult, Message, Request, Speaker};

pub fn request(body: &Value, request: &mut Request) {
    let tools = list(&body["tools"]).iter();
    let [camel, snake] = ["functionDeclarations", "function_declarations"];
    let functions = tools.flat_map(|tool| list(either(tool, camel, snake)));
    request.tools = functions
        .map(|tool| function(tool, either(tool, "parametersJsonSchema", "parameters")))
        .collect();
    let system = either(body, "systemInstruction", "system_instruction");
    request.push(Message::new(Speaker::System, text(&system["parts"])));
    for content in list(&body["contents"]) {
        parse_content(content, request);
    }
}

/// The API accepts names in camel case and in snake case.
fn either<'a>(value: &'a Value, one: &str, other: &str) -> &'a Value {
    match &value[one] {
        Value::Null => &value[other],
        found => found,
    }
}

/// A content of the user may mix results and text; this splits them.
fn parse_content(content: &Value, request: &mut Request) {
    let speaker = match content["role"].as_str() {
        Some("model") => Speaker::Assistant,
        Some("user" | "function") | None if content.is_object() => Speaker::User,
        _ => return request.push(Message::unreadable(content)),
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
    let result = &response["response"];
    let output = either(result, "output", "error");
    CallResult {
        call: string(&response["id"]),
        name: string(&response["name"]),
        text: string(output).unwrap_or_else(|| text(result)),
        failed: !result["error"].is_null(),
    }
}

/// Adds a part. The agent's text comes in pieces, joined without line breaks.
fn add(message: &mut Message, part: &Value) {
    let called = either(part, "functionCall", "function_call");
    if !called.is_null() {
        let call = call(&called["id"], &called["name"], &called["args"]);
        message.calls.push(call);
    } else if let Some(text) = part["text"].as_str() {
        match (message.speaker, part["thought"] == true) {
            (Speaker::Assistant, true) => message.reasoning.push_str(text),
            (Speaker::Assistant, false) => message.text.push_str(text),
            _ => message.add_text(text),
        }
    } else if part.get("thoughtSignature").is_none() {
        message.add_text(&other(part));
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
