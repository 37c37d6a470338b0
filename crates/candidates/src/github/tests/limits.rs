//! Tests rate limits, retries and refusals.

use std::time::Instant;

use super::*;

fn waits(progress: &[Progress]) -> Vec<&str> {
    progress
        .iter()
        .filter_map(|progress| match progress {
            Progress::Waiting { why, .. } => Some(why.as_str()),
            _ => None,
        })
        .collect()
}

/// Headers of a limit that ends in this many seconds.
fn reached(seconds: i64) -> [(&'static str, String); 2] {
    let reset = Timestamp::now().as_second() + seconds;
    [
        ("x-ratelimit-remaining", "0".to_owned()),
        ("x-ratelimit-reset", reset.to_string()),
    ]
}

#[tokio::test]
async fn limits_delay_and_are_reported() {
    let primary = reached(2);
    let primary = primary
        .each_ref()
        .map(|(name, value)| (*name, value.as_str()));
    let check = async |status: u16,
                       headers: &[(&'static str, &str)],
                       body: &str,
                       least: Duration,
                       expect: &str| {
        let server = Server::with(600..650).await;
        server.reply(status, headers, body);
        let start = Instant::now();
        let (found, progress) = search_with_progress(&server.github(), &search()).await;
        assert_eq!(found.unwrap().hits.len(), 50, "{expect}");
        assert!(start.elapsed() >= least, "{expect} {:?}", start.elapsed());
        let [why] = waits(&progress)[..] else {
            panic!("{progress:?}")
        };
        assert!(why.contains(expect), "{why}");
        assert_eq!(server.requests().len(), 2, "{expect}");
    };
    let second = Duration::from_secs(1);
    let limited = r#"{"message":"API rate limit exceeded"}"#;
    check(
        403,
        &primary,
        limited,
        Duration::ZERO,
        "rate limit for searches",
    )
    .await;
    let after = [("retry-after", "1")];
    check(403, &after, "{}", second, "fewer requests").await;
    check(429, &after, "{}", second, "fewer requests").await;
    let secondary = r#"{"message":"You have exceeded a secondary rate limit."}"#;
    let little = Duration::from_millis(20);
    check(403, &[], secondary, little, "fewer requests").await;
}

#[tokio::test]
async fn the_last_request_that_is_allowed_is_the_last_for_now() {
    let server = Server::with(501..651).await;
    let items: Vec<_> = server.site.repositories.iter().rev().take(100).collect();
    let page = json!({"total_count": 150, "incomplete_results": false, "items": items});
    let headers = reached(2);
    let headers = headers
        .each_ref()
        .map(|(name, value)| (*name, value.as_str()));
    server.reply(200, &headers, &page.to_string());
    let (found, progress) = search_with_progress(&server.github(), &search()).await;
    assert_eq!(found.unwrap().hits.len(), 150);
    assert_eq!(waits(&progress).len(), 1, "{progress:?}");
    assert_eq!(server.requests().len(), 2, "none was refused");
}

#[tokio::test]
async fn limits_that_take_too_long_or_never_end_are_errors() {
    let check =
        async |headers: &[(&'static str, &str)], token: bool, requests: usize, expect: &[&str]| {
            let server = Server::with(600..650).await;
            server.always(429, headers, r#"{"message":"rate limit"}"#);
            let token = token.then(|| SecretString::from(TOKEN));
            let github = GitHub::with_pace(&server.url, token, None, pace()).unwrap();
            let error = github.search(&search(), now(), &|_| {}).await.unwrap_err();
            assert!(error.concerns_all(), "{error}");
            for part in expect {
                assert!(error.to_string().contains(part), "{part} → {error}");
            }
            assert_eq!(server.requests().len(), requests);
        };
    let hour = [("retry-after", "3600")];
    check(
        &hour,
        true,
        1,
        &["3600s", "longer than", "start again later"],
    )
    .await;
    check(&hour, false, 1, &["set GITHUB_TOKEN"]).await;
    check(&[("retry-after", "99999999999999")], true, 1, &["longer"]).await;
    check(
        &[("retry-after", "0")],
        true,
        4,
        &["after 4 tries", "fewer requests"],
    )
    .await;
}

#[tokio::test]
async fn refusals_say_what_to_do() {
    let check = async |status: u16, body: &str, token: bool, expect: &[&str]| {
        let server = Server::with([]).await;
        server.always(status, &[], body);
        let token = token.then(|| SecretString::from(TOKEN));
        let github = GitHub::with_pace(&server.url, token, None, pace()).unwrap();
        let error = github.search(&search(), now(), &|_| {}).await.unwrap_err();
        let text = format!("{error} {error:?}");
        for part in expect {
            assert!(text.contains(part), "{part} → {text}");
        }
        assert!(!text.contains(TOKEN), "{text}");
        assert_eq!(server.requests().len(), 1, "one request");
    };
    let bad = r#"{"message":"Bad credentials"}"#;
    check(401, bad, true, &["Bad credentials", "no longer valid"]).await;
    check(401, bad, false, &["set GITHUB_TOKEN to a token"]).await;
    check(403, "{}", false, &["set GITHUB_TOKEN to a token"]).await;
    check(403, "<html>", true, &["no reason given", "cannot read"]).await;
    let invalid = r#"{"message":"Validation Failed","errors":[{"message":"no license `x`"}]}"#;
    let parts = [
        "Validation Failed; no license `x`",
        "license:mit",
        "licences",
    ];
    check(422, invalid, true, &parts).await;
    check(404, "{}", true, &["https://host/api/v3"]).await;
    check(418, bad, true, &["answered 418"]).await;
    let echo = format!(r#"{{"message":"your token {TOKEN}\nis bad"}}"#);
    check(401, &echo, true, &["your token …is bad"]).await;
    check(422, &echo, true, &["your token …"]).await;
}

#[tokio::test]
async fn transient_failures_are_retried() {
    let server = Server::with(600..650).await;
    server.reply(502, &[], "");
    server.reply(500, &[], "");
    assert_eq!(server.search(&search()).await.unwrap().hits.len(), 50);
    server.always(503, &[], "");
    let error = server.search(&search()).await.unwrap_err().to_string();
    assert!(
        error.contains("503") && error.contains("after 4 tries"),
        "{error}"
    );
    let gone = GitHub::with_pace("http://127.0.0.1:9", None, None, pace()).unwrap();
    let error = gone.search(&search(), now(), &|_| {}).await.unwrap_err();
    assert!(matches!(error, GitHubError::GaveUp { .. }), "{error}");
}
