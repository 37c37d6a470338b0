//! Tests with realistic requests and answers of each protocol.

use Protocol::{Chat, Gemini, Messages, Responses};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use serde_json::{Value, json};
use swe_ci_core::agent::{Endpoint, Protocol};
use swe_ci_core::usage::Usage;

use answers::streams;

use super::meter::Metered;
use super::*;

mod answers;
mod content;
mod requests;

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

fn metered<'a>(protocol: Protocol, pieces: impl IntoIterator<Item = &'a [u8]>) -> Metered {
    let mut meter = Meter::new(protocol);
    for piece in pieces {
        meter.take(piece);
    }
    Metered {
        says: false,
        said: String::new(),
        is_uncounted: false,
        unknown_end: None,
        ..meter.finish()
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
