//! Tests of the gateway with working and failing providers: forwarding,
//! counting, refusals. (Other tests cover containers.)

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::body::Body;
use axum::http::{Request, Response, StatusCode, header};
use futures::StreamExt;
use futures::future::join_all;
use serde_json::{Value, json};
use swe_ci_base::clock::now_ms;
use swe_ci_core::agent::{Budget, Endpoint, Protocol};
use swe_ci_core::permissions::{Reach, RunPermissions};
use swe_ci_core::usage::{Traffic, Usage};
use swe_ci_testing::scripted::{FAULTS, Fault, Script, ScriptedLlm, Seen, Turn};
use tower::ServiceExt;

use super::{
    Exchange, Gateway, GatewaySession, Ledger, Recording, RetryPolicy, SessionConfig, StopReason,
    UsageStore,
};
use crate::session::Account;

mod faults;
mod in_process;
mod permissions;
mod usage;
mod waiting;

const KEY: &str = "sk-real-key";
const MODEL: &str = "scripted-1";
const PROMPT: &str = "You are the programmer of a project.";

struct Fixture {
    gateway: Gateway,
    llm: ScriptedLlm,
    _folder: tempfile::TempDir,
}

impl Fixture {
    /// The same gateway with a provider of its own.
    async fn beside(&self) -> Self {
        let script = Script::new(vec![], vec![Turn::bash("true")]);
        Self {
            gateway: self.gateway.clone(),
            llm: ScriptedLlm::start(script, KEY).await.unwrap(),
            _folder: tempfile::tempdir().unwrap(),
        }
    }

    const POLICY: RetryPolicy = RetryPolicy {
        keep_alive: Duration::from_millis(50),
        first_pause: Duration::from_millis(20),
        probe_limit: Duration::from_secs(3),
        longest_silence: Duration::from_millis(200),
        queue: Duration::from_millis(500),
    };

    async fn new() -> Self {
        Self::with(Self::POLICY).await
    }

    async fn with(retry_policy: RetryPolicy) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let script = Script::new(vec![], vec![Turn::bash("true")]);
        Self {
            gateway: Gateway::with_retry_policy(folder.path().join("gateway"), retry_policy)
                .unwrap(),
            llm: ScriptedLlm::start(script, KEY).await.unwrap(),
            _folder: folder,
        }
    }

    fn config(&self, protocol: Protocol) -> SessionConfig {
        let budget = Budget::default();
        let ledger = Ledger::new(budget, now_ms(), Usage::default(), Traffic::default());
        SessionConfig {
            endpoint: Endpoint {
                protocol,
                url: self.llm.url(protocol),
                model: MODEL.into(),
                key: Some("k".into()),
                ..Endpoint::default()
            },
            grant: RunPermissions::default(),
            keys: [("k".to_owned(), KEY.to_owned().into())].into(),
            recording: None,
            ledger: Arc::new(ledger),
            evolution_ledger: None,
            usage_store: None,
            patience: Duration::from_secs(10),
            allow_hosted_tools: false,
            step: "run/evolution/1/programmer".into(),
        }
    }

    fn session(&self, protocol: Protocol) -> GatewaySession {
        self.gateway.open(None, self.config(protocol)).unwrap()
    }
}

/// The path and the body of a first request.
fn first_request(protocol: Protocol, streamed: bool) -> (String, Value) {
    match protocol {
        Protocol::Chat => (
            "/v1/chat/completions".into(),
            json!({ "model": MODEL, "stream": streamed, "tools": tools(), "messages": [{ "role": "user", "content": PROMPT }] }),
        ),
        Protocol::Responses => (
            "/v1/responses".into(),
            json!({ "model": MODEL, "stream": streamed, "input": [{ "type": "message", "role": "user", "content": [{ "type": "input_text", "text": PROMPT }] }],
                    "tools": [{ "type": "function", "name": "exec_command", "parameters": command("cmd") }] }),
        ),
        Protocol::Messages => (
            "/v1/messages".into(),
            json!({ "model": MODEL, "stream": streamed, "max_tokens": 1000, "messages": [{ "role": "user", "content": PROMPT }],
                    "tools": [{ "name": "Bash", "input_schema": command("command") }] }),
        ),
        Protocol::Gemini => {
            let call = if streamed {
                "streamGenerateContent"
            } else {
                "generateContent"
            };
            (
                format!("/v1beta/models/{MODEL}:{call}"),
                json!({ "contents": [{ "role": "user", "parts": [{ "text": PROMPT }] }],
                        "tools": [{ "functionDeclarations": [{ "name": "run_shell_command", "parameters": command("command") }] }] }),
            )
        }
    }
}

fn tools() -> Value {
    json!([{ "type": "function", "function": { "name": "bash", "parameters": command("command") } }])
}

/// The schema of a tool that runs a command.
fn command(argument: &str) -> Value {
    json!({ "type": "object", "properties": { argument: { "type": "string" } }, "required": [argument] })
}

async fn send(session: &GatewaySession, path: &str, token: &str, body: &Value) -> Response<Body> {
    let request = Request::post(path)
        .header("x-api-key", token)
        .header(header::CONTENT_TYPE, "application/json")
        .body(Body::from(body.to_string()))
        .unwrap();
    session.router().oneshot(request).await.unwrap()
}

async fn ask(session: &GatewaySession, protocol: Protocol, streamed: bool) -> (StatusCode, String) {
    let (path, body) = first_request(protocol, streamed);
    let response = send(session, &path, session.token(), &body).await;
    let status = response.status();
    (status, text(response).await)
}

async fn text(response: Response<Body>) -> String {
    let mut pieces = response.into_body().into_data_stream();
    let mut bytes = Vec::new();
    while let Some(Ok(piece)) = pieces.next().await {
        bytes.extend_from_slice(&piece);
    }
    String::from_utf8(bytes).unwrap()
}

fn exchanges(account: &Account) -> Vec<Exchange> {
    Exchange::parse_lines(account.recording.as_deref().unwrap_or_default()).unwrap()
}

#[tokio::test]
async fn every_protocol_is_forwarded_and_counted() {
    let fixture = Fixture::new().await;
    for protocol in Protocol::ALL {
        for streamed in [false, true] {
            let session = fixture.session(protocol);
            let (status, answer) = ask(&session, protocol, streamed).await;
            assert_eq!(status, 200, "{protocol} {answer}");
            let account = session.close().await;
            let what = format!("{protocol} streamed {streamed}: {account:?}");
            assert_eq!(account.usage.input_tokens, 1_000, "{what}");
            assert_eq!(account.usage.output_tokens, 100, "{what}");
            assert_eq!(
                (account.traffic.requests, account.trouble.clone()),
                (1, None),
                "{what}"
            );
            let recorded = exchanges(&account);
            assert_eq!(recorded[0].response, answer);
            assert!(
                recorded[0].complete && recorded[0].streamed == streamed,
                "{what}"
            );
            let recording = String::from_utf8(account.recording.unwrap()).unwrap();
            assert!(
                !recording.contains(KEY) && !recording.contains("swe-ci-"),
                "{recording}"
            );
        }
    }
    assert!(
        fixture
            .llm
            .seen()
            .iter()
            .all(|request| request.key.as_deref() == Some(KEY))
    );
}

/// A proxy of the user's tells steps apart, and has a key of its own.
#[tokio::test]
async fn requests_and_probes_have_the_configured_headers() {
    let fixture = Fixture::new().await;
    fixture.llm.fault_first(1, Fault::status(400));
    let mut config = fixture.config(Protocol::Chat);
    let headers = json!({"x-team": "a b", "user-agent": "mine", "x-proxy": {"key": "proxy"}});
    config.endpoint.headers = serde_json::from_value(headers).unwrap();
    config
        .keys
        .insert("proxy".into(), "sk-proxy".to_owned().into());
    let session = fixture.gateway.open(None, config).unwrap();
    ask(&session, Protocol::Chat, true).await;
    let account = session.close().await;
    assert!(account.traffic.probes > 0);
    let seen = fixture.llm.seen();
    assert_eq!(seen.len(), 3);
    for seen in seen {
        let sent = |name: &str| seen.headers.get_all(name).iter().collect::<Vec<_>>();
        assert_eq!(sent("x-team"), ["a b"]);
        assert_eq!(sent("user-agent"), ["mine"]);
        assert_eq!(sent("x-proxy"), ["sk-proxy"]);
        assert_eq!(sent("x-swe-ci-step"), ["run/evolution/1/programmer"]);
    }
    let recording = String::from_utf8(account.recording.unwrap()).unwrap();
    assert!(!recording.contains("sk-proxy"), "{recording}");
}

#[tokio::test]
async fn the_models_of_a_provider() {
    let fixture = Fixture::new().await;
    let config = fixture.config(Protocol::Chat);
    let list = async |reach, endpoint: &Endpoint| {
        let listed = fixture.gateway.models(reach, endpoint, &config.keys);
        listed.await
    };
    let models = list(Reach::Anywhere, &config.endpoint).await.unwrap();
    assert!(!models.is_empty());
    let keyless = Endpoint {
        key: None,
        ..config.endpoint.clone()
    };
    let refused = list(Reach::Anywhere, &keyless).await.unwrap_err();
    assert!(refused.contains("HTTP 401"), "{refused}");
    // The scripted provider runs on this machine.
    let url = config.endpoint.url.replace("127.0.0.1", "localhost");
    for url in [config.endpoint.url.clone(), url] {
        let inside = Endpoint {
            url,
            ..config.endpoint.clone()
        };
        let refused = list(Reach::Public, &inside).await.unwrap_err();
        assert!(refused.contains("private network"), "{refused}");
    }
}

/// A recording tells what the provider got.
#[tokio::test]
async fn parameters_of_the_configuration_are_recorded() {
    let fixture = Fixture::new().await;
    let mut config = fixture.config(Protocol::Chat);
    let temperature = ("temperature".to_owned(), json!(0.25));
    config.endpoint.parameters = [temperature].into_iter().collect();
    let session = fixture.gateway.open(None, config).unwrap();
    ask(&session, Protocol::Chat, false).await;
    let recorded = exchanges(&session.close().await).remove(0);
    assert_eq!(recorded.request.get("temperature"), None);
    assert_eq!(recorded.parameters["temperature"], json!(0.25));
}

#[tokio::test]
async fn a_socket_goes_with_its_step() {
    let fixture = Fixture::new().await;
    let socket_mount = fixture.gateway.socket_mount().unwrap();
    let socket = socket_mount.path().join(super::SOCKET);
    assert!(!socket.exists());
    let session = fixture
        .gateway
        .open(Some(&socket_mount), fixture.config(Protocol::Chat))
        .unwrap();
    tokio::net::UnixStream::connect(&socket).await.unwrap();
    session.close().await;
    assert!(!socket.exists());
    let path = socket_mount.path().to_owned();
    drop(socket_mount);
    assert!(!path.exists());
}
