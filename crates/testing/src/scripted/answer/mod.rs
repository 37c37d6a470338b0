//! Writes an answer in the format of each protocol, whole and as a stream.

mod chat;
mod gemini;
mod messages;
mod responses;

use serde_json::{Value, json};
use swe_ci_core::agent::Protocol;
use swe_ci_core::usage::Usage;

use super::tools::Call;

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Answer {
    /// Unique within the conversation.
    pub id: String,
    pub model: String,
    pub text: String,
    pub call: Option<Call>,
    pub usage: Usage,
}

impl Answer {
    pub fn whole(&self, protocol: Protocol) -> String {
        let body = match protocol {
            Protocol::Chat => chat::whole(self),
            Protocol::Responses => responses::whole(self),
            Protocol::Messages => messages::whole(self),
            Protocol::Gemini => gemini::whole(self),
        };
        body.to_string()
    }

    /// The events of a stream, in wire format.
    pub fn streamed(&self, protocol: Protocol, wants_usage: bool) -> Vec<String> {
        let events = match protocol {
            Protocol::Chat => chat::chunks(self, wants_usage),
            Protocol::Responses => responses::events(self),
            Protocol::Messages => messages::events(self),
            Protocol::Gemini => gemini::chunks(self),
        };
        let mut events: Vec<String> = events.iter().map(event).collect();
        if protocol == Protocol::Chat {
            events.push("data: [DONE]\n\n".into());
        }
        events
    }
}

pub(super) fn error(protocol: Protocol, code: u16, message: &str) -> Value {
    let (kind, status) = match code {
        400 => ("invalid_request_error", "INVALID_ARGUMENT"),
        401 => ("authentication_error", "UNAUTHENTICATED"),
        403 => ("permission_error", "PERMISSION_DENIED"),
        404 => ("invalid_request_error", "NOT_FOUND"),
        429 => ("rate_limit_error", "RESOURCE_EXHAUSTED"),
        503 => ("overloaded_error", "UNAVAILABLE"),
        529 => ("overloaded_error", "INTERNAL"),
        _ => ("api_error", "INTERNAL"),
    };
    match protocol {
        Protocol::Chat | Protocol::Responses => {
            json!({"error": {"message": message, "type": kind, "param": null, "code": null}})
        }
        Protocol::Messages => {
            json!({"type": "error", "error": {"type": kind, "message": message}})
        }
        Protocol::Gemini => {
            json!({"error": {"code": code, "message": message, "status": status}})
        }
    }
}

/// An event in wire format, named by its type if it has one.
fn event(data: &Value) -> String {
    match data["type"].as_str() {
        Some(name) => format!("event: {name}\ndata: {data}\n\n"),
        None => format!("data: {data}\n\n"),
    }
}

/// Splits a text into a few pieces, like a streaming model.
fn pieces(text: &str) -> Vec<String> {
    let letters: Vec<char> = text.chars().collect();
    let size = letters.len().div_ceil(3).max(1);
    letters.chunks(size).map(String::from_iter).collect()
}
