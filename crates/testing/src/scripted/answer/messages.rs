//! Answers in Anthropic's messages protocol.

use serde_json::{Value, json};

use super::{Answer, pieces};

pub(super) fn whole(answer: &Answer) -> Value {
    let mut content = vec![json!({"type": "text", "text": answer.text})];
    content.extend(tool_use(answer, Value::clone));
    let mut message = begun(answer);
    message["content"] = json!(content);
    message["stop_reason"] = json!(stop_reason(answer));
    message["usage"]["output_tokens"] = json!(answer.usage.output_tokens);
    message
}

pub(super) fn events(answer: &Answer) -> Vec<Value> {
    let mut events = vec![
        json!({"type": "message_start", "message": begun(answer)}),
        json!({"type": "ping"}),
    ];
    let words = pieces(&answer.text).into_iter();
    let words = words.map(|text| json!({"type": "text_delta", "text": text}));
    events.extend(block(0, &json!({"type": "text", "text": ""}), words));
    if let (Some(begin), Some(call)) = (tool_use(answer, |_| json!({})), &answer.call) {
        let input = pieces(&call.arguments.to_string()).into_iter();
        let input = input.map(|part| json!({"type": "input_json_delta", "partial_json": part}));
        events.extend(block(1, &begin, input));
    }
    events.push(json!({
        "type": "message_delta",
        "delta": {"stop_reason": stop_reason(answer), "stop_sequence": null},
        "usage": {"output_tokens": answer.usage.output_tokens},
    }));
    events.push(json!({"type": "message_stop"}));
    events
}

fn block(index: usize, begin: &Value, deltas: impl Iterator<Item = Value>) -> Vec<Value> {
    let mut events =
        vec![json!({"type": "content_block_start", "index": index, "content_block": begin})];
    events.extend(
        deltas.map(|delta| json!({"type": "content_block_delta", "index": index, "delta": delta})),
    );
    events.push(json!({"type": "content_block_stop", "index": index}));
    events
}

fn begun(answer: &Answer) -> Value {
    let usage = answer.usage;
    json!({
        "id": format!("msg_{}", answer.id),
        "type": "message",
        "role": "assistant",
        "model": answer.model,
        "content": [],
        "stop_reason": null,
        "stop_sequence": null,
        // The protocol counts cached tokens separately from the input.
        "usage": {
            "input_tokens": usage.input_tokens - usage.cached_tokens,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": usage.cached_tokens,
            "output_tokens": 1,
        },
    })
}

fn tool_use(answer: &Answer, input: impl Fn(&Value) -> Value) -> Option<Value> {
    answer.call.as_ref().map(|call| {
        json!({
            "type": "tool_use",
            "id": format!("toolu_{}", answer.id),
            "name": call.name,
            "input": input(&call.arguments),
        })
    })
}

fn stop_reason(answer: &Answer) -> &'static str {
    match answer.call {
        Some(_) => "tool_use",
        None => "end_turn",
    }
}
