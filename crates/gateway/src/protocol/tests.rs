//! Tests with realistic requests and answers of each protocol.

use Protocol::{Chat, Gemini, Messages, Responses};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use serde_json::{Value, json};
use swe_ci_core::agent::{Endpoint, Protocol};
use swe_ci_core::usage::Usage;

use super::meter::Metered;
use super::*;

fn usage(input: u64, cached: u64, output: u64, reasoning: u64) -> Option<Usage> {
    Some(Usage {
        input_tokens: input,
        output_tokens: output,
        cached_tokens: cached,
        reasoning_tokens: reasoning,
    })
}

fn endpoint(protocol: Protocol, parameters: &Value) -> Endpoint {
    serde_json::from_value(json!({
        "protocol": protocol,
        "url": "https://api.example.org/v1",
        "model": "the/model 1",
        "parameters": parameters,
    }))
    .unwrap()
}

fn request(path: &str, body: &str) -> AgentRequest {
    parse_request(&call(&Method::POST, path).unwrap(), body.as_bytes()).unwrap()
}

#[test]
fn paths_name_the_call() {
    let check = |method: Method, path: &str, expect: Option<(Protocol, bool, &str)>| {
        let found = match call(&method, path) {
            Some(Call::Ask(route)) => Some((route.protocol, false, route.query)),
            Some(Call::CountTokens(route)) => Some((route.protocol, true, route.query)),
            Some(Call::Models) | None => None,
        };
        let found = found.map(|(protocol, counts, query)| (protocol, counts, query.unwrap_or("")));
        assert_eq!(found, expect, "{path}");
    };
    let post = || Method::POST;
    check(post(), "/v1/chat/completions", Some((Chat, false, "")));
    check(post(), "/v1/responses?x=1", Some((Responses, false, "")));
    check(post(), "/v1/messages", Some((Messages, false, "")));
    check(
        post(),
        "/v1/messages?beta=true",
        Some((Messages, false, "beta=true")),
    );
    check(
        post(),
        "/v1/messages/count_tokens?a&beta=true",
        Some((Messages, true, "beta=true")),
    );
    let stream = "/v1beta/models/m:streamGenerateContent?alt=sse&key=t";
    check(post(), stream, Some((Gemini, false, "alt=sse")));
    check(
        post(),
        "/v1beta/models/m:generateContent",
        Some((Gemini, false, "")),
    );
    check(
        post(),
        "/v1beta/models/m:countTokens",
        Some((Gemini, true, "")),
    );
    for path in ["/v1/models", "/v1beta/models?pageSize=5"] {
        assert_eq!(call(&Method::GET, path), Some(Call::Models));
    }
}

/// A provider remembers, fetches and executes behind all other addresses.
#[test]
fn other_paths_are_closed() {
    let closed = "/ /v1/embeddings /v1/completions /v1/files /v1/files/file-1/content /v1/uploads \
        /v1/batches /v1/containers /v1/containers/cntr_1/files /v1/vector_stores/vs_1/search \
        /v1/conversations /v1/conversations/conv_1/items /v1/responses/resp_1 \
        /v1/responses/resp_1/cancel /v1/responses/resp_1/input_items /v1/responses/compact \
        /v1/chat/completions/chatcmpl_1 /v1/assistants /v1/threads /v1/threads/runs /v1/evals \
        /v1/fine_tuning/jobs /v1/images/generations /v1/audio/speech /v1/realtime/sessions \
        /v1/messages/batches /v1/skills /v1/complete /v1/agents /v1/search /v1/models/m \
        /v1beta/models/m:embedContent /v1beta/models/m:batchGenerateContent \
        /v1beta/models/m:bidiGenerateContent /v1beta/cachedContents /v1beta/files \
        /upload/v1beta/files /v1beta/fileSearchStores /v1beta/interactions /v1beta/tunedModels \
        /v1beta/models/m:generateContent/ //v1/messages /v1/messages/ /v1/../v1/messages \
        /V1/messages /v1/messages%2Fbatches";
    for path in closed.split_whitespace() {
        for method in [Method::GET, Method::POST, Method::PUT, Method::DELETE] {
            assert_eq!(call(&method, path), None, "{method} {path}");
        }
    }
    for path in ["/v1/chat/completions", "/v1/responses", "/v1/messages"] {
        for method in [Method::GET, Method::PUT, Method::DELETE, Method::PATCH] {
            assert_eq!(call(&method, path), None, "{method} {path}");
        }
    }
}

#[test]
fn bodies_name_the_model_and_whether_to_stream() {
    let check = |path: &str, body: &str, expect: (&str, bool)| {
        let request = request(path, body);
        assert_eq!(
            (request.model.as_str(), request.streamed),
            expect,
            "{path} {body}"
        );
    };
    let chat = "/v1/chat/completions";
    check(chat, r#"{"model":"m"}"#, ("m", false));
    check(chat, r#"{"model":"m","stream":null}"#, ("m", false));
    check(chat, r#"{"model":"m","stream":true}"#, ("m", true));
    check(
        "/v1beta/models/a/b:1:streamGenerateContent",
        "{}",
        ("a/b:1", true),
    );
    check(
        "/v1beta/models/m:countTokens",
        r#"{"stream":true}"#,
        ("m", false),
    );

    let refuse = |body: &[u8], expect: &str| {
        let why = parse_request(&call(&Method::POST, chat).unwrap(), body).unwrap_err();
        assert!(why.contains(expect), "{why}");
    };
    refuse(b"", "not a JSON object: EOF");
    refuse(b"[]", "not a JSON object");
    refuse(b"{}", "`model` is missing");
    refuse(br#"{"model":7}"#, "`model` is missing");
    refuse(br#"{"tools":[],"tools":[]}"#, "occurs twice");
    refuse("[".repeat(100_000).as_bytes(), "not a JSON object");

    // Bytes that are no text, and any depth, are carried.
    let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    let body = format!(r#"{{"model":"m","tools":[],"metadata":{deep}}}"#);
    let found = request(chat, &body);
    let sent = found.outgoing(&endpoint(Chat, &json!({})), false).body;
    assert!(String::from_utf8_lossy(&sent).contains(&deep));
    assert!(found.body()["metadata"].is_array());
    let found = parse_request(&call(&Method::POST, chat).unwrap(), b"{\"model\":\"\xff\"}");
    assert_eq!(found.unwrap().model, "\u{fffd}");
}

#[test]
fn the_provider_is_sent_its_own_terms() {
    let check = |path: &str, body: &str, parameters: Value, address: &str, expect: &str| {
        let request = request(path, body);
        let out = request.outgoing(&endpoint(request.protocol, &parameters), false);
        let query = out
            .query
            .map(|query| format!("?{query}"))
            .unwrap_or_default();
        assert_eq!(format!("{}{query}", out.path), address);
        assert_eq!(String::from_utf8_lossy(&out.body), expect);
    };
    let chat = "/v1/chat/completions";
    check(
        chat,
        r#"{"model":"m","tools":[{"z":1,"a":2}],"temperature":1}"#,
        json!({"temperature": 0}),
        "/chat/completions",
        r#"{"tools":[{"z":1,"a":2}],"temperature":0,"model":"the/model 1"}"#,
    );
    check(
        chat,
        r#"{"model":"m","stream":true,"stream_options":{"x":1}}"#,
        json!({}),
        "/chat/completions",
        r#"{"stream":true,"stream_options":{"x":1,"include_usage":true},"model":"the/model 1"}"#,
    );
    // For providers without this option.
    check(
        chat,
        r#"{"model":"m","stream":true}"#,
        json!({"stream_options": null}),
        "/chat/completions",
        r#"{"stream":true,"model":"the/model 1"}"#,
    );
    // The provider is not to remember it.
    check(
        "/v1/responses",
        r#"{"model":"m","store": true}"#,
        json!({}),
        "/responses",
        r#"{"store":false,"model":"the/model 1"}"#,
    );
    check(
        "/v1/responses",
        r#"{"model":"m","stream":true,"reasoning":{"effort":"low","summary":"auto"}}"#,
        json!({"reasoning": {"effort": "high"}}),
        "/responses",
        r#"{"stream":true,"reasoning":{"summary":"auto","effort":"high"},"model":"the/model 1"}"#,
    );
    check(
        "/v1/messages?beta=true",
        r#"{"model":"m","max_tokens":1}"#,
        json!({"max_tokens": 9}),
        "/messages?beta=true",
        r#"{"max_tokens":9,"model":"the/model 1"}"#,
    );
    check(
        "/v1/messages/count_tokens",
        r#"{"model":"m","messages":[]}"#,
        json!({"max_tokens": 9}),
        "/messages/count_tokens",
        r#"{"messages":[],"model":"the/model 1"}"#,
    );
    check(
        "/v1beta/models/m:streamGenerateContent?alt=sse",
        r#"{"contents":[],"generationConfig":{"topP":1,"temperature":1}}"#,
        json!({"generationConfig": {"temperature": 0}}),
        "/models/the/model%201:streamGenerateContent?alt=sse",
        r#"{"contents":[],"generationConfig":{"topP":1,"temperature":0}}"#,
    );
    check(
        "/v1beta/models/m:countTokens",
        r#"{"generateContentRequest":{"model":"models/m","contents":[]}}"#,
        json!({"x": 1}),
        "/models/the/model%201:countTokens",
        r#"{"generateContentRequest":{"contents":[],"model":"models/the/model 1"}}"#,
    );
}

#[test]
fn requests_of_two_runs_normalise_to_the_same() {
    let check = |path: &str, one: Value, other: Value| {
        let normalised = |body: &Value| request(path, &body.to_string()).normalised();
        assert_eq!(normalised(&one), normalised(&other));
    };
    let chat = |id: &str, user: &str| {
        let call = json!({"id": id, "function": {"name": "bash", "arguments": "{\"id\":1}"}});
        json!({"model": "m", "user": user, "messages": [
            {"role": "assistant", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": id, "content": "1 passed in 0.0".to_owned() + id + "s"},
        ]})
    };
    check("/v1/chat/completions", chat("1", "a"), chat("2", "b"));
    let responses = |id: &str| {
        json!({"model": "m", "prompt_cache_key": id, "client_metadata": {"x": id}, "input": [
            {"type": "message", "content": [{"text": format!("<cwd>/app</cwd>\n{id}")}]},
            {"type": "function_call_output", "call_id": id, "output": "ok"},
        ]})
    };
    let ids = [
        "0198f2a1-7b3c-7def-8123-456789abcdef",
        "0198f2a1-ffff-7def-8123-456789abcdef",
    ];
    check("/v1/responses", responses(ids[0]), responses(ids[1]));
    let messages = |sum: &str, day: &str| {
        let line = format!("x-anthropic-billing-header: cc_version=2.1.329; cch={sum};");
        json!({"model": "m", "metadata": {"user_id": sum}, "system": [{"text": line}],
        "messages": [{"role": "user", "content": [
            {"type": "text", "text": format!("Today's date is {day}.")},
            {"type": "tool_result", "tool_use_id": sum},
        ]}]})
    };
    check(
        "/v1/messages",
        messages("1", "2026-11-21"),
        messages("2", "November 22, 2026"),
    );
    let gemini =
        |id: &str| json!({"contents": [{"parts": [{"functionCall": {"id": id, "name": "n"}}]}]});
    check("/v1beta/models/m:generateContent", gemini("1"), gemini("2"));

    let one = request("/v1/chat/completions", r#"{"model":"m","messages":["a"]}"#);
    let other = request("/v1/chat/completions", r#"{"model":"m","messages":["b"]}"#);
    assert_ne!(one.normalised(), other.normalised());
}

/// Streams that are complete only with their last event, and their usage.
fn streams() -> Vec<(Protocol, String, Option<Usage>)> {
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

fn metered<'a>(protocol: Protocol, pieces: impl IntoIterator<Item = &'a [u8]>) -> Metered {
    let mut meter = Meter::new(protocol);
    for piece in pieces {
        meter.take(piece);
    }
    Metered {
        says: false,
        said: String::new(),
        is_uncounted: false,
        odd_end: None,
        ..meter.finish()
    }
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

/// As some providers write them into each event.
#[test]
fn fields_without_content_say_nothing() {
    for error in [
        json!(null),
        json!(""),
        json!(false),
        json!({"message": "", "type": "", "param": "", "code": null}),
    ] {
        let events = [
            json!({"choices": [{"delta": {"content": "rea"}, "finish_reason": ""}], "error": error}),
            json!({"choices": [{"delta": {"content": "dy"}, "finish_reason": "null"}], "error": error}),
            json!({"choices": [{"delta": {}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 1e300, "completion_tokens": u64::MAX}}),
        ];
        let mut meter = Meter::new(Chat);
        meter.take(b": waiting\n\n");
        assert_eq!(meter.work(), 0);
        for event in &events[..2] {
            meter.take(format!("data: {event}\n\n").as_bytes());
        }
        assert_eq!(meter.work(), 2);
        meter.take(format!("data: {}\n\n", events[2]).as_bytes());
        let found = meter.finish();
        assert!(found.complete && found.is_uncounted, "{found:?}");
        assert_eq!((found.error, found.odd_end), (None, None));
        assert_eq!(found.said, "ready");
        let cut = format!("data: {}\n\n", events[0]);
        assert!(!metered(Chat, [cut.as_bytes()]).complete);
    }
    let mut queue = Meter::new(Messages);
    queue.take(b"event: ping\ndata: {\"type\": \"ping\"}\n\n");
    assert_eq!(queue.work(), 0);
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

#[test]
fn errors_have_the_format_of_the_protocol() {
    let check = |protocol, problem, status: u16, expect: Value| {
        let (found, body) = error_body(protocol, problem, "why");
        assert_eq!(found, StatusCode::from_u16(status).unwrap());
        assert_eq!(serde_json::from_slice::<Value>(&body).unwrap(), expect);
    };
    let openai = |kind: &str, code: &str| json!({"error": {"message": "why", "type": kind, "param": null, "code": code}});
    let unknown = openai("invalid_request_error", "unknown_url");
    check(None, Problem::UnknownPath, 404, unknown);
    let token = openai("authentication_error", "invalid_api_key");
    check(Some(Responses), Problem::BadToken, 401, token);
    let spent = openai("insufficient_quota", "insufficient_quota");
    check(Some(Chat), Problem::BudgetSpent, 402, spent);
    let messages = |kind: &str| json!({"type": "error", "error": {"type": kind, "message": "why"}});
    check(
        Some(Messages),
        Problem::TooLarge,
        413,
        messages("request_too_large"),
    );
    check(
        Some(Messages),
        Problem::ProviderFailed,
        502,
        messages("api_error"),
    );
    let google = json!({"error": {"code": 400, "message": "why", "status": "INVALID_ARGUMENT"}});
    check(Some(Gemini), Problem::BadRequest, 400, google);
}

#[test]
fn keep_alive_has_no_effect_and_errors_end_a_stream() {
    let problem = Problem::ProviderFailed;
    for (protocol, stream, usage) in streams() {
        let alive = keep_alive(protocol, true);
        let answer = [alive, alive, stream.as_bytes()].concat();
        let expect = Metered {
            usage,
            complete: true,
            ..Metered::default()
        };
        assert_eq!(metered(protocol, [&answer[..]]), expect);

        let failed = [alive, &error_event(protocol, true, problem, "gone\n")].concat();
        let found = metered(protocol, [&failed[..]]);
        assert_eq!(
            (found.complete, found.error.as_deref()),
            (false, Some("gone\n"))
        );

        let alive = keep_alive(protocol, false);
        let failed = [alive, &error_event(protocol, false, problem, "gone")].concat();
        let found = metered(protocol, [&failed[..]]);
        assert_eq!(found.error.as_deref(), Some("gone"));
    }
}

#[test]
fn the_token_is_found_in_every_place() {
    let check = |headers: &[(&'static str, &'static str)], query, expect| {
        let pairs = headers.iter().map(|(name, value)| {
            let value = HeaderValue::from_bytes(value.as_bytes()).unwrap();
            (HeaderName::from_static(name), value)
        });
        assert_eq!(token(&pairs.collect::<HeaderMap>(), query), expect);
    };
    check(&[("authorization", "Bearer t")], None, Some("t"));
    check(&[("authorization", "bearer  t")], Some("key=u"), Some("t"));
    check(
        &[("authorization", "Basic t"), ("x-api-key", "u")],
        None,
        Some("u"),
    );
    check(&[("x-goog-api-key", "t")], None, Some("t"));
    check(&[("x-api-key", "ä")], None, None);
    check(&[], Some("alt=sse&key=t"), Some("t"));
    check(&[], Some("monkey=t&key="), None);
    check(&[("authorization", "Bearer")], None, None);
}

#[test]
fn keys_are_put_where_the_provider_wants_them_and_never_shown() {
    let check = |protocol, name: &str, value: &str| {
        let (found, header) = key_header(protocol, "sk-secret").unwrap();
        assert_eq!((found.as_str(), header.to_str().unwrap()), (name, value));
        assert!(!format!("{header:?}").contains("secret"));
    };
    check(Chat, "authorization", "Bearer sk-secret");
    check(Responses, "authorization", "Bearer sk-secret");
    check(Messages, "x-api-key", "sk-secret");
    check(Gemini, "x-goog-api-key", "sk-secret");
    let error = key_header(Chat, "sk-secret\n").unwrap_err();
    assert!(!format!("{error} {error:?}").contains("secret"));
}

#[test]
fn few_headers_pass() {
    let check = |name: &'static str, expect: (bool, bool)| {
        let name = HeaderName::from_static(name);
        assert_eq!(
            (passed_on_request(&name), passed_on_response(&name)),
            expect
        );
    };
    check("content-type", (true, true));
    check("anthropic-version", (true, false));
    check("retry-after", (false, true));
    check("content-length", (false, false));
    for name in [
        "authorization",
        "x-api-key",
        "x-goog-api-key",
        "cookie",
        "set-cookie",
        "host",
    ] {
        check(name, (false, false));
    }
}

#[test]
fn the_list_of_models_has_the_format_of_its_path() {
    let read = |path| serde_json::from_slice::<Value>(&models_body(path, "m")).unwrap();
    assert_eq!(read("/v1/models")["data"][0]["id"], "m");
    assert_eq!(read("/v1beta/models")["models"][0]["name"], "models/m");
}

#[test]
fn an_answer_says_something_or_does_not() {
    let check = |protocol, answer: Value, says: bool, odd_end: Option<&str>| {
        let mut meter = Meter::new(protocol);
        meter.take(answer.to_string().as_bytes());
        let found = meter.finish();
        assert_eq!(
            (found.says, found.odd_end.as_deref()),
            (says, odd_end),
            "{answer}"
        );
    };
    let chat = |message: Value, end: &str| json!({"choices": [{"message": message, "finish_reason": end}]});
    check(Chat, chat(json!({"content": "hi"}), "stop"), true, None);
    check(Chat, chat(json!({"content": ""}), "stop"), false, None);
    check(
        Chat,
        chat(json!({"role": "assistant", "content": null}), "stop"),
        false,
        None,
    );
    check(
        Chat,
        chat(
            json!({"content": null, "tool_calls": [{"id": "a", "type": "function", "function": {"name": "ls"}}]}),
            "tool_calls",
        ),
        true,
        None,
    );
    for nothing in [
        json!({"content": " \n"}),
        json!({"content": [{"type": "text", "text": ""}]}),
        json!({"content": null, "provider_specific_fields": {"x": null}}),
        json!({"content": null, "tool_calls": [{"id": "a", "index": 0, "function": {"name": ""}}]}),
    ] {
        check(Chat, chat(nothing, "stop"), false, None);
    }
    check(
        Messages,
        json!({"content": [{"type": "text", "text": ""}], "stop_reason": "end_turn"}),
        false,
        None,
    );
    let item = json!({"type": "message", "id": "m", "role": "assistant", "status": "completed",
        "content": [{"type": "output_text", "text": "", "annotations": []}]});
    check(
        Responses,
        json!({"status": "completed", "output": [item]}),
        false,
        None,
    );
    check(
        Chat,
        chat(json!({"content": "", "reasoning_content": "hm"}), "stop"),
        true,
        None,
    );
    // All of the limit went into thoughts that are not shown.
    check(Chat, chat(json!({"content": ""}), "length"), true, None);
    check(
        Chat,
        chat(json!({"content": "ha"}), "network_error"),
        true,
        Some("network_error"),
    );
    check(Chat, json!({"choices": []}), false, None);
    check(
        Messages,
        json!({"content": [], "stop_reason": "end_turn"}),
        false,
        None,
    );
    check(
        Messages,
        json!({"content": [], "stop_reason": "refusal"}),
        true,
        None,
    );
    check(
        Responses,
        json!({"status": "completed", "output": []}),
        false,
        None,
    );
    check(
        Responses,
        json!({"status": "cancelled", "output": [{"text": "half"}]}),
        true,
        Some("cancelled"),
    );
    check(
        Gemini,
        json!({"candidates": [{"finishReason": "OTHER"}]}),
        false,
        Some("OTHER"),
    );
    check(
        Gemini,
        json!({"promptFeedback": {"blockReason": "SAFETY"}}),
        true,
        None,
    );
}

#[test]
fn json_is_read_as_it_is_met() {
    let check = |answer: &str, expect: Option<Usage>| {
        let mut meter = Meter::new(Chat);
        meter.take(answer.as_bytes());
        let found = meter.finish();
        assert_eq!((found.complete, found.usage), (true, expect), "{answer}");
    };
    let with = |text: &str, tokens: &str| {
        format!(
            r#"{{"choices":[{{"message":{{"content":"{text}"}},"finish_reason":"stop"}}],"usage":{{"prompt_tokens":{tokens},"completion_tokens":3,"x":[NaN,-Infinity]}}}}"#
        )
    };
    check(&with(r"half \ud83d", "7"), usage(7, 0, 3, 0));
    check(
        &with(r#"NaN \ud83d\ude00 \ude00 \" \\"#, "7.0"),
        usage(7, 0, 3, 0),
    );
    let (raw, tokens) = (
        "a line\nand \t \u{1b}, \\d \\u12 \\x41",
        ["+7", "07", "7.", r#""7""#],
    );
    for tokens in tokens {
        check(&with(raw, tokens), usage(7, 0, 3, 0));
    }
    let read = |text: &str| read_json(text.as_bytes()).unwrap();
    assert_eq!(read("[.5, -01, \"\\d\n\"]"), json!([0.5, -1, "\\d\n"]));
    let marked = b"\xef\xbb\xbf{\"model\":\"m\"}";
    let marked = parse_request(
        &call(&Method::POST, "/v1/chat/completions").unwrap(),
        marked,
    );
    assert_eq!(marked.unwrap().model, "m");

    let parts = r#"[{"candidates": [{"content": {"parts": [{"text": "a"}]}}]},
        {"candidates": [{"finishReason": "STOP"}], "usageMetadata": {"promptTokenCount": 7}}]"#;
    for list in [
        parts.to_owned().into_bytes(),
        events_of_list(parts.as_bytes()).unwrap(),
    ] {
        let mut meter = Meter::new(Gemini);
        meter.take(&list);
        let found = meter.finish();
        let read = (found.complete, found.says, found.usage);
        assert_eq!(read, (true, true, usage(7, 0, 0, 0)));
    }
}
