//! Parses requests and answers of the four wire protocols, streamed or not.
//! Parsing never fails; unparsable parts stay as they are, with a note.

mod chat;
mod gemini;
mod messages;
mod responses;

use serde_json::Value;
use swe_ci_core::agent::Protocol;

use super::transcript::{Answer, Call, Request};
use crate::protocol::read_json;
use crate::{Exchange, Splitter};

/// Maximum bytes, as JSON, of a part that is not text, such as a picture; longer
/// parts are left out.
const MAX_PART: usize = 10_000;

pub fn request(exchange: &Exchange) -> Request {
    let body = &exchange.request;
    let mut request = Request::default();
    match exchange.protocol {
        Protocol::Chat => chat::request(body, &mut request),
        Protocol::Responses => responses::request(body, &mut request),
        Protocol::Messages => messages::request(body, &mut request),
        Protocol::Gemini => gemini::request(body, &mut request),
    }
    request
}

pub fn answer(exchange: &Exchange) -> Answer {
    if exchange.status >= 400 {
        let note = format!("an error with status {}, no answer", exchange.status);
        return refused(&exchange.response, note);
    }
    let (pieces, mut notes) = pieces(exchange);
    if pieces.is_empty() && !exchange.streamed {
        return refused(&exchange.response, "the answer is not JSON".to_owned());
    }
    notes.extend(pieces.iter().filter_map(error));
    let mut answer = match exchange.protocol {
        Protocol::Chat => chat::answer(&pieces),
        Protocol::Responses => responses::answer(&pieces),
        Protocol::Messages => messages::answer(&pieces),
        Protocol::Gemini => gemini::answer(&pieces),
    };
    answer.message.notes.append(&mut notes);
    answer
}

fn refused(body: &str, note: String) -> Answer {
    let mut answer = Answer::default();
    answer.message.text = body.to_owned();
    answer.message.notes.push(note);
    answer
}

/// The answer's JSON values, one per event or a single one, and notes about
/// events that are not JSON.
fn pieces(exchange: &Exchange) -> (Vec<Value>, Vec<String>) {
    let body = &exchange.response;
    let (mut pieces, mut notes) = (Vec::new(), Vec::new());
    if !exchange.streamed {
        match read_json(body.as_bytes()) {
            // Gemini streams an array of chunks if no events are requested.
            Some(Value::Array(chunks)) => pieces = chunks,
            whole => pieces.extend(whole),
        }
        return (pieces, notes);
    }
    let mut splitter = Splitter::new(body.len());
    for event in splitter.take(body.as_bytes()) {
        match read_json(event.data.as_bytes()) {
            Some(piece) => pieces.push(piece),
            None if event.data.trim() == "[DONE]" => {}
            None => {
                let data = event.data;
                notes.push(format!("an event of the stream is not JSON: {data}"));
            }
        }
    }
    // The last one may be cut off.
    let last = splitter.finish();
    pieces.extend(last.and_then(|event| read_json(event.data.as_bytes())));
    (pieces, notes)
}

/// An error the provider reports inside an answer.
fn error(piece: &Value) -> Option<String> {
    let inside = [&piece["error"], &piece["response"]["error"]];
    let bare = (piece["type"] == "error").then_some(piece);
    let error = inside.into_iter().find(|error| !error.is_null()).or(bare)?;
    Some(format!("the provider reported an error: {error}"))
}

impl Answer {
    /// Sets the model's name and the stop reason, if present.
    fn note(&mut self, model: &Value, stopped: &Value) {
        self.model = string(model).or(self.model.take());
        self.stopped = string(stopped).or(self.stopped.take());
    }
}

fn call(id: &Value, name: &Value, arguments: &Value) -> Call {
    let name = name.as_str().unwrap_or_default();
    Call::new(string(id), name, arguments.clone())
}

/// A string that is not empty.
fn string(value: &Value) -> Option<String> {
    let text = value.as_str().filter(|text| !text.is_empty());
    text.map(str::to_owned)
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// The text of a content: a string, or parts, most of which are text.
fn text(content: &Value) -> String {
    match content {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let texts: Vec<String> = parts.iter().map(text).collect();
            texts.join("\n")
        }
        Value::Object(part) => match part.get("text").and_then(Value::as_str) {
            Some(text) => text.to_owned(),
            None => other(content),
        },
        bare => bare.to_string(),
    }
}

/// A part that is not text: its JSON if that is short, otherwise its size.
fn other(part: &Value) -> String {
    let written = part.to_string();
    if written.len() <= MAX_PART {
        return written;
    }
    let kind = part["type"].as_str().unwrap_or("part");
    format!("[{kind}, {} bytes]", written.len())
}

/// A tool in OpenAI's function format.
fn function(tool: &Value, parameters: &Value) -> Value {
    serde_json::json!({
        "type": "function",
        "function": {
            "name": tool["name"],
            "description": tool["description"],
            "parameters": parameters,
        },
    })
}
