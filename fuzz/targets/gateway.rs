//! What passes the gateway: a request of an agent program that is understood
//! goes on to the model that is configured, whatever else it says, and an answer
//! is counted alike however its bytes are cut.
#![no_main]

use axum::http::Method;
use libfuzzer_sys::fuzz_target;
use serde_json::{Map, Value};
use swe_ci_core::agent::{Endpoint, Protocol};

use gateway::protocol::{Meter, call, read};

/// The half of the gateway that does nothing but read and write, without the
/// engine around it, which would take long to build.
#[allow(
    dead_code,
    unused_imports,
    reason = "only what reads and counts is driven from here"
)]
#[path = "../../engine/src/gateway"]
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
    let Ok(asked) = read(&call, bytes) else {
        return;
    };
    let _ = asked.normalised();
    let endpoint = endpoint(protocol);
    let outgoing = asked.outgoing(&endpoint);
    let sent: Value = serde_json::from_slice(&outgoing.body).expect("what is sent is JSON");
    assert_eq!(sent["effort"], "low", "what is configured holds");
    match protocol {
        Protocol::Gemini => assert!(outgoing.path.contains(MODEL)),
        _ => assert_eq!(sent["model"], MODEL),
    }
    let again = read(&call, &outgoing.body).expect("what is sent can be read");
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
