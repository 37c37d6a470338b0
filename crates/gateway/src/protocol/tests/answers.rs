//! Answers are metered, in whatever pieces they come.

use super::*;

/// Streams that are complete only with their last event, and their usage.
pub(super) fn streams() -> Vec<(Protocol, String, Option<Usage>)> {
    vec![
        (
            Chat,
            r#"data: {"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"role":"assistant","content":"ä"},"finish_reason":null}],"usage":null}

: OPENROUTER PROCESSING

data: {"id":"c","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}

"#.into(),
            None,
        ),
        (
            Chat,
            r#"data: {"choices":[{"delta":{"content":"a"},"finish_reason":null}],"usage":{"prompt_tokens":1000,"completion_tokens":1,"total_tokens":1001}}

data: {"choices":[],"usage":{"prompt_tokens":1000,"completion_tokens":100,"total_tokens":1100,"prompt_tokens_details":{"cached_tokens":500},"completion_tokens_details":{"reasoning_tokens":10}}}

data: [DONE]

"#.into(),
            usage(1000, 500, 100, 10),
        ),
        (
            Responses,
            r#"event: response.created
data: {"type":"response.created","response":{"id":"r","status":"in_progress","output":[],"usage":null,"error":null}}

event: response.output_text.delta
data: {"type":"response.output_text.delta","delta":"a"}

event: response.completed
data: {"type":"response.completed","response":{"id":"r","status":"completed","error":null,"usage":{"input_tokens":1000,"input_tokens_details":{"cached_tokens":500},"output_tokens":100,"output_tokens_details":{"reasoning_tokens":10},"total_tokens":1100}}}

"#.into(),
            usage(1000, 500, 100, 10),
        ),
        (
            Messages,
            r#"event: message_start
data: {"type":"message_start","message":{"id":"m","content":[],"usage":{"input_tokens":100,"cache_read_input_tokens":500,"cache_creation_input_tokens":400,"output_tokens":1}}}

event: ping
data: {"type": "ping"}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"input_tokens":0,"output_tokens":100}}

event: message_stop
data: {"type":"message_stop"}

"#.into(),
            usage(1000, 500, 100, 0),
        ),
        (
            Gemini,
            "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"a\"}]}}],\"usageMetadata\":{\"promptTokenCount\":990,\"thoughtsTokenCount\":4}}\r\n\r\n\
            data: {\"candidates\":[{\"finishReason\":\"STOP\"}],\"usageMetadata\":{\"promptTokenCount\":990,\"toolUsePromptTokenCount\":10,\"cachedContentTokenCount\":500,\"candidatesTokenCount\":90,\"thoughtsTokenCount\":10,\"totalTokenCount\":1100}}\r\n\r\n".into(),
            usage(1000, 500, 100, 10),
        ),
    ]
}

#[test]
fn a_stream_is_metered_however_it_is_cut() {
    for (protocol, stream, usage) in streams() {
        let bytes = stream.as_bytes();
        let expect = Metered {
            usage,
            complete: true,
            ..Metered::default()
        };
        assert_eq!(metered(protocol, [bytes]), expect, "{stream}");
        assert_eq!(metered(protocol, bytes.chunks(1)), expect, "{stream}");
        for at in 0..bytes.len() {
            let (one, other) = bytes.split_at(at);
            assert_eq!(metered(protocol, [one, other]), expect, "{at}: {stream}");
        }
    }
}

#[test]
fn a_truncated_stream_is_not_complete() {
    for (protocol, stream, _) in streams() {
        // Some providers end without the empty line.
        let whole = stream.trim_end().len();
        for at in 0..whole {
            let found = metered(protocol, [&stream.as_bytes()[..at]]);
            assert!(!found.complete && found.error.is_none(), "{at}: {stream}");
        }
    }
}

#[test]
fn answers_in_one_piece_are_metered() {
    let check = |protocol, answer: Value, expect: Option<Usage>| {
        let text = answer.to_string();
        let bytes = text.as_bytes();
        let expect = Metered {
            usage: expect,
            complete: true,
            ..Metered::default()
        };
        for size in 1..=bytes.len() {
            let found = Metered {
                cut: None,
                ..metered(protocol, bytes.chunks(size))
            };
            assert_eq!(found, expect, "{text}");
        }
        for at in 0..bytes.len() {
            assert_eq!(metered(protocol, [&bytes[..at]]), Metered::default());
        }
    };
    let chat = |usage: Value| json!({"choices": [{"message": {}, "finish_reason": "stop"}], "usage": usage});
    check(
        Chat,
        chat(json!({"prompt_tokens": 7, "completion_tokens": 3})),
        usage(7, 0, 3, 0),
    );
    check(Chat, chat(json!({})), None);
    check(Chat, chat(json!("none")), None);
    // DeepSeek, Moonshot, xAI.
    let hit = json!({"prompt_tokens": 7, "completion_tokens": 3, "prompt_cache_hit_tokens": 5});
    check(Chat, chat(hit), usage(7, 5, 3, 0));
    let own = json!({"prompt_tokens": 7, "completion_tokens": 3, "cached_tokens": 9});
    check(
        Chat,
        json!({"choices": [{"usage": own}]}),
        usage(7, 7, 3, 0),
    );
    let apart = json!({"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 14,
        "completion_tokens_details": {"reasoning_tokens": 4}});
    check(Chat, chat(apart), usage(7, 0, 7, 4));
    check(
        Responses,
        json!({"status": "incomplete", "output": [], "usage": {"input_tokens": 7, "output_tokens": 3}}),
        usage(7, 0, 3, 0),
    );
    check(
        Messages,
        json!({"content": [], "stop_reason": "end_turn", "usage": {"input_tokens": 7,
            "cache_read_input_tokens": 2, "cache_creation_input_tokens": null, "output_tokens": 3}}),
        usage(9, 2, 3, 0),
    );
    check(
        Gemini,
        json!({"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"promptTokenCount": 7}}),
        usage(7, 0, 0, 0),
    );
    check(Messages, json!({"input_tokens": 7}), None);
    check(Gemini, json!({"totalTokens": 7}), None);
    let most = 100_000_000_u64;
    let counts = |n: u64| chat(json!({"prompt_tokens": n, "completion_tokens": n}));
    check(Chat, counts(most), usage(most, 0, most, 0));
    check(Chat, counts(most + 1), None);
    check(Chat, counts(u64::MAX), None);
}

#[test]
fn errors_inside_an_answer_are_found() {
    let check = |protocol, answer: &str, expect: &str| {
        let found = metered(protocol, [answer.as_bytes()]);
        assert_eq!(found.error.as_deref(), Some(expect), "{answer}");
        assert!(!found.complete, "{answer}");
    };
    let done = "data: {\"error\":{\"message\":\"overloaded\",\"code\":502}}\n\ndata: [DONE]\n\n";
    check(Chat, done, "overloaded");
    check(Chat, r#"{"error":"no such model"}"#, "no such model");
    let event = |data: &str| format!("event: x\ndata: {data}\n\n");
    let failed = r#"{"type":"response.failed","response":{"status":"failed","error":{"code":"server_error","message":"sorry"}}}"#;
    check(Responses, &event(failed), "sorry");
    let bare = r#"{"type":"response.failed","response":{"status":"failed","error":null}}"#;
    check(Responses, &event(bare), "the response failed");
    check(
        Responses,
        &event(r#"{"type":"error","message":"sorry"}"#),
        "sorry",
    );
    check(
        Responses,
        &event(r#"{"type":"error","error":{"x":1}}"#),
        r#"{"x":1}"#,
    );
    let overloaded =
        r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#;
    check(Messages, &event(overloaded), "Overloaded");
    check(Messages, overloaded, "Overloaded");
    let gemini = r#"{"error":{"code":503,"message":"try later","status":"UNAVAILABLE"}}"#;
    check(Gemini, &event(gemini), "try later");
    check(Gemini, gemini, "try later");
}

/// Every answer, with each byte replaced or removed, metered in every protocol:
/// nothing may panic.
#[test]
fn garbage_causes_no_panic() {
    for (_, stream, _) in streams() {
        let bytes = stream.as_bytes();
        for at in 0..bytes.len() {
            for put in [
                &b""[..],
                b"\n",
                b"\"",
                b"{",
                b"-",
                b"\xff",
                b"null,",
                b"9999999999",
            ] {
                let broken = [&bytes[..at], put, &bytes[at + 1..]].concat();
                for protocol in Protocol::ALL {
                    let _ = metered(protocol, [&broken[..]]);
                }
            }
        }
    }
}
