//! Requests and answers as harnesses and providers write them.

use serde_json::{Map, Value, json};
use swe_ci_core::agent::Protocol;

use super::{Message, Speaker};

pub fn request(protocol: Protocol, system: &str, conversation: &[Message], tools: bool) -> Value {
    let name = "bash";
    let about = "Runs a command.";
    let parameters = json!({"type": "object", "properties": {"command": {"type": "string"}}});
    let (mut body, tool) = match protocol {
        Protocol::Chat => {
            let first = json!({"role": "system", "content": system});
            let messages = std::iter::once(first).chain(conversation.iter().flat_map(chat));
            let function = json!({"name": name, "description": about, "parameters": parameters});
            (
                json!({"model": "m", "stream": true, "messages": messages.collect::<Vec<_>>()}),
                json!([{"type": "function", "function": function}]),
            )
        }
        Protocol::Responses => (
            json!({
                "model": "m", "stream": true, "store": false, "instructions": system,
                "input": conversation.iter().flat_map(items).collect::<Vec<_>>(),
            }),
            json!([{"type": "function", "name": name, "description": about, "parameters": parameters}]),
        ),
        Protocol::Messages => (
            json!({
                "model": "m", "max_tokens": 32_000, "messages": blocks(conversation),
                "system": [{"type": "text", "text": "short"}, {"type": "text", "text": system}],
            }),
            json!([{"name": name, "description": about, "input_schema": parameters}]),
        ),
        Protocol::Gemini => (
            json!({
                "systemInstruction": {"role": "user", "parts": [{"text": system}]},
                "contents": conversation.iter().map(content).collect::<Vec<_>>(),
            }),
            json!([{"functionDeclarations": [
                {"name": name, "description": about, "parametersJsonSchema": parameters},
            ]}]),
        ),
    };
    if tools {
        body["tools"] = tool;
    }
    body
}

pub fn answer(protocol: Protocol, streamed: bool, reply: &Message) -> String {
    match (protocol, streamed) {
        (Protocol::Chat, false) => {
            let mut message = chat(reply).remove(0);
            message["reasoning_content"] = reply.reasoning.as_str().into();
            json!({
                "id": "chatcmpl-1", "object": "chat.completion", "model": "m-2026",
                "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
                "usage": {"prompt_tokens": 1_000, "completion_tokens": 20},
            })
            .to_string()
        }
        (Protocol::Chat, true) => chat_stream(reply),
        (Protocol::Responses, streamed) => {
            let mut output = items(reply);
            if !reply.reasoning.is_empty() {
                let summary = json!([{"type": "summary_text", "text": reply.reasoning}]);
                output.insert(
                    0,
                    json!({"type": "reasoning", "id": "rs_1", "summary": summary}),
                );
            }
            let response = json!({
                "id": "resp_1", "object": "response", "model": "m-2026", "status": "completed",
                "output": output, "usage": {"input_tokens": 1_000, "output_tokens": 20},
            });
            if streamed {
                responses_stream(&output, &response)
            } else {
                response.to_string()
            }
        }
        (Protocol::Messages, false) => json!({
            "id": "msg_1", "type": "message", "role": "assistant", "model": "m-2026",
            "content": agent_blocks(reply), "stop_reason": "end_turn",
            "usage": {"input_tokens": 500, "cache_read_input_tokens": 500, "output_tokens": 20},
        })
        .to_string(),
        (Protocol::Messages, true) => messages_stream(reply),
        (Protocol::Gemini, streamed) => gemini_answer(reply, streamed),
    }
}

pub fn events(events: &[Value]) -> String {
    let event = |event: &Value| match event["type"].as_str() {
        Some(kind) => format!("event: {kind}\ndata: {event}\n\n"),
        None => format!("data: {event}\r\n\r\n"),
    };
    events.iter().map(event).collect()
}

/// In two pieces.
fn halves(text: &str) -> [&str; 2] {
    let half = (text.len() / 2..).find(|at| text.is_char_boundary(*at));
    let (one, other) = text.split_at(half.unwrap_or(0));
    [one, other]
}

fn chat(message: &Message) -> Vec<Value> {
    match message.speaker {
        Speaker::System => vec![json!({"role": "system", "content": message.text})],
        Speaker::User => vec![json!({"role": "user", "content": message.text})],
        Speaker::Tool => {
            let results = message.results.iter();
            let result = |result: &super::CallResult| json!({"role": "tool", "tool_call_id": result.call, "content": result.text});
            results.map(result).collect()
        }
        Speaker::Assistant => {
            let mut value = json!({"role": "assistant", "content": message.text});
            if !message.calls.is_empty() {
                let calls = message.calls.iter().map(|call| {
                    let arguments = call.arguments.to_string();
                    let function = json!({"name": call.name, "arguments": arguments});
                    json!({"id": call.id, "type": "function", "function": function})
                });
                value["tool_calls"] = calls.collect();
            }
            vec![value]
        }
    }
}

fn chat_stream(reply: &Message) -> String {
    let chunk = |delta: Value, finish: Value| {
        json!({
            "id": "chatcmpl-1", "object": "chat.completion.chunk", "model": "m-2026",
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
        })
    };
    let mut chunks = vec![chunk(
        json!({"role": "assistant", "content": ""}),
        Value::Null,
    )];
    let mut add = |delta: Value| chunks.push(chunk(delta, Value::Null));
    for piece in halves(&reply.reasoning) {
        add(json!({"reasoning_content": piece}));
    }
    for piece in halves(&reply.text) {
        add(json!({"content": piece}));
    }
    for (index, call) in reply.calls.iter().enumerate() {
        let start = json!({"name": call.name, "arguments": ""});
        add(json!({"tool_calls": [
            {"index": index, "id": call.id, "type": "function", "function": start},
        ]}));
        for piece in halves(&call.arguments.to_string()) {
            let function = json!({"arguments": piece});
            add(json!({"tool_calls": [{"index": index, "function": function}]}));
        }
    }
    chunks.push(chunk(json!({}), "stop".into()));
    chunks.push(json!({"choices": [], "usage": {"prompt_tokens": 1_000, "completion_tokens": 20}}));
    format!(": waiting\n\n{}data: [DONE]\n\n", events(&chunks))
}

fn items(message: &Message) -> Vec<Value> {
    let (role, kind) = match message.speaker {
        Speaker::System => ("developer", "input_text"),
        Speaker::User => ("user", "input_text"),
        Speaker::Assistant => ("assistant", "output_text"),
        Speaker::Tool => ("", ""),
    };
    let mut items = Vec::new();
    if !message.text.is_empty() {
        let content = json!([{"type": kind, "text": message.text}]);
        items.push(json!({"type": "message", "role": role, "content": content}));
    }
    items.extend(message.calls.iter().map(|call| {
        let arguments = call.arguments.to_string();
        json!({
            "type": "function_call", "id": "fc_1", "call_id": call.id,
            "name": call.name, "arguments": arguments,
        })
    }));
    items.extend(message.results.iter().map(|result| {
        json!({"type": "function_call_output", "call_id": result.call, "output": result.text})
    }));
    items
}

fn responses_stream(output: &[Value], response: &Value) -> String {
    let begun = json!({"id": "resp_1", "status": "in_progress", "output": []});
    let mut all = vec![json!({"type": "response.created", "response": begun})];
    for (index, item) in output.iter().enumerate() {
        let mut empty = item.clone();
        let fields = [
            ("content", json!([])),
            ("summary", json!([])),
            ("arguments", json!("")),
        ];
        for (field, nothing) in fields {
            if item.get(field).is_some() {
                empty[field] = nothing;
            }
        }
        let kinds = [
            ("output_text", &item["content"][0]["text"]),
            ("reasoning_summary_text", &item["summary"][0]["text"]),
            ("function_call_arguments", &item["arguments"]),
        ];
        all.push(json!({
            "type": "response.output_item.added", "output_index": index, "item": empty,
        }));
        for (kind, text) in kinds {
            for piece in halves(text.as_str().unwrap_or_default()) {
                let kind = format!("response.{kind}.delta");
                all.push(json!({"type": kind, "output_index": index, "delta": piece}));
            }
        }
        all.push(json!({
            "type": "response.output_item.done", "output_index": index, "item": item,
        }));
    }
    let mut end = response.clone();
    // Some providers do this.
    end["output"] = json!([]);
    all.push(json!({"type": "response.completed", "response": end}));
    events(&all)
}

/// Results and the user's text after them form one message.
fn blocks(conversation: &[Message]) -> Vec<Value> {
    let mut messages: Vec<(&str, Vec<Value>)> = Vec::new();
    for message in conversation {
        let (role, blocks) = match message.speaker {
            Speaker::Assistant => ("assistant", agent_blocks(message)),
            _ => ("user", user_blocks(message)),
        };
        match messages.last_mut() {
            Some((last, all)) if *last == role => all.extend(blocks),
            _ => messages.push((role, blocks)),
        }
    }
    if let Some(last) = messages.last_mut().and_then(|(_, all)| all.last_mut()) {
        last["cache_control"] = json!({"type": "ephemeral"});
    }
    let messages = messages.into_iter();
    messages
        .map(|(role, content)| json!({"role": role, "content": content}))
        .collect()
}

fn user_blocks(message: &Message) -> Vec<Value> {
    let results = message.results.iter().map(|result| {
        let content = json!([{"type": "text", "text": result.text}]);
        json!({"type": "tool_result", "tool_use_id": result.call, "content": content})
    });
    let text = (!message.text.is_empty()).then(|| json!({"type": "text", "text": message.text}));
    results.chain(text).collect()
}

fn agent_blocks(message: &Message) -> Vec<Value> {
    let mut blocks = Vec::new();
    if !message.reasoning.is_empty() {
        let thinking = &message.reasoning;
        blocks.push(json!({"type": "thinking", "thinking": thinking, "signature": "c2ln"}));
    }
    if !message.text.is_empty() {
        blocks.push(json!({"type": "text", "text": message.text}));
    }
    blocks.extend(message.calls.iter().map(|call| {
        json!({"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments})
    }));
    blocks
}

fn messages_stream(reply: &Message) -> String {
    let begun = json!({"id": "msg_1", "type": "message", "model": "m-2026", "content": []});
    let mut all = vec![json!({"type": "message_start", "message": begun})];
    all.push(json!({"type": "ping"}));
    for (index, block) in agent_blocks(reply).into_iter().enumerate() {
        let (start, field, text) = match block["type"].as_str() {
            Some("thinking") => (
                json!({"type": "thinking", "thinking": "", "signature": ""}),
                ("thinking_delta", "thinking"),
                reply.reasoning.clone(),
            ),
            Some("text") => (
                json!({"type": "text", "text": ""}),
                ("text_delta", "text"),
                reply.text.clone(),
            ),
            _ => {
                let input = block["input"].to_string();
                let mut start = block;
                start["input"] = json!({});
                (start, ("input_json_delta", "partial_json"), input)
            }
        };
        all.push(json!({"type": "content_block_start", "index": index, "content_block": start}));
        for piece in halves(&text) {
            let delta = json!({"type": field.0, (field.1): piece});
            all.push(json!({"type": "content_block_delta", "index": index, "delta": delta}));
        }
        all.push(json!({"type": "content_block_stop", "index": index}));
    }
    let usage = json!({"output_tokens": 20});
    let delta = json!({"stop_reason": "tool_use"});
    all.push(json!({"type": "message_delta", "delta": delta, "usage": usage}));
    all.push(json!({"type": "message_stop"}));
    events(&all)
}

fn content(message: &Message) -> Value {
    let role = match message.speaker {
        Speaker::Assistant => "model",
        _ => "user",
    };
    json!({"role": role, "parts": parts(message)})
}

fn parts(message: &Message) -> Vec<Value> {
    let mut parts = Vec::new();
    if !message.text.is_empty() {
        parts.push(json!({"text": message.text}));
    }
    parts.extend(message.calls.iter().map(
        |call| json!({"functionCall": {"id": call.id, "name": call.name, "args": call.arguments}}),
    ));
    parts.extend(message.results.iter().map(|result| {
        let response = json!({"output": result.text});
        json!({"functionResponse": {"id": result.call, "name": "bash", "response": response}})
    }));
    parts
}

/// Without a request for events, Gemini streams an array.
fn gemini_answer(reply: &Message, streamed: bool) -> String {
    let mut all: Vec<Value> = Vec::new();
    let mut add = |part: Value| {
        let content = json!({"role": "model", "parts": [part]});
        all.push(json!({"candidates": [{"content": content}], "modelVersion": "m-2026"}));
    };
    for piece in halves(&reply.reasoning) {
        add(json!({"text": piece, "thought": true}));
    }
    for piece in halves(&reply.text) {
        add(json!({"text": piece}));
    }
    for part in parts(reply)
        .into_iter()
        .filter(|part| part.get("text").is_none())
    {
        add(part);
    }
    let mut end = Map::new();
    end.insert("candidates".into(), json!([{"finishReason": "STOP"}]));
    end.insert("usageMetadata".into(), json!({"promptTokenCount": 1_000}));
    all.push(Value::Object(end));
    if streamed {
        events(&all)
    } else {
        Value::from(all).to_string()
    }
}
