//! Notifications about runs: by the API, and by the page's forms without
//! scripts.

use axum::body::Body;
use axum::http::Request;
use serde_json::{Value, json};
use swe_ci_views::account::AccountRole;

use crate::fixture::{Answer, TestApp};
use crate::people::{Browser, account, bearer};

const ALL: [&str; 3] = ["run.finished", "run.blocked", "run.budget"];

async fn ask(app: &TestApp, bearer: &str, call: &str, body: &Value) -> Answer {
    let (method, path) = call.split_once(' ').unwrap();
    let request = Request::builder()
        .method(method)
        .uri(format!("/api/v1/notifications{path}"))
        .header("authorization", bearer)
        .header("content-type", "application/json");
    let body = Body::from(body.to_string());
    app.read(request.body(body).unwrap()).await
}

#[tokio::test]
async fn a_webhook_is_added_tested_and_removed_by_the_api() {
    let app = TestApp::seeded().await;
    let ada = account(&app, "ada", AccountRole::Submitter).await;
    let token = bearer(&app, &ada, AccountRole::Submitter).await;
    let url = "https://hooks.example.org/x";
    let new = json!({ "channel": "webhook", "address": url, "events": ALL });
    let added = ask(&app, &token, "POST ", &new).await;
    assert_eq!(added.status, 201, "{}", added.text());
    let added: Value = serde_json::from_slice(&added.bytes).unwrap();
    assert!(added["secret"].as_str().unwrap().starts_with("whsec_"));
    let id = added["target"]["target_id"].as_str().unwrap().to_owned();

    let sent = ask(&app, &token, &format!("POST /{id}/test"), &json!({})).await;
    assert_eq!(sent.status, 202, "{}", sent.text());
    let seen = ask(&app, &token, "GET ", &json!({})).await;
    assert!(!seen.text().contains("whsec_"), "shown once");
    let seen = seen.json();
    assert_eq!(seen["targets"], json!([added["target"]]));
    assert_eq!(seen["sends_mail"], false);
    let delivery = &seen["deliveries"][0];
    assert_eq!(
        (&delivery["event"], &delivery["state"], &delivery["tries"]),
        (&json!("test"), &json!("waiting"), &json!(0))
    );

    // Private, even to an administrator.
    let root = account(&app, "root", AccountRole::Admin).await;
    let strange = bearer(&app, &root, AccountRole::Admin).await;
    for call in [format!("POST /{id}/test"), format!("DELETE /{id}")] {
        let refused = ask(&app, &strange, &call, &json!({})).await;
        refused.problem(404, "not-found");
    }
    let gone = ask(&app, &token, &format!("DELETE /{id}"), &json!({})).await;
    assert_eq!(gone.status, 204);
    let seen = ask(&app, &token, "GET ", &json!({})).await.json();
    assert_eq!(
        seen,
        json!({ "targets": [], "deliveries": [], "sends_mail": false })
    );
}

#[tokio::test]
async fn invalid_targets_are_refused_with_a_reason() {
    let app = TestApp::seeded().await;
    let ada = account(&app, "ada", AccountRole::Submitter).await;
    let token = bearer(&app, &ada, AccountRole::Submitter).await;
    let check = async |channel: &str, address: &str, events: &[&str], status, kind, says: &str| {
        let new = json!({ "channel": channel, "address": address, "events": events });
        let refused = ask(&app, &token, "POST ", &new).await.problem(status, kind);
        let detail = refused["detail"].as_str().unwrap();
        assert!(detail.contains(says), "{address}: {detail}");
    };
    let hook = "https://hooks.example.org/";
    check(
        "webhook",
        "https://127.0.0.1/",
        &ALL,
        400,
        "bad-request",
        "private network",
    )
    .await;
    check(
        "webhook",
        "http://example.org/",
        &ALL,
        400,
        "bad-request",
        "https://",
    )
    .await;
    check(
        "webhook",
        hook,
        &[],
        400,
        "bad-request",
        "choose one or more",
    )
    .await;
    check(
        "webhook",
        hook,
        &["test"],
        400,
        "bad-request",
        "choose one or more",
    )
    .await;
    check(
        "webhook",
        hook,
        &["run.begun"],
        400,
        "bad-request",
        "run.begun",
    )
    .await;
    check("mail", "ada", &ALL, 400, "bad-request", "e-mail address").await;
    check(
        "mail",
        "ada@example.org",
        &ALL,
        409,
        "conflict",
        "sends no mails",
    )
    .await;
}

#[tokio::test]
async fn the_page_shows_a_secret_once_and_the_deliveries() {
    let app = TestApp::seeded().await;
    account(&app, "ada", AccountRole::Submitter).await;
    let mut browser = Browser::signed_in(&app, "ada").await;
    let page = browser.get("/notifications").await;
    assert_eq!(page.header("cache-control"), "no-store");
    let html = page.text();
    assert!(html.contains("sends no mails") && html.contains("No messages yet"));
    assert!(browser.get("/").await.text().contains("/notifications"));

    // The typed and ticked values are shown again, and the error at its field.
    let add = [("deed", "add-webhook"), ("url", "http://example.org/")];
    let with = |rest: &[(&'static str, &'static str)]| [&add[..], rest].concat();
    let refused = browser
        .send("/notifications", &with(&[("run.budget", "on")]))
        .await;
    assert_eq!(refused.status, 400);
    let html = refused.text();
    assert!(
        html.contains("value=\"http://example.org/\"") && html.contains("aria-invalid=\"true\"")
    );
    assert_eq!(html.matches(" checked").count(), 1, "{html}");
    let silent = [("deed", "add-webhook"), ("url", "https://example.org/")];
    let refused = browser.send("/notifications", &silent).await;
    assert_eq!(refused.status, 400);
    assert!(refused.text().contains("choose one or more"));

    let good = [
        ("deed", "add-webhook"),
        ("url", "https://hooks.example.org/<b>"),
        ("run.finished", "on"),
    ];
    let added = browser.send_for_secret("/notifications", &good).await;
    assert_eq!(added.status, 200, "{}", added.text());
    assert!(added.text().contains("value=\"whsec_"));
    let html = browser.get("/notifications").await.text();
    assert!(!html.contains("whsec_"));
    assert!(html.contains("a run is over") && html.contains("hooks.example.org/%3Cb%3E"));

    let target = html.split("name=\"target\" value=\"").nth(1).unwrap();
    let target = target.split('"').next().unwrap().to_owned();
    let say = [("deed", "test"), ("target", target.as_str())];
    let sent = browser.send("/notifications", &say).await;
    assert_eq!(sent.header("location"), "/notifications?done=sent");
    app.execute(
        "UPDATE deliveries SET state = 'given_up', tries = 8, answer = '503', tried_at = 0",
    )
    .await;
    let html = browser.get("/notifications?done=sent").await.text();
    for part in ["It is on its way", "given up", "(8 tries)", "503"] {
        assert!(html.contains(part), "{part}: {html}");
    }
    let say = [("deed", "remove"), ("target", target.as_str())];
    let gone = browser.send("/notifications", &say).await;
    assert_eq!(gone.header("location"), "/notifications?done=removed");
    assert_eq!(browser.send("/notifications", &say).await.status, 404);

    account(&app, "rita", AccountRole::Reader).await;
    let mut reader = Browser::signed_in(&app, "rita").await;
    assert_eq!(reader.get("/notifications").await.status, 403);
}
