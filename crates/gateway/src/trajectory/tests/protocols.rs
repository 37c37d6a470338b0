//! Tests of the parsers, with all protocols and with odd inputs.

use super::*;
use crate::trajectory::parsers;

const USUAL: &str = "\
-- 1 3 4
system: You are an agent that writes code.
user: Make `double` work.
agent: (Where is it?) Let me look. bash{\"command\":\"ls\"}
=> double.py tests
agent: write{\"content\":\"def double(x):\\n\\treturn 2 * x # “ä”\\n\",\"filePath\":\"double.py\"} bash{\"command\":\"pytest\",\"timeout\":60}
=> done
=> 1 passed
user: Two messages are left.
agent: It works now.
-- 2
system: You make titles.
user: A title for this: Make `double` work.
agent: Doubling";

#[test]
fn a_conversation_gives_the_same_text_in_every_protocol() {
    for protocol in Protocol::ALL {
        for streamed in [true, false] {
            let text = transcript_text(&usual((protocol, streamed)));
            // Anthropic's system prompt is a list here, with one short item.
            let text = text.replace("system: short\n", "");
            assert_eq!(text, USUAL, "{protocol} {streamed}");
        }
    }
}

fn answered(protocol: Protocol, streamed: bool, status: u16, response: &str) -> Answer {
    let mut exchange = exchange((protocol, streamed), 1, SYSTEM, &[user("?")], &agent(""));
    exchange.status = status;
    response.clone_into(&mut exchange.response);
    parsers::answer(&exchange)
}

#[test]
fn every_truncated_stream_is_parsed_as_far_as_it_goes() {
    let (look, edits, _) = usual_answers();
    for (protocol, expected) in Protocol::ALL
        .into_iter()
        .flat_map(|p| [(p, &look), (p, &edits)])
    {
        let stream = wire::answer(protocol, true, expected);
        let mut torn = 0;
        let ends = (0..=stream.len()).filter(|end| stream.is_char_boundary(*end));
        for end in ends {
            let message = answered(protocol, true, 200, &stream[..end]).message;
            assert!(expected.text.starts_with(&message.text), "{protocol} {end}");
            assert!(
                expected.reasoning.starts_with(&message.reasoning),
                "{protocol} {end}"
            );
            assert!(message.notes.is_empty(), "{protocol} {end}");
            assert!(
                message.calls.len() <= expected.calls.len(),
                "{protocol} {end}"
            );
            for (call, whole) in message.calls.iter().zip(&expected.calls) {
                let written = whole.arguments.to_string();
                match &call.arguments {
                    Value::String(text) if written.starts_with(text) => torn += 1,
                    arguments => {
                        let known = *arguments == whole.arguments || *arguments == json!({});
                        assert!(known, "{protocol} {end} {arguments}");
                    }
                }
            }
        }
        // Only Gemini sends arguments in one piece.
        assert_eq!(torn == 0, protocol == Protocol::Gemini, "{protocol}");
        assert_eq!(
            answered(protocol, true, 200, &stream).message,
            *expected,
            "{protocol}"
        );
    }
}

#[test]
fn odd_answers_are_preserved() {
    let check = |protocol, streamed, status, response: &str, expect: &str| {
        let answer = answered(protocol, streamed, status, response);
        assert_eq!(line(&answer.message), expect, "{protocol} {response}");
    };
    let chat = |delta: Value| json!({"choices": [{"delta": delta}]});
    let stream = |deltas: &[Value]| {
        let all: Vec<Value> = deltas.iter().map(|delta| chat(delta.clone())).collect();
        wire::events(&all)
    };
    // Refusals, and pages that are not JSON.
    check(
        Protocol::Chat,
        false,
        429,
        "{\"error\": {\"message\": \"slow down\"}}",
        "agent: {\"error\": {\"message\": \"slow down\"}} [an error with status 429, no answer]",
    );
    check(
        Protocol::Messages,
        false,
        200,
        "<html>",
        "agent: <html> [the answer is not JSON]",
    );
    check(
        Protocol::Gemini,
        false,
        200,
        "[]",
        "agent: [] [the answer is not JSON]",
    );
    check(Protocol::Gemini, false, 200, "7", "agent:");
    // A stream with an invalid event, and with an error in the middle.
    check(
        Protocol::Chat,
        true,
        200,
        "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\ndata: {oops\n\ndata: [DONE]\n\n",
        "agent: a [an event of the stream is not JSON: {oops]",
    );
    check(
        Protocol::Messages,
        true,
        200,
        &wire::events(&[json!({"type": "error", "error": {"type": "overloaded_error"}})]),
        "agent: [the provider reported an error: {\"type\":\"overloaded_error\"}]",
    );
    check(
        Protocol::Responses,
        true,
        200,
        &wire::events(&[json!({"type": "error", "code": "x"})]),
        "agent: [the provider reported an error: {\"code\":\"x\",\"type\":\"error\"}]",
    );
    // Calls without indices, or all with index 0.
    let piece = |id: Value, name: Value, arguments: &str| {
        let function = json!({"name": name, "arguments": arguments});
        json!({"tool_calls": [{"id": id, "function": function}]})
    };
    let mut pieces = [
        piece("a".into(), "one".into(), "{\"x\":"),
        piece(Value::Null, Value::Null, "1}"),
        piece("b".into(), "two".into(), ""),
    ];
    let expect = "agent: one{\"x\":1} two{}";
    check(Protocol::Chat, true, 200, &stream(&pieces), expect);
    for piece in &mut pieces {
        piece["tool_calls"][0]["index"] = 0.into();
    }
    check(Protocol::Chat, true, 200, &stream(&pieces), expect);
    // Arguments that are not JSON, or not an object.
    let call = piece("a".into(), "one".into(), "ls -l");
    check(
        Protocol::Chat,
        true,
        200,
        &stream(&[call]),
        "agent: one\"ls -l\"",
    );
    let call = piece("a".into(), "one".into(), "[1]");
    check(
        Protocol::Chat,
        true,
        200,
        &stream(&[call]),
        "agent: one\"[1]\"",
    );
    // Free-form tools, and tools of the provider.
    let output = json!([
        {"type": "custom_tool_call", "call_id": "c", "name": "apply_patch", "input": "*** Begin"},
        {"type": "local_shell_call", "call_id": "d", "action": {"command": ["ls"]}},
        {"type": "message", "role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]},
    ]);
    check(
        Protocol::Responses,
        false,
        200,
        &json!({"output": output}).to_string(),
        "agent: No. apply_patch\"*** Begin\" local_shell{\"command\":[\"ls\"]}",
    );
    // Events without an item index.
    let item = |name: &str, arguments: &str| json!({"type": "function_call", "call_id": name, "name": name, "arguments": arguments});
    let event = |what: &str, item: Value| json!({"type": format!("response.output_item.{what}"), "item": item});
    let kind = "response.function_call_arguments.delta";
    check(
        Protocol::Responses,
        true,
        200,
        &wire::events(&[
            event("done", item("one", "{}")),
            event("added", item("two", "")),
            json!({"type": kind, "delta": "{\"x\":2}"}),
            event("done", item("two", "{\"x\":2}")),
            event("added", item("three", "")),
            json!({"type": kind, "delta": "{\"x\":3}"}),
        ]),
        "agent: one{} two{\"x\":2} three{\"x\":3}",
    );
    // Peculiarities of Gemini.
    let parts = json!([
        {"text": "hm", "thought": true},
        {"executableCode": {"code": "1+1"}},
        {"functionCall": {"name": "f"}},
    ]);
    check(
        Protocol::Gemini,
        false,
        200,
        &json!({"candidates": [{"content": {"parts": parts}}]}).to_string(),
        "agent: (hm) {\"executableCode\":{\"code\":\"1+1\"}} f{}",
    );
}

#[test]
fn odd_requests_are_preserved() {
    let check = |protocol, body: Value, expect: &[&str]| {
        let mut exchange = exchange((protocol, true), 1, SYSTEM, &[], &agent(""));
        exchange.request = body.clone();
        let request = parsers::request(&exchange);
        let instructions = request
            .instructions
            .iter()
            .map(|text| format!("system! {text}"));
        let lines: Vec<String> = instructions
            .chain(request.messages.iter().map(line))
            .collect();
        assert_eq!(lines, expect, "{body}");
    };
    let unread = "[this could not be parsed and is shown unchanged]";
    let all = [
        ("messages", Protocol::Chat),
        ("messages", Protocol::Messages),
        ("contents", Protocol::Gemini),
        ("input", Protocol::Responses),
    ];
    for (field, protocol) in all {
        check(protocol, json!("left out"), &[]);
        check(protocol, json!({(field): 7}), &[]);
        let line = format!("user: 7 {unread}");
        check(protocol, json!({(field): [7]}), &[&line]);
        let line = format!("user: {{\"role\":\"bishop\",\"type\":\"x\"}} {unread}");
        let bishop = json!({(field): [{"role": "bishop", "type": "x"}]});
        check(protocol, bishop, &[&line]);
    }
    let picture = json!({"type": "image_url", "image_url": {"url": "x".repeat(20_000)}});
    let content = json!([{"type": "text", "text": "look"}, picture]);
    check(
        Protocol::Chat,
        json!({"messages": [
            {"role": "developer", "content": "a"},
            {"role": "system", "content": "b"},
            {"role": "user", "content": content},
            {"role": "system", "content": "c"},
            {"role": "assistant", "content": null, "reasoning": "r"},
            {"role": "assistant", "content": "t"},
            {"role": "user", "content": ""},
        ]}),
        &[
            "system! a",
            "system! b",
            "user: look [image_url, 20043 bytes]",
            "system: c",
            "agent: (r) t",
        ],
    );
    check(
        Protocol::Responses,
        json!({"instructions": "a", "input": "b"}),
        &["system! a", "user: b"],
    );
    check(
        Protocol::Messages,
        json!({"system": "a", "messages": [
            {"role": "user", "content": "b"},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "x", "is_error": true, "content": "r"},
                {"type": "text", "text": "c"},
            ]},
        ]}),
        &["system! a", "user: b", "tool: r", "user: c"],
    );
    check(
        Protocol::Gemini,
        json!({"system_instruction": {"parts": [{"text": "a"}]}, "contents": [
            {"parts": [{"text": "b"}, {"text": "c"}]},
            {"role": "user", "parts": [
                {"functionResponse": {"name": "f", "response": {"error": "no such file"}}},
                {"function_response": {"name": "f", "response": {"stdout": "1"}}},
            ]},
        ]}),
        &[
            "system! a",
            "user: b c",
            "tool: no such file",
            "tool: {\"stdout\":\"1\"}",
        ],
    );
}
