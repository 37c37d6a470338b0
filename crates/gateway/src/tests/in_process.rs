//! Requests of this process.

use super::*;

/// Some providers refuse to count the tokens of a stream, others to stream at all.
#[tokio::test]
async fn callers_in_this_process_stream_where_the_provider_can() {
    let fixture = Fixture::new().await;
    for (refused, forms) in [
        ("stream_options", (true, false)),
        ("stream", (false, false)),
    ] {
        let fixture = fixture.beside().await;
        fixture.llm.fault_when(move |seen| {
            let asks = seen.body[refused] == true || seen.body[refused].is_object();
            asks.then_some(Fault::status(400))
        });
        let (_, body) = first_request(Protocol::Chat, false);
        for probes in [if forms.0 { 3 } else { 4 }, 0] {
            let session = fixture.session(Protocol::Chat);
            let answer = session.chat(&body).await.unwrap().unwrap();
            let call = &answer.message.unwrap()["tool_calls"][0]["function"];
            assert_eq!(call["name"], "bash");
            let account = session.close().await;
            assert_eq!(
                (account.traffic.requests, account.traffic.probes),
                (1, probes)
            );
            let last = fixture.llm.seen().pop().unwrap().body;
            let form = (last["stream"] == true, last["stream_options"].is_object());
            assert_eq!(form, forms, "{refused}");
            // What is not counted is estimated.
            assert_eq!(account.traffic.unfinished, u64::from(forms.0));
            assert_eq!(account.traffic.streamed_tokens > 0, forms.0);
        }
    }
}

#[tokio::test]
async fn the_clock_stands_until_the_first_byte_for_callers_in_this_process() {
    let fixture = Fixture::new().await;
    let late = Fault::Slow(Duration::from_millis(200));
    fixture.llm.fault_when(move |_| Some(late));
    let session = fixture.session(Protocol::Chat);
    let (_, body) = first_request(Protocol::Chat, false);
    session.chat(&body).await.unwrap().unwrap();
    assert!(session.close().await.traffic.waiting_ms >= 150);
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
