//! Answers in OpenAI's responses protocol.

use serde_json::{Value, json};

use super::super::tools::Call;
use super::{Answer, pieces};

pub(super) fn whole(answer: &Answer) -> Value {
    let mut items = vec![message(answer, "completed", &json!([part(&answer.text)]))];
    let call = answer.call.as_ref();
    items.extend(call.map(|call| function_call(answer, call, "completed", &arguments(call))));
    let mut response = begun(answer);
    response["status"] = json!("completed");
    response["output"] = json!(items);
    response["usage"] = usage(answer);
    response
}

pub(super) fn events(answer: &Answer) -> Vec<Value> {
    let about = |kind: &str, response: Value| json!({"type": kind, "response": response});
    let mut events = vec![
        about("response.created", begun(answer)),
        about("response.in_progress", begun(answer)),
    ];
    events.extend(message_events(answer));
    let call = answer.call.as_ref();
    events.extend(call.into_iter().flat_map(|call| call_events(answer, call)));
    events.push(about("response.completed", whole(answer)));
    for (number, event) in events.iter_mut().enumerate() {
        event["sequence_number"] = json!(number);
    }
    events
}

fn message_events(answer: &Answer) -> Vec<Value> {
    let text = |kind: &str, field: &str, value: Value| {
        json!({
            "type": kind,
            "item_id": item_id(answer, "msg"),
            "output_index": 0,
            "content_index": 0,
            field: value,
        })
    };
    let mut events = vec![
        item("added", 0, &message(answer, "in_progress", &json!([]))),
        text("response.content_part.added", "part", part("")),
    ];
    let pieces = pieces(&answer.text).into_iter();
    events.extend(pieces.map(|piece| text("response.output_text.delta", "delta", json!(piece))));
    let whole = part(&answer.text);
    events.extend([
        text("response.output_text.done", "text", json!(answer.text)),
        text("response.content_part.done", "part", whole.clone()),
        item("done", 0, &message(answer, "completed", &json!([whole]))),
    ]);
    events
}

fn call_events(answer: &Answer, call: &Call) -> Vec<Value> {
    let arguments = arguments(call);
    let about = |kind: &str, field: &str, value: &str| {
        json!({
            "type": format!("response.function_call_arguments.{kind}"),
            "item_id": item_id(answer, "fc"),
            "output_index": 1,
            field: value,
        })
    };
    let begun = function_call(answer, call, "in_progress", "");
    let mut events = vec![item("added", 1, &begun)];
    let pieces = pieces(&arguments);
    events.extend(pieces.iter().map(|piece| about("delta", "delta", piece)));
    let done = function_call(answer, call, "completed", &arguments);
    events.push(about("done", "arguments", &arguments));
    events.push(item("done", 1, &done));
    events
}

fn begun(answer: &Answer) -> Value {
    json!({
        "id": item_id(answer, "resp"),
        "object": "response",
        "created_at": 1_700_000_000,
        "status": "in_progress",
        "error": null,
        "incomplete_details": null,
        "model": answer.model,
        "output": [],
        "usage": null,
    })
}

fn item(what: &str, index: usize, item: &Value) -> Value {
    json!({"type": format!("response.output_item.{what}"), "output_index": index, "item": item})
}

fn message(answer: &Answer, status: &str, content: &Value) -> Value {
    json!({
        "id": item_id(answer, "msg"),
        "type": "message",
        "status": status,
        "role": "assistant",
        "content": content,
    })
}

fn function_call(answer: &Answer, call: &Call, status: &str, arguments: &str) -> Value {
    json!({
        "id": item_id(answer, "fc"),
        "type": "function_call",
        "status": status,
        "call_id": item_id(answer, "call"),
        "name": call.name,
        "arguments": arguments,
    })
}

fn part(text: &str) -> Value {
    json!({"type": "output_text", "text": text, "annotations": []})
}

fn arguments(call: &Call) -> String {
    call.arguments.to_string()
}

fn item_id(answer: &Answer, kind: &str) -> String {
    format!("{kind}_{}", answer.id)
}

fn usage(answer: &Answer) -> Value {
    let usage = answer.usage;
    json!({
        "input_tokens": usage.input_tokens,
        "input_tokens_details": {"cached_tokens": usage.cached_tokens},
        "output_tokens": usage.output_tokens,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning_tokens},
        "total_tokens": usage.total(),
    })
}
