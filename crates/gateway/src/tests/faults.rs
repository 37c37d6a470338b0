//! Faults of a provider, and whom the gateway blames for each.

use super::*;

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
    let docs = include_str!("../../../../docs/outcomes.md");
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
            // A probe follows, which asks in all forms.
            while probes() < before + 3 {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        }
        let response = send(&session, &path, session.token(), &provoking).await;
        let answer = text(response).await;
        let account = session.close().await;
        assert_eq!(account.trouble.is_none(), is_known, "{answer}");
    }
}

/// A harness that streams cannot work with a provider that does not; one that has had a
/// whole answer could go on without.
#[tokio::test]
async fn a_provider_without_streams_is_to_blame_for_a_harness_that_needs_them() {
    let fixture = Fixture::new().await;
    for protocol in Protocol::ALL {
        let fixture = fixture.beside().await;
        fixture.llm.fault_when(|seen| {
            let streams = seen.body["stream"] == true || seen.path.contains("stream");
            streams.then_some(Fault::status(400))
        });
        for had_answer in [false, true] {
            let session = fixture.session(protocol);
            if had_answer {
                assert_eq!(ask(&session, protocol, false).await.0, 200);
            }
            let (_, answer) = ask(&session, protocol, true).await;
            let trouble = session.close().await.trouble;
            assert_eq!(trouble.is_none(), had_answer, "{protocol}: {answer}");
            let named = trouble.is_none_or(|why| why.contains("only without streaming: HTTP 400"));
            assert!(named, "{answer}");
        }
    }
}

/// The same harness has its answer where only the count of its tokens is refused.
#[tokio::test]
async fn a_stream_need_not_count_its_tokens() {
    let fixture = Fixture::new().await;
    let counts = |seen: &Seen| seen.body["stream_options"].is_object();
    fixture
        .llm
        .fault_when(move |seen| counts(seen).then_some(Fault::status(400)));
    for seen in [5, 6] {
        let session = fixture.session(Protocol::Chat);
        let (status, answer) = ask(&session, Protocol::Chat, true).await;
        assert_eq!(status, 200, "{answer}");
        let account = session.close().await;
        assert_eq!((account.trouble, account.traffic.unfinished), (None, 1));
        assert_eq!(fixture.llm.seen().len(), seen);
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
    assert_eq!((traffic.retries, traffic.probes), (0, 1));
    // The agent's request, and ours.
    assert_eq!(asked.load(Ordering::Relaxed), 2);
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
