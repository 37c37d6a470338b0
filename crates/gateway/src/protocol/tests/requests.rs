//! Requests, on their way to the provider.

use super::*;

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
    let sent = found
        .outgoing(&endpoint(Chat, &json!({})), Form::Streamed, false)
        .body;
    assert!(String::from_utf8_lossy(&sent).contains(&deep));
    assert!(found.body()["metadata"].is_array());
    let found = parse_request(&call(&Method::POST, chat).unwrap(), b"{\"model\":\"\xff\"}");
    assert_eq!(found.unwrap().model, "\u{fffd}");
}

#[test]
fn the_provider_is_sent_its_own_terms() {
    let check = |path: &str, body: &str, parameters: Value, address: &str, expect: &str| {
        let request = request(path, body);
        let out = request.outgoing(
            &endpoint(request.protocol, &parameters),
            Form::Streamed,
            false,
        );
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
