//! Fuzzes the gateway's protocols: a parsed request always goes to the configured
//! model, and the usage of an answer does not depend on how its bytes are split.
#![no_main]

use axum::http::Method;
use libfuzzer_sys::fuzz_target;
use serde_json::{Map, Value};
use swe_ci_core::agent::{Endpoint, Protocol};

use gateway::protocol::{Meter, call, parse_request};

/// The pure part of the gateway, without the rest, which would take long to
/// build.
#[allow(
    dead_code,
    unused_imports,
    reason = "the target uses only parsing and metering"
)]
#[path = "../../crates/gateway/src"]
mod gateway {
    pub mod protocol;
    pub mod sse;
}

const MODEL: &str = "configured-1";

fuzz_target!(|bytes: &[u8]| {
    let Some((&choice, bytes)) = bytes.split_first() else {
        return;
    };
    let protocol = Protocol::ALL[usize::from(choice) % Protocol::ALL.len()];
    ask(protocol, bytes);
    for streamed in [false, true] {
        answer(protocol, streamed, bytes, usize::from(choice / 4) + 1);
    }
});

fn ask(protocol: Protocol, bytes: &[u8]) {
    let path = match protocol {
        Protocol::Chat => "/v1/chat/completions",
        Protocol::Responses => "/v1/responses",
        Protocol::Messages => "/v1/messages",
        Protocol::Gemini => "/v1beta/models/any:streamGenerateContent?alt=sse",
    };
    let call = call(&Method::POST, path).expect("a path of the gateway");
    let Ok(request) = parse_request(&call, bytes) else {
        return;
    };
    let _ = request.normalised();
    let endpoint = endpoint(protocol);
    let outgoing = request.outgoing(&endpoint);
    let sent: Value =
        serde_json::from_slice(&outgoing.body).expect("the outgoing body must be JSON");
    assert_eq!(sent["effort"], "low", "configured parameters must win");
    match protocol {
        Protocol::Gemini => assert!(outgoing.path.contains(MODEL)),
        _ => assert_eq!(sent["model"], MODEL),
    }
    let again = parse_request(&call, &outgoing.body).expect("the outgoing body must parse");
    assert_eq!(again.outgoing(&endpoint), outgoing);
}

fn endpoint(protocol: Protocol) -> Endpoint {
    Endpoint {
        protocol,
        url: "http://provider".into(),
        model: MODEL.into(),
        key: None,
        parameters: Map::from_iter([("effort".into(), "low".into())]),
        prices: None,
        recording: None,
    }
}

fn answer(protocol: Protocol, streamed: bool, bytes: &[u8], size: usize) {
    let metered = |size: usize| {
        let mut meter = Meter::new(protocol, streamed);
        bytes.chunks(size).for_each(|piece| meter.take(piece));
        meter.finish()
    };
    let found = metered(bytes.len().max(1));
    assert_eq!(metered(size), found);
    if let Some(usage) = found.usage {
        assert!(usage.cached_tokens <= usage.input_tokens);
        assert!(usage.reasoning_tokens <= usage.output_tokens);
    }
}
