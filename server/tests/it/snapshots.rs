//! Snapshots: made by administrators, the same for ever, in every view.

use axum::body::Body;
use axum::http::Request;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use swe_ci_views::account::AccountRole;

use crate::fixture::{Answer, HUMAN, MODEL, TestApp};
use crate::people::{Browser, account, bearer};

async fn make(app: &TestApp, who: &str, role: AccountRole, split: &str) -> Answer {
    let actor = account(app, who, role).await;
    let request = Request::builder()
        .method("POST")
        .uri("/api/v1/snapshots")
        .header("authorization", bearer(app, &actor, role).await)
        .header("content-type", "application/json");
    let body = Body::from(json!({ "split": split }).to_string());
    app.read(request.body(body).unwrap()).await
}

/// The CSV of an address, without the day of the request.
async fn table(app: &TestApp, path: &str) -> String {
    let answer = app.get(path).await;
    assert_eq!(answer.status, 200, "{path}: {}", answer.text());
    answer.text()
}

#[tokio::test]
async fn a_snapshot_outlives_its_runs() {
    let app = TestApp::ranked().await;
    let made = make(&app, "root", AccountRole::Admin, "demo").await;
    assert_eq!(made.status, 201, "{}", made.text());
    let made: Value = serde_json::from_slice(&made.bytes).unwrap();
    let (day, digest) = (
        made["day"].as_str().unwrap(),
        made["digest"].as_str().unwrap(),
    );
    assert_eq!(
        (&made["split"], &made["made_by"]),
        (&json!("demo"), &json!("root"))
    );
    make(&app, "ruth", AccountRole::Admin, "demo")
        .await
        .problem(409, "conflict");
    make(&app, "rita", AccountRole::Admin, "none")
        .await
        .problem(404, "not-found");
    make(&app, "ada", AccountRole::Submitter, "demo")
        .await
        .problem(403, "forbidden");

    let listed = app.get("/api/v1/snapshots").await.json();
    assert_eq!(listed, Value::Array(vec![made.clone()]));
    let one = app.get(&format!("/api/v1/snapshots/{day}")).await.json();
    assert_eq!(one, made);
    let content = app
        .get(&format!("/api/v1/snapshots/{day}/content?split=demo"))
        .await;
    let found: String = Sha256::digest(content.text().as_bytes())
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    assert_eq!(found, digest);

    let frozen = [
        format!("/api/v1/leaderboard.csv?snapshot={day}"),
        format!("/api/v1/leaderboard.csv?split=demo&snapshot={day}"),
        format!("/api/v1/matrix.csv?split=demo&snapshot={day}"),
        format!("/api/v1/plots/solved.csv?split=demo&snapshot={day}"),
        format!("/api/v1/compare.csv?runs={HUMAN},{MODEL}&snapshot={day}"),
    ];
    let mut before = Vec::new();
    for path in &frozen {
        let text = table(&app, path).await;
        assert!(text.contains(day) && text.contains(MODEL), "{path}: {text}");
        before.push(text);
    }
    assert_eq!(before[0], before[1]);
    // The same numbers as now; the column of the snapshot differs.
    let now = table(&app, "/api/v1/leaderboard.csv?split=demo").await;
    assert_eq!(before[1].replace(&format!(",{day},demo"), ",,demo"), now);

    // The run is gone for visitors, and the task has other content.
    app.execute(&format!(
        "UPDATE runs SET visibility = 'private', revision = 'other' WHERE id = '{MODEL}';
         UPDATE task_revisions SET base_sha = 'other'; UPDATE changes SET n = n + 1;"
    ))
    .await;
    let now = table(&app, "/api/v1/leaderboard.csv?split=demo").await;
    assert!(!now.contains(MODEL), "{now}");
    for (path, before) in frozen.iter().zip(&before) {
        assert_eq!(table(&app, path).await, *before, "{path}");
    }
    let answer = app
        .get(&format!("/api/v1/compare?runs={HUMAN},{MODEL}"))
        .await;
    answer.problem(404, "not-found");

    let page = app.get(&format!("/snapshots/{day}")).await.text();
    for part in [
        digest,
        &format!("Snapshot of {day}, split demo."),
        "Changes since",
        "no longer ranked",
        &format!("/figures?snapshot={day}"),
        &format!("/api/v1/leaderboard.csv?snapshot={day}"),
        &format!("href=\"/runs/{MODEL}\""),
        "{chen2026sweci,",
    ] {
        assert!(page.contains(part), "lacks {part}: {page}");
    }
    for path in [
        format!("/matrix?snapshot={day}&split=demo"),
        format!("/compare?runs={HUMAN},{MODEL}&snapshot={day}"),
        format!("/figures?snapshot={day}&split=demo"),
    ] {
        let page = app.get(&path).await;
        assert_eq!(page.status, 200, "{path}");
        assert!(page.text().contains("The same now"), "{path}");
    }
}

#[tokio::test]
async fn a_changed_snapshot_is_not_shown() {
    let app = TestApp::ranked().await;
    let made = make(&app, "root", AccountRole::Admin, "demo").await;
    let made: Value = serde_json::from_slice(&made.bytes).unwrap();
    let day = made["day"].as_str().unwrap();
    app.execute("UPDATE snapshots SET digest = 'another'").await;
    let path = format!("/api/v1/leaderboard?snapshot={day}");
    app.get(&path).await.problem(500, "internal");
    let missing = app.get("/api/v1/leaderboard?snapshot=2020-01-01").await;
    missing.problem(404, "not-found");
    let wrong = app.get("/api/v1/leaderboard?snapshot=yesterday").await;
    wrong.problem(400, "bad-parameter");
    assert_eq!(app.get("/snapshots/2020-01-01").await.status, 404);
    assert_eq!(app.get("/snapshots/%3Cb%3E").await.status, 404);
}

#[tokio::test]
async fn administrators_make_snapshots_on_their_page() {
    let app = TestApp::ranked().await;
    let page = app.get("/snapshots").await.text();
    assert!(page.contains("There is no snapshot yet."), "{page}");
    assert!(!page.contains("Make today"), "{page}");
    account(&app, "root", AccountRole::Admin).await;
    let mut root = Browser::signed_in(&app, "root").await;
    assert!(root.get("/snapshots").await.text().contains("Make today"));
    let fields = [("deed", "make"), ("split", "demo")];
    let made = root.send("/snapshots", &fields).await;
    assert_eq!(made.status, 303, "{}", made.text());
    let address = made.header("location").to_owned();
    assert!(address.starts_with("/snapshots/2"), "{address}");
    let page = root.get(&address).await.text();
    assert!(
        page.contains("None: the leaderboard has the same runs"),
        "{page}"
    );
    let again = root.send("/snapshots", &fields).await;
    assert!(
        again.text().contains("has a snapshot of"),
        "{}",
        again.text()
    );
    let list = app.get("/snapshots").await.text();
    assert!(list.contains(&format!("href=\"{address}\"")), "{list}");
}
