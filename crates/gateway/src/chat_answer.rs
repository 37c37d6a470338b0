//! A chat completion put together from its pieces, for callers in this process.

use serde_json::{Map, Value};

use super::protocol::read_json;
use super::sse::Splitter;

/// Fields that come once, or the same with each piece.
const FIXED: [&str; 6] = ["role", "id", "index", "type", "name", "signature"];

/// The first choice of an answer.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ChatAnswer {
    /// With all its fields: models want all of it back. Absent if there was none.
    pub message: Option<Value>,
    /// Why it ended.
    pub finish_reason: Option<String>,
}

impl ChatAnswer {
    /// Reads an answer, whole or a stream of events.
    pub(super) fn parse(bytes: &[u8]) -> Self {
        let mut answer = Self::default();
        if let Some(whole) = read_json(bytes) {
            answer.take(&whole);
            return answer;
        }
        let mut splitter = Splitter::new(bytes.len());
        let events = splitter.take(bytes);
        for event in events.into_iter().chain(splitter.finish()) {
            if let Some(piece) = read_json(event.data.as_bytes()) {
                answer.take(&piece);
            }
        }
        for call in calls(&mut answer.message) {
            call.remove("index");
        }
        answer
    }

    pub(super) fn has_calls(&self) -> bool {
        let calls = self.message.as_ref().map(|message| &message["tool_calls"]);
        calls
            .and_then(Value::as_array)
            .is_some_and(|calls| !calls.is_empty())
    }

    fn take(&mut self, piece: &Value) {
        let choices = piece["choices"].as_array().into_iter().flatten();
        for choice in choices.filter(|choice| choice["index"].as_u64().unwrap_or(0) == 0) {
            if let Some(reason) = choice["finish_reason"].as_str() {
                self.finish_reason = Some(reason.to_owned());
            }
            let (whole, piece) = (&choice["message"], &choice["delta"]);
            if whole.is_object() {
                self.message = Some(whole.clone());
            }
            if piece.is_object() {
                let message = self.message.get_or_insert_with(|| Map::new().into());
                merge(message, piece);
            }
        }
    }
}

fn calls(message: &mut Option<Value>) -> impl Iterator<Item = &mut Map<String, Value>> {
    let calls = message
        .as_mut()
        .and_then(|message| message.get_mut("tool_calls"));
    let calls = calls.and_then(Value::as_array_mut).into_iter().flatten();
    calls.filter_map(Value::as_object_mut)
}

/// Texts grow, parts of lists find their beginning, and null says nothing.
fn merge(whole: &mut Value, piece: &Value) {
    match (whole, piece) {
        (_, Value::Null) => {}
        (Value::String(text), Value::String(more)) => text.push_str(more),
        (Value::Object(fields), Value::Object(more)) => {
            for (name, value) in more {
                match fields.get_mut(name) {
                    Some(old) if !old.is_null() => {
                        if !FIXED.contains(&name.as_str()) || old == "" {
                            merge(old, value);
                        }
                    }
                    _ => drop(fields.insert(name.clone(), begun(value))),
                }
            }
        }
        (Value::Array(items), Value::Array(more)) => {
            for item in more {
                match items.iter_mut().rfind(|old| continues(old, item)) {
                    Some(old) => merge(old, item),
                    None => items.push(item.clone()),
                }
            }
        }
        (whole, piece) => *whole = piece.clone(),
    }
}

/// A list may begin with several pieces of one item.
fn begun(value: &Value) -> Value {
    let mut begun = match value {
        Value::Array(_) => Value::Array(Vec::new()),
        other => return other.clone(),
    };
    merge(&mut begun, value);
    begun
}

/// Some providers leave out the index, or use 0 for all and tell items apart by ids.
fn continues(old: &Value, item: &Value) -> bool {
    let indices = (old["index"].as_u64(), item["index"].as_u64());
    match (old["id"].as_str(), item["id"].as_str()) {
        _ if matches!(indices, (Some(one), Some(other)) if one != other) => false,
        (Some(one), Some(other)) if !other.is_empty() => one == other,
        _ => item.is_object() && (item["index"].is_null() || old["index"] == item["index"]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn whole_and_streamed_answers_are_the_same() {
        let check = |pieces: &[Value], message: Value, reason: &str| {
            let events = pieces.iter().map(|piece| format!("data: {piece}\n\n"));
            let stream: String = events.chain(["data: [DONE]".to_owned()]).collect();
            let expect = ChatAnswer {
                message: Some(message.clone()),
                finish_reason: Some(reason.to_owned()),
            };
            assert_eq!(ChatAnswer::parse(stream.as_bytes()), expect);
            let choice = json!({"index": 0, "message": message, "finish_reason": reason});
            let whole = json!({"choices": [choice]}).to_string();
            assert_eq!(ChatAnswer::parse(whole.as_bytes()), expect);
        };
        let delta = |delta: Value| json!({"choices": [{"index": 0, "delta": delta, "finish_reason": null}]});
        let end =
            |reason: &str| json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]});
        let call = |fields: Value| delta(json!({"tool_calls": [fields]}));
        check(
            &[
                delta(json!({"role": "assistant", "content": ""})),
                delta(json!({"role": "assistant", "reasoning_content": "Hm"})),
                delta(json!({"reasoning_content": "m.", "content": null})),
                delta(json!({"content": "Do"})),
                delta(json!({"content": "ne."})),
                json!({"choices": [{"index": 1, "delta": {"content": "another"}}]}),
                end("length"),
                json!({"choices": [], "usage": {"prompt_tokens": 1}}),
            ],
            json!({"role": "assistant", "reasoning_content": "Hmm.", "content": "Done."}),
            "length",
        );
        let function = |id: &str, arguments: &str| json!({"id": id, "type": "function", "function": {"name": "bash", "arguments": arguments}});
        check(
            &[
                call(
                    json!({"index": 0, "id": "a", "type": "function", "function": {"name": "bash", "arguments": ""}}),
                ),
                call(json!({"index": 0, "function": {"arguments": "{\"x\""}})),
                call(
                    json!({"index": 0, "id": "a", "function": {"name": "bash", "arguments": ":1}"}}),
                ),
                // Another call under the same index.
                call(
                    json!({"index": 0, "id": "b", "type": "function", "function": {"name": "bash", "arguments": "{}"}}),
                ),
                call(
                    json!({"index": 1, "id": "c", "type": "function", "function": {"name": "bash"}}),
                ),
                call(json!({"index": 1, "id": "", "function": {"arguments": "[]"}})),
                end("tool_calls"),
            ],
            json!({"tool_calls": [function("a", r#"{"x":1}"#), function("b", "{}"), function("c", "[]")]}),
            "tool_calls",
        );
        // Two calls of one id are two calls.
        let twice = json!({"tool_calls": [function("a", "{}"), function("a", "[]")]});
        let begun = |index: u32| json!({"index": index, "id": "a", "type": "function", "function": {"name": "bash", "arguments": ""}});
        let more = |index: u32, arguments: &str| json!({"index": index, "id": "a", "function": {"arguments": arguments}});
        check(
            &[
                call(begun(0)),
                call(more(0, "{}")),
                call(begun(1)),
                call(more(1, "[]")),
                end("tool_calls"),
            ],
            twice,
            "tool_calls",
        );
        assert_eq!(ChatAnswer::parse(b"<html>"), ChatAnswer::default());
    }
}
