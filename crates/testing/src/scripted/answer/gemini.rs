//! Answers in Google's generateContent protocol.

use serde_json::{Value, json};

use super::super::tools::Call;
use super::{Answer, pieces};

pub(super) fn whole(answer: &Answer) -> Value {
    let mut parts = vec![json!({"text": answer.text})];
    parts.extend(answer.call.as_ref().map(function_call));
    chunk(answer, &parts, true)
}

pub(super) fn chunks(answer: &Answer) -> Vec<Value> {
    let texts = pieces(&answer.text).into_iter();
    let mut parts: Vec<Value> = texts.map(|text| json!({"text": text})).collect();
    parts.extend(answer.call.as_ref().map(function_call));
    let last = parts.len().saturating_sub(1);
    let parts = parts.into_iter().enumerate();
    parts
        .map(|(at, part)| chunk(answer, &[part], at == last))
        .collect()
}

fn chunk(answer: &Answer, parts: &[Value], is_last: bool) -> Value {
    let mut candidate = json!({"index": 0, "content": {"role": "model", "parts": parts}});
    if is_last {
        candidate["finishReason"] = json!("STOP");
    }
    let usage = answer.usage;
    json!({
        "candidates": [candidate],
        "modelVersion": answer.model,
        "responseId": answer.id,
        // The protocol counts thoughts separately from the output.
        "usageMetadata": {
            "promptTokenCount": usage.input_tokens,
            "cachedContentTokenCount": usage.cached_tokens,
            "candidatesTokenCount": usage.output_tokens - usage.reasoning_tokens,
            "thoughtsTokenCount": usage.reasoning_tokens,
            "totalTokenCount": usage.total(),
        },
    })
}

fn function_call(call: &Call) -> Value {
    json!({"functionCall": {"name": call.name, "args": call.arguments}})
}
