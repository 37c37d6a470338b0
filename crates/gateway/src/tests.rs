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
};
use crate::session::Account;

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

    async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let retry_policy = RetryPolicy {
            keep_alive: Duration::from_millis(50),
            first_pause: Duration::from_millis(20),
            probe_limit: Duration::from_secs(1),
            longest_silence: Duration::from_millis(200),
        };
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

#[tokio::test]
async fn who_may_not_is_told_why() {
    let fixture = Fixture::new().await;
    let session = fixture.session(Protocol::Chat);
    let (path, body) = first_request(Protocol::Chat, false);
    let other = json!({ "model": "dearer", "messages": [] });
    let big = json!({ "model": MODEL, "messages": "x".repeat(33 << 20) });
    let token = session.token().to_owned();
    let cases = [
        (path.as_str(), "guess", &body, 401, "token"),
        (&path, &token, &other, 404, "`dearer`"),
        (&path, &token, &json!([]), 400, "object"),
        ("/v1/embeddings", &token, &body, 404, "/v1/embeddings"),
        ("/v1/responses", &token, &body, 404, "`chat`"),
        (&path, &token, &big, 413, "bytes"),
    ];
    for (path, token, body, status, words) in cases {
        let response = send(&session, path, token, body).await;
        assert_eq!(response.status(), status, "{path}");
        let answer: Value = serde_json::from_str(&text(response).await).unwrap();
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(message.contains(words), "{message}");
    }
    assert_eq!(fixture.llm.seen().len(), 0);
    let account = session.close().await;
    assert_eq!((account.traffic.requests, account.recording), (0, None));
}

#[tokio::test]
async fn temporary_failures_are_retried() {
    let fixture = Fixture::new().await;
    for fault in [
        Fault::Status {
            code: 429,
            retry_after: Some(1),
        },
        Fault::status(500),
        Fault::status(503),
        Fault::Drop,
    ] {
        fixture.llm.fault_first(1, fault);
        let session = fixture.session(Protocol::Chat);
        let (status, answer) = ask(&session, Protocol::Chat, true).await;
        assert_eq!(status, 200, "{fault:?} {answer}");
        let account = session.close().await;
        assert_eq!(
            (account.traffic.retries, account.trouble.clone()),
            (1, None),
            "{fault:?}"
        );
        assert!(account.traffic.waiting_ms >= 10, "{account:?}");
        assert_eq!(exchanges(&account)[0].retries.len(), 1);
    }
}

#[tokio::test]
async fn keep_alive_is_sent_while_retrying() {
    let fixture = Fixture::new().await;
    for (streamed, sign) in [(true, ": waiting"), (false, "\n")] {
        fixture.llm.fault_first(
            1,
            Fault::Status {
                code: 429,
                retry_after: Some(3),
            },
        );
        let session = fixture.session(Protocol::Chat);
        let (path, body) = first_request(Protocol::Chat, streamed);
        let requests_before = fixture.llm.seen().len();
        let response = send(&session, &path, session.token(), &body).await;
        assert_eq!(
            fixture.llm.seen().len(),
            requests_before + 1,
            "the head must arrive before the retry"
        );
        let answer = text(response).await;
        assert!(answer.starts_with(sign), "{answer}");
        if !streamed {
            let answer: Value = serde_json::from_str(&answer).unwrap();
            assert!(answer["choices"].is_array());
        }
    }
}

/// Walks the table in docs/outcomes.md: each fault befalls an agent's request once, then
/// all requests of the agent's, then all requests.
#[tokio::test]
async fn a_probe_tells_whose_fault_a_failure_is() {
    let docs = include_str!("../../../docs/outcomes.md");
    let table = docs.split("| What came |").nth(1).unwrap();
    let rows = table
        .lines()
        .skip(2)
        .take_while(|line| line.starts_with('|'));
    let mut missing: BTreeMap<&str, Fault> = FAULTS.into();
    let fixture = Fixture::new().await;
    let mut walks = Vec::new();
    for row in rows {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").map(str::trim).collect();
        for name in cells[0].split(", ") {
            let fault = missing
                .remove(name)
                .unwrap_or_else(|| panic!("no fault {name}"));
            walks.push(walk(&fixture, fault, name, cells.clone()));
        }
    }
    assert!(missing.is_empty(), "not in the table: {missing:?}");
    let wrong: Vec<String> = join_all(walks).await.into_iter().flatten().collect();
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// What a row of the table says wrongly of a fault.
async fn walk(fixture: &Fixture, fault: Fault, name: &str, cells: Vec<&str>) -> Option<String> {
    let once = AtomicUsize::new(0);
    let is_first = move |seen: &Seen| {
        let asks = seen.turn.is_some();
        asks && once.fetch_add(1, Ordering::Relaxed) == 0
    };
    let (once, _) = suffer(fixture, fault, is_first).await;
    let (asked, said) = suffer(fixture, fault, |seen| seen.turn.is_some()).await;
    let (all, _) = suffer(fixture, fault, |_| true).await;
    let shown = said.contains(cells[4].trim_matches(['`', ' ']));
    let found = [once, asked, all];
    (found != cells[1..4] || !shown).then(|| format!("{name}: {found:?} {said}"))
}

/// The verdict on a request whose provider has a fault where `befalls` says so, and how
/// the fault is shown.
async fn suffer(
    fixture: &Fixture,
    fault: Fault,
    befalls: impl Fn(&Seen) -> bool + Send + Sync + 'static,
) -> (&'static str, String) {
    let fixture = fixture.beside().await;
    fixture
        .llm
        .fault_when(move |seen| befalls(seen).then_some(fault));
    let mut config = fixture.config(Protocol::Chat);
    config.patience = Duration::from_secs(2);
    let session = fixture.gateway.open(None, config).unwrap();
    let (status, answer) = ask(&session, Protocol::Chat, true).await;
    let account = session.close().await;
    let sent = fixture.llm.sent();
    assert_eq!(
        account.usage, sent,
        "{fault:?}: nothing is lost, probes are apart"
    );
    let recorded = &exchanges(&account)[0];
    let said = account.trouble.clone().or(recorded.error.clone());
    let said = said.unwrap_or_default();
    if account.trouble.is_some() {
        assert!(said.contains("a request of the platform's own"), "{said}");
        assert!(account.traffic.waiting_ms > 0, "the agent's clock stood");
        return ("`provider_failed`", said);
    }
    let verdict = match (recorded.error.is_some(), fault) {
        (false, _) => "answered",
        (true, Fault::Status { code, .. }) if status == code => "as it stood",
        // Keep-alive bytes came before.
        (true, Fault::Status { code, .. }) if answer.contains(&format!("HTTP {code}")) => {
            "as it stood"
        }
        (true, Fault::Body(_, body)) if answer.ends_with(body) => "as it stood",
        (true, Fault::Truncated | Fault::Malformed | Fault::Cut) => "as it stood",
        (true, _) if answer.contains("provider_failed") => "an error",
        (true, _) => "something else",
    };
    (verdict, said)
}

#[tokio::test]
async fn callers_in_this_process_stream_where_the_provider_can() {
    let fixture = Fixture::new().await;
    let late = Fault::Slow(Duration::from_millis(200));
    for (refusal, asked) in [
        (late, vec![json!(true)]),
        (Fault::status(400), vec![json!(true), json!(false)]),
    ] {
        let fixture = fixture.beside().await;
        let streams = |seen: &Seen| seen.body["stream"] == true;
        fixture
            .llm
            .fault_when(move |seen| streams(seen).then_some(refusal));
        let session = fixture.session(Protocol::Chat);
        let (_, body) = first_request(Protocol::Chat, false);
        let answer = session.chat(&body).await.unwrap().unwrap();
        let call = &answer.message.unwrap()["tool_calls"][0]["function"];
        assert_eq!(call["name"], "bash");
        let account = session.close().await;
        let seen = fixture.llm.seen();
        let seen: Vec<Value> = seen
            .iter()
            .map(|seen| seen.body["stream"].clone())
            .collect();
        assert_eq!(seen, asked);
        assert_eq!(account.usage.input_tokens, 1_000);
        assert_eq!((account.traffic.requests, account.traffic.probes), (1, 0));
        let waited = account.traffic.waiting_ms >= 150;
        assert_eq!(
            waited,
            refusal == late,
            "the clock stands until the first byte"
        );
        let again = fixture.session(Protocol::Chat);
        again.chat(&body).await.unwrap().unwrap();
        let last = fixture.llm.seen().pop().unwrap();
        assert_eq!(last.body["stream"], refusal == late);
    }
}

/// The conversation may grow meanwhile.
#[tokio::test]
async fn repeated_calls_are_counted_in_a_row() {
    let fixture = Fixture::new().await;
    let session = fixture.session(Protocol::Chat);
    let (path, mut body) = first_request(Protocol::Chat, true);
    for expect in 0..3 {
        text(send(&session, &path, session.token(), &body).await).await;
        assert_eq!(session.repeats(), expect);
        let hint = json!({"role": "user", "content": format!("hint {expect}")});
        body["messages"].as_array_mut().unwrap().push(hint);
    }
    // The script says something else now.
    let answer = json!({"role": "assistant", "content": "I call."});
    body["messages"].as_array_mut().unwrap().push(answer);
    text(send(&session, &path, session.token(), &body).await).await;
    assert_eq!(session.repeats(), 0);
}

/// Some servers leave the calls in the text of their streams.
#[tokio::test]
async fn a_model_whose_streams_hold_no_calls_is_asked_for_whole_answers() {
    let fixture = Fixture::new().await;
    let text = "data: {\"choices\": [{\"index\": 0, \"delta\": {\"content\": \"<call>\"}, \"finish_reason\": \"stop\"}]}\n\ndata: [DONE]\n\n";
    let fault = Fault::Body("text/event-stream", text);
    fixture
        .llm
        .fault_when(move |seen| (seen.body["stream"] == true).then_some(fault));
    let (_, body) = first_request(Protocol::Chat, false);
    for requests in [2, 1] {
        let session = fixture.session(Protocol::Chat);
        let answer = session.chat(&body).await.unwrap().unwrap();
        assert!(answer.has_calls());
        assert_eq!(session.close().await.traffic.requests, requests);
    }
}

#[tokio::test]
async fn answers_without_counts_are_told_of() {
    let fixture = Fixture::new().await;
    let text = r#"{"choices": [{"index": 0, "message": {"content": "Done, done."}, "finish_reason": "stop"}]}"#;
    for (streamed, fault, unknown) in [
        (true, Fault::Slow(Duration::ZERO), 0),
        (true, Fault::Cut, 1),
        (true, Fault::Truncated, 1),
        (false, Fault::Truncated, 1),
        (false, Fault::Malformed, 1),
        (false, Fault::Body("application/json", text), 1),
        (false, Fault::Body("application/json", "{}"), 0),
    ] {
        fixture.llm.fault_first(1, fault);
        let session = fixture.session(Protocol::Chat);
        ask(&session, Protocol::Chat, streamed).await;
        let traffic = session.close().await.traffic;
        assert_eq!(traffic.unfinished, unknown, "{fault:?}");
        assert_eq!(traffic.streamed_tokens > 0, unknown > 0, "{fault:?}");
    }
}

/// It may have a queue that is longer than the patience.
#[tokio::test]
async fn a_slow_provider_is_waited_for() {
    let fixture = Fixture::new().await;
    for (patience, streamed) in [(0, true), (0, false), (1, true), (1, false)] {
        let fixture = fixture.beside().await;
        let late = Fault::Slow(Duration::from_millis(1_500));
        fixture
            .llm
            .fault_when(move |seen| seen.turn.is_some().then_some(late));
        let mut config = fixture.config(Protocol::Chat);
        config.patience = Duration::from_secs(patience);
        let session = fixture.gateway.open(None, config).unwrap();
        let (status, answer) = ask(&session, Protocol::Chat, streamed).await;
        assert_eq!(status, 200, "{answer}");
        let account = session.close().await;
        assert_eq!(account.trouble, None);
        assert!(exchanges(&account)[0].complete, "{account:?}");
    }
}

/// Otherwise an agent could hold its step for ever.
#[tokio::test]
async fn the_clock_runs_while_a_request_alone_is_unanswered() {
    let fixture = Fixture::new().await;
    fixture
        .llm
        .fault_when(|seen| seen.turn.is_some().then_some(Fault::Stall));
    let mut config = fixture.config(Protocol::Chat);
    config.patience = Duration::from_secs(1);
    let session = fixture.gateway.open(None, config).unwrap();
    let clock = session.off_clock();
    tokio::select! {
        () = clock.spent(Duration::from_secs(2)) => {}
        _ = ask(&session, Protocol::Chat, true) => panic!("it was answered"),
        () = tokio::time::sleep(Duration::from_secs(20)) => panic!("the clock stands"),
    }
    let unanswered = session.unanswered().await.unwrap();
    assert!(unanswered.is_some());
}

#[tokio::test]
async fn an_agent_may_end_before_its_provider_is_given_up() {
    let fixture = Fixture::new().await;
    fixture.llm.fault_when(|_| Some(Fault::status(500)));
    let session = fixture.session(Protocol::Chat);
    let asked = ask(&session, Protocol::Chat, true);
    let asked = tokio::time::timeout(Duration::from_secs(1), asked).await;
    assert!(asked.is_err());
    let trouble = session.close().await.trouble.unwrap();
    assert!(trouble.contains("of the platform's own"), "{trouble}");
}

/// Some providers ask for more than a probe has: they refuse it, and answer agents.
#[tokio::test]
async fn a_provider_that_answers_no_probe_does_not_excuse_the_agent() {
    let fixture = Fixture::new().await;
    fixture.llm.fault_when(|seen| {
        let asks_tools = seen.body["tools"].is_array();
        let provokes = seen.body["logprobs"] == true;
        match (asks_tools, provokes) {
            (false, _) => Some(Fault::status(400)),
            (true, true) => Some(Fault::status(403)),
            (true, false) => None,
        }
    });
    let (path, mut provoking) = first_request(Protocol::Chat, true);
    provoking["logprobs"] = true.into();
    for is_known in [false, true] {
        let mut config = fixture.config(Protocol::Chat);
        config.patience = Duration::from_millis(500);
        let session = fixture.gateway.open(None, config).unwrap();
        if is_known {
            let probes = || {
                let seen = fixture.llm.seen();
                seen.iter()
                    .filter(|one| !one.body["tools"].is_array())
                    .count()
            };
            let before = probes();
            assert_eq!(ask(&session, Protocol::Chat, true).await.0, 200);
            // A probe follows, which asks for a stream and then for a whole answer.
            while probes() < before + 2 {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        }
        let response = send(&session, &path, session.token(), &provoking).await;
        let answer = text(response).await;
        let account = session.close().await;
        assert_eq!(account.trouble.is_none(), is_known, "{answer}");
    }
}

/// An end that the protocol does not know is normal if a probe's answer has it too.
#[tokio::test]
async fn a_providers_own_ends_are_learned() {
    let fixture = Fixture::new().await;
    let ready =
        r#"{"choices": [{"index": 0, "message": {"content": "Ready."}, "finish_reason": "eos"}]}"#;
    let answer = Fault::Body("application/json", ready);
    fixture.llm.fault_when(move |_| Some(answer));
    for seen in [2, 3] {
        let session = fixture.session(Protocol::Chat);
        let (_, answer) = ask(&session, Protocol::Chat, false).await;
        assert!(answer.ends_with(ready), "{answer}");
        let recorded = exchanges(&session.close().await).remove(0);
        assert_eq!((recorded.error, fixture.llm.seen().len()), (None, seen));
    }
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
async fn some_failures_need_no_probe() {
    let fixture = Fixture::new().await;
    // A provider need not support counting tokens in advance.
    fixture.llm.fault_first(1, Fault::status(404));
    let session = fixture.session(Protocol::Messages);
    let (_, body) = first_request(Protocol::Messages, false);
    let counted = send(
        &session,
        "/v1/messages/count_tokens",
        session.token(),
        &body,
    )
    .await;
    assert_eq!(counted.status(), 404);
    assert_eq!(session.close().await.trouble, None);
}

/// The scripted provider runs on this machine, so no account's run reaches it,
/// neither by address nor by name.
#[tokio::test]
async fn accounts_reach_the_open_internet_alone() {
    let fixture = Fixture::new().await;
    let by_number = fixture.llm.url(Protocol::Chat);
    for url in [by_number.replace("127.0.0.1", "localhost"), by_number] {
        let mut config = fixture.config(Protocol::Chat);
        config.endpoint.url.clone_from(&url);
        let session = fixture.gateway.open(None, config).unwrap();
        assert_eq!(ask(&session, Protocol::Chat, false).await.0, 200, "{url}");

        let mut config = fixture.config(Protocol::Chat);
        config.endpoint.url.clone_from(&url);
        config.grant.reach = Reach::Public;
        let session = fixture.gateway.open(None, config).unwrap();
        assert_ne!(ask(&session, Protocol::Chat, false).await.0, 200, "{url}");
        let account = session.close().await;
        let trouble = account.trouble.unwrap();
        assert!(trouble.contains("private network"), "{trouble}");
        assert_eq!(account.traffic.retries, 0, "waiting does not help");
    }
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

#[tokio::test]
async fn failures_that_waiting_does_not_cure_are_not_retried() {
    let fixture = Fixture::new().await;
    let mut config = fixture.config(Protocol::Chat);
    config.keys = [("k".to_owned(), "sk-real\nkey".to_owned().into())].into();
    let session = fixture.gateway.open(None, config).unwrap();
    let (_, answer) = ask(&session, Protocol::Chat, false).await;
    assert!(answer.contains("no header can hold"), "{answer}");
    assert!(!answer.contains("sk-real"), "{answer}");
    assert!(matches!(session.stopped().await, StopReason::Provider(_)));
    assert_eq!(session.close().await.traffic.retries, 0);
    assert_eq!(fixture.llm.seen().len(), 0);

    let (asked, url) = provider_without_credit().await;
    let mut config = fixture.config(Protocol::Chat);
    config.endpoint.url = url;
    config.patience = Duration::from_millis(100);
    let session = fixture.gateway.open(None, config).unwrap();
    let (_, answer) = ask(&session, Protocol::Chat, false).await;
    assert!(answer.contains("insufficient_quota"), "{answer}");
    let traffic = session.close().await.traffic;
    assert_eq!((traffic.retries, traffic.probes), (0, 2));
    // The agent's request, and ours in both forms.
    assert_eq!(asked.load(Ordering::Relaxed), 3);
}

/// A provider's address, and the number of its requests.
async fn provider_without_credit() -> (Arc<AtomicUsize>, String) {
    let asked = Arc::new(AtomicUsize::new(0));
    let counted = asked.clone();
    let refuse = move || {
        counted.fetch_add(1, Ordering::Relaxed);
        let error = json!({"error": {"code": "insufficient_quota", "message": "pay"}});
        let headers = [(header::RETRY_AFTER, "1")];
        std::future::ready((StatusCode::TOO_MANY_REQUESTS, headers, error.to_string()))
    };
    let router = axum::Router::new().fallback(refuse);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await });
    (asked, url)
}

#[tokio::test]
async fn tools_of_the_provider_are_refused_and_counted() {
    let fixture = Fixture::new().await;
    let cases = [
        (Protocol::Chat, json!({"type": "web_search"}), "web_search"),
        (
            Protocol::Responses,
            json!({"type": "mcp", "server_url": "https://x"}),
            "mcp",
        ),
        (
            Protocol::Messages,
            json!({"type": "web_fetch_20250910", "name": "f"}),
            "web_fetch_20250910",
        ),
        (
            Protocol::Gemini,
            json!({"googleSearch": {}}),
            "googleSearch",
        ),
    ];
    for (protocol, tool, name) in cases {
        let session = fixture.session(protocol);
        let (path, mut body) = first_request(protocol, true);
        body["tools"].as_array_mut().unwrap().push(tool);
        for _ in 0..2 {
            let before = fixture.llm.seen().len();
            let response = send(&session, &path, session.token(), &body).await;
            assert_eq!(response.status(), 400, "{protocol}");
            let answer: Value = serde_json::from_str(&text(response).await).unwrap();
            let message = answer["error"]["message"].as_str().unwrap();
            assert!(
                message.contains(&format!("`{name}` is not available")),
                "{message}"
            );
            assert_eq!(fixture.llm.seen().len(), before, "the provider was asked");
        }
        // The harness can go on without the tool.
        assert_eq!(ask(&session, protocol, true).await.0, 200, "{protocol}");
        let account = session.close().await;
        assert_eq!(account.refused_tools, [(name.to_owned(), 2)].into());
        assert_eq!(account.trouble, None);

        let mut config = fixture.config(protocol);
        config.allow_hosted_tools = true;
        let session = fixture.gateway.open(None, config).unwrap();
        let response = send(&session, &path, session.token(), &body).await;
        assert_eq!(response.status(), 200, "{protocol}");
        assert!(session.close().await.refused_tools.is_empty());
    }
}

#[tokio::test]
async fn configurations_bring_no_tools_of_the_provider() {
    let fixture = Fixture::new().await;
    let mut config = fixture.config(Protocol::Chat);
    let plugins = ("plugins".to_owned(), json!([{"id": "web"}]));
    config.endpoint.parameters = [plugins].into_iter().collect();
    let session = fixture.gateway.open(None, config).unwrap();
    let (status, answer) = ask(&session, Protocol::Chat, false).await;
    assert!(status == 400 && answer.contains("`plugins`"), "{answer}");
    assert_eq!(session.close().await.refused_tools.len(), 1);
    assert_eq!(fixture.llm.seen().len(), 0);
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
async fn invented_names_of_tools_are_counted_together() {
    let fixture = Fixture::new().await;
    let session = fixture.session(Protocol::Chat);
    let invented = (0..30).map(|n| json!({"type": format!("invented_{n:02}")}));
    let body = json!({"model": MODEL, "messages": [], "tools": invented.collect::<Vec<_>>()});
    let path = first_request(Protocol::Chat, false).0;
    let response = send(&session, &path, session.token(), &body).await;
    assert_eq!(response.status(), 400);
    let refused = session.close().await.refused_tools;
    assert_eq!((refused.len(), refused["others"]), (21, 10));
}

#[tokio::test]
async fn a_spent_budget_closes_the_door() {
    let fixture = Fixture::new().await;
    let mut config = fixture.config(Protocol::Chat);
    let budget = Budget {
        tokens: Some(1_500),
        ..Budget::default()
    };
    config.ledger = Arc::new(Ledger::new(
        budget,
        now_ms(),
        Usage::default(),
        Traffic::default(),
    ));
    let session = fixture.gateway.open(None, config).unwrap();
    assert_eq!(ask(&session, Protocol::Chat, false).await.0, 200);
    assert_eq!(ask(&session, Protocol::Chat, false).await.0, 200);
    let stopped = tokio::time::timeout(Duration::from_secs(5), session.stopped()).await;
    assert!(matches!(stopped, Ok(StopReason::Budget(_))));
    let (status, answer) = ask(&session, Protocol::Chat, false).await;
    assert_eq!(status, 402);
    assert!(answer.contains("1500 tokens"), "{answer}");
}

#[tokio::test]
async fn a_recording_replaces_the_provider() {
    let fixture = Fixture::new().await;
    let session = fixture.session(Protocol::Chat);
    let (_, answer) = ask(&session, Protocol::Chat, true).await;
    let recording = Recording::new(exchanges(&session.close().await));
    let requests_before = fixture.llm.seen().len();

    let mut config = fixture.config(Protocol::Chat);
    config.recording = Some(Arc::new(recording));
    config.keys.clear();
    let session = fixture.gateway.open(None, config).unwrap();
    assert_eq!(
        ask(&session, Protocol::Chat, true).await,
        (StatusCode::OK, answer)
    );
    let (path, mut body) = first_request(Protocol::Chat, true);
    body["messages"][0]["content"] = "something else".into();
    let response = send(&session, &path, session.token(), &body).await;
    assert!(response.status().is_server_error());
    assert!(text(response).await.contains("recording does not fit"));
    assert!(matches!(session.stopped().await, StopReason::Provider(_)));
    let account = session.close().await;
    assert_eq!(account.usage.input_tokens, 1_000, "counted as recorded");
    assert_eq!(fixture.llm.seen().len(), requests_before);
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
