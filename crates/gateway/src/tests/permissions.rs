//! Requests that are refused: by address, token, size and tool.

use super::*;

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
