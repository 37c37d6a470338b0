//! Requests of this process.

use super::*;

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

/// Some proxies send white space while the model works, for as long as it does.
#[tokio::test]
async fn white_space_before_an_answer_is_not_kept() {
    let fixture = Fixture::new().await;
    let answer =
        r#"{"choices": [{"index": 0, "message": {"content": "Done."}, "finish_reason": "stop"}]}"#;
    let body = " ".repeat(33 << 20) + answer;
    let fault = Fault::Body("application/json", body.leak());
    fixture.llm.fault_when(move |_| Some(fault));
    let session = fixture.session(Protocol::Chat);
    let (_, body) = first_request(Protocol::Chat, false);
    let answer = session.chat(&body).await.unwrap().unwrap();
    assert_eq!(answer.message.unwrap()["content"], "Done.");
}
