//! Answers in OpenAI's chat completions protocol.

use serde_json::{Value, json};

use super::{Answer, pieces};

const CREATED: u64 = 1_700_000_000;

pub(super) fn whole(answer: &Answer) -> Value {
    let mut message = json!({"role": "assistant", "content": answer.text});
    if let Some(call) = &answer.call {
        message["tool_calls"] = json!([{
            "id": call_id(answer),
            "type": "function",
            "function": {"name": call.name, "arguments": call.arguments.to_string()},
        }]);
    }
    json!({
        "id": format!("chatcmpl-{}", answer.id),
        "object": "chat.completion",
        "created": CREATED,
        "model": answer.model,
        "choices": [{"index": 0, "message": message, "finish_reason": finish(answer)}],
        "usage": usage(answer),
    })
}

pub(super) fn chunks(answer: &Answer, wants_usage: bool) -> Vec<Value> {
    let chunk = |choices: Value| {
        json!({
            "id": format!("chatcmpl-{}", answer.id),
            "object": "chat.completion.chunk",
            "created": CREATED,
            "model": answer.model,
            "choices": choices,
        })
    };
    let delta = |delta: Value| chunk(json!([{"index": 0, "delta": delta, "finish_reason": null}]));
    let mut chunks = vec![delta(json!({"role": "assistant", "content": ""}))];
    let texts = pieces(&answer.text);
    chunks.extend(texts.iter().map(|text| delta(json!({"content": text}))));
    if let Some(call) = &answer.call {
        let begin = json!({
            "index": 0,
            "id": call_id(answer),
            "type": "function",
            "function": {"name": call.name, "arguments": ""},
        });
        chunks.push(delta(json!({"tool_calls": [begin]})));
        for piece in pieces(&call.arguments.to_string()) {
            let more = json!({"index": 0, "function": {"arguments": piece}});
            chunks.push(delta(json!({"tool_calls": [more]})));
        }
    }
    chunks.push(chunk(
        json!([{"index": 0, "delta": {}, "finish_reason": finish(answer)}]),
    ));
    if wants_usage {
        let mut last = chunk(json!([]));
        last["usage"] = usage(answer);
        chunks.push(last);
    }
    chunks
}

fn call_id(answer: &Answer) -> String {
    format!("call_{}", answer.id)
}

fn finish(answer: &Answer) -> &'static str {
    match answer.call {
        Some(_) => "tool_calls",
        None => "stop",
    }
}

fn usage(answer: &Answer) -> Value {
    let usage = answer.usage;
    json!({
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.total(),
        "prompt_tokens_details": {"cached_tokens": usage.cached_tokens},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning_tokens},
    })
}
