//! The account of a step, and budgets.

use super::*;

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

/// Nothing is missing of an answer whose connection breaks behind its end.
#[tokio::test]
async fn an_answer_is_whole_however_its_connection_ends() {
    let fixture = Fixture::new().await;
    fixture.llm.fault_when(|_| Some(Fault::CutAtEnd));
    for protocol in Protocol::ALL {
        for streamed in [true, false] {
            let session = fixture.session(protocol);
            assert_eq!(ask(&session, protocol, streamed).await.0, 200);
            let account = session.close().await;
            let one = &exchanges(&account)[0];
            assert!(one.complete, "{protocol:?}, streamed: {streamed}");
            assert_eq!((&one.error, account.trouble), (&None, None));
            assert_eq!((account.traffic.requests, account.traffic.retries), (1, 0));
        }
    }
}

/// Also where the head announces more, and the provider counts no tokens.
#[tokio::test]
async fn a_whole_answer_is_not_asked_for_again() {
    let fixture = Fixture::new().await;
    let body =
        r#"{"choices": [{"index": 0, "message": {"content": "Done."}, "finish_reason": "stop"}]}"#;
    fixture.llm.fault_when(move |_| Some(Fault::Short(body)));
    for streamed in [true, false] {
        let session = fixture.session(Protocol::Chat);
        let (status, answer) = ask(&session, Protocol::Chat, streamed).await;
        // White space before it keeps the connection alive, even in place of a stream.
        assert_eq!((status.as_u16(), answer.trim_start()), (200, body));
        let account = session.close().await;
        assert_eq!(
            (
                account.traffic.requests,
                account.traffic.retries,
                account.trouble
            ),
            (1, 0, None)
        );
    }
    assert_eq!(fixture.llm.seen().len(), 2);
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

/// Keeps each account that it is given.
#[derive(Debug, Default)]
struct Kept(std::sync::Mutex<Vec<(Usage, Traffic)>>);

#[async_trait::async_trait]
impl UsageStore for Kept {
    async fn keep(&self, usage: Usage, traffic: Traffic) -> anyhow::Result<()> {
        self.0.lock().unwrap().push((usage, traffic));
        Ok(())
    }
}

/// A process may die at any moment.
#[tokio::test]
async fn usage_is_kept_before_a_request_is_sent_and_when_it_ends() {
    let fixture = Fixture::new().await;
    let kept = Arc::new(Kept::default());
    let mut config = fixture.config(Protocol::Chat);
    config.usage_store = Some(kept.clone());
    let session = fixture.gateway.open(None, config).unwrap();
    let told = || {
        let kept = kept.0.lock().unwrap();
        let told = kept.iter().map(|(usage, traffic)| {
            (
                traffic.requests,
                traffic.unfinished,
                usage.input_tokens > 0,
                traffic.probes,
            )
        });
        told.collect::<Vec<_>>()
    };
    ask(&session, Protocol::Chat, true).await;
    while session.under_way().is_some() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    fixture.llm.fault_first(1, Fault::status(400));
    ask(&session, Protocol::Chat, true).await;
    session.close().await;
    assert_eq!(
        told(),
        [
            (1, 1, false, 0),
            (1, 0, true, 0),
            (2, 1, true, 0),
            // After the probe, whose money counts too.
            (2, 1, true, 1),
            (2, 0, true, 1),
        ]
    );
}
