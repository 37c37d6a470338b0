//! Curations: planned by administrators and hidden from everyone else.

use axum::body::Body;
use axum::http::Request;
use serde_json::{Value, json};
use swe_ci_views::account::AccountRole;

use crate::fixture::{Answer, TestApp};
use crate::people::{Browser, account, bearer};

const PLAN: &str = "split = \"mine\"\n[[source]]\npackage = \"tinydb\"\n";

async fn ask(app: &TestApp, bearer: &str, method: &str, path: &str, body: &Value) -> Answer {
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header("authorization", bearer);
    app.read(request.body(Body::from(body.to_string())).unwrap())
        .await
}

#[tokio::test]
async fn a_curation_is_planned_and_cancelled_by_the_api() {
    let app = TestApp::seeded().await;
    let root = account(&app, "root", AccountRole::Admin).await;
    let root = bearer(&app, &root, AccountRole::Admin).await;
    let all = "/api/v1/curations";
    let begun = ask(&app, &root, "POST", all, &json!({"plan": PLAN})).await;
    assert_eq!(begun.status, 201, "{}", begun.text());
    let place = begun.header("location").to_owned();
    let again = ask(&app, &root, "POST", all, &json!({"plan": PLAN})).await;
    again.problem(409, "conflict");
    let bad = json!({"plan": "split = \"demo\"\n[[source]]\npackage = \"a\"\nstars = 1"});
    let bad = ask(&app, &root, "POST", all, &bad)
        .await
        .problem(400, "bad-request");
    assert!(
        bad["detail"]
            .as_str()
            .unwrap()
            .contains("stars: there is no such field"),
        "{bad}"
    );
    let taken = json!({"plan": PLAN.replace("mine", "demo")});
    ask(&app, &root, "POST", all, &taken)
        .await
        .problem(409, "conflict");
    ask(&app, &root, "POST", all, &json!({"paln": ""}))
        .await
        .problem(400, "bad-request");

    let nothing = Value::Null;
    let found = ask(&app, &root, "GET", &place, &nothing).await.json();
    assert_eq!(
        (&found["state"], &found["split"]),
        (&json!("queued"), &json!("mine"))
    );
    assert_eq!(found["plan"], PLAN);
    assert_eq!(found["funnel"].as_array().map(Vec::len), Some(4));
    let cancelled = ask(&app, &root, "POST", &format!("{place}/cancel"), &nothing).await;
    assert_eq!(cancelled.status, 204, "{}", cancelled.text());
    ask(&app, &root, "POST", &format!("{place}/cancel"), &nothing)
        .await
        .problem(409, "conflict");
    let listed = ask(&app, &root, "GET", all, &nothing).await.json();
    assert_eq!(listed[0]["state"], "cancelled");
    let log = ask(&app, &root, "GET", "/api/v1/audit", &nothing)
        .await
        .json();
    let deeds: Vec<&str> = log["items"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|e| e["action"].as_str())
        .collect();
    assert!(
        deeds.contains(&"dataset.curate") && deeds.contains(&"dataset.curate.cancel"),
        "{deeds:?}"
    );

    let ada = account(&app, "ada", AccountRole::Submitter).await;
    let ada = bearer(&app, &ada, AccountRole::Submitter).await;
    ask(&app, &ada, "GET", &place, &nothing)
        .await
        .problem(403, "forbidden");
    ask(&app, &ada, "POST", all, &json!({"plan": PLAN}))
        .await
        .problem(403, "forbidden");
}

#[tokio::test]
async fn a_curation_is_planned_by_a_form() {
    let app = TestApp::seeded().await;
    account(&app, "root", AccountRole::Admin).await;
    let mut root = Browser::signed_in(&app, "root").await;
    let page = root.get("/datasets/new").await.text();
    assert!(page.contains("# min_modified_lines = 1000"), "{page}");
    assert!(root.get("/datasets").await.text().contains("/datasets/new"));

    let refused = root
        .send("/datasets/new", &[("plan", "split = 'x'\r\n# mine")])
        .await;
    assert_eq!(refused.status, 400);
    let page = refused.text();
    for part in ["add a [[source]]", r#"aria-invalid="true""#, "# mine"] {
        assert!(page.contains(part), "{part}\n{page}");
    }
    let begun = root
        .send_file("/datasets/new", "begin", "plan-file", PLAN.as_bytes())
        .await;
    assert_eq!(begun.status, 303, "{}", begun.text());
    let place = begun.header("location").to_owned();
    let page = root.get(&place).await.text();
    for part in [
        "It is waiting for a worker.",
        "1. Collect",
        "Cancel it",
        "tinydb",
    ] {
        assert!(page.contains(part), "{part}\n{page}");
    }
    let cancelled = root.send(&place, &[("deed", "cancel")]).await;
    assert_eq!(cancelled.status, 303);
    let page = root.get(&place).await.text();
    assert!(
        page.contains("It was cancelled.") && !page.contains("Cancel it"),
        "{page}"
    );
    let id = place.rsplit('/').next().unwrap();
    let retry = format!("/datasets/new?from={id}");
    assert!(page.contains(&format!("href=\"{retry}\"")), "{page}");
    let form = root.get(&retry).await.text();
    assert!(
        form.contains("package = &quot;tinydb&quot;") || form.contains("package = \"tinydb\""),
        "{form}"
    );
    assert!(!form.contains("# min_modified_lines = 1000"), "{form}");
    assert_eq!(root.get("/datasets/new?from=nothing").await.status, 404);
    let look = "/datasets/new?try=https%3A%2F%2Fexample.org%2Fa%2Flib.git";
    let look = root.get(look).await.text();
    for part in ["try-a__lib", "example.org/a/lib.git", "most_commits = 50"] {
        assert!(look.contains(part), "{part}: {look}");
    }
    let again = root.send(&place, &[("deed", "cancel")]).await;
    assert!(
        again.text().contains("The curation is over."),
        "{}",
        again.text()
    );

    account(&app, "ada", AccountRole::Submitter).await;
    let mut ada = Browser::signed_in(&app, "ada").await;
    assert_eq!(ada.get(&place).await.status, 403);
    assert_eq!(ada.get(&retry).await.status, 403);
    assert_eq!(app.get("/datasets/new").await.status, 401);
    assert!(!app.get("/datasets").await.text().contains("/datasets/new"));
}

#[tokio::test]
async fn administrators_see_the_disk_use() {
    let app = TestApp::seeded().await;
    account(&app, "root", AccountRole::Admin).await;
    let mut root = Browser::signed_in(&app, "root").await;
    let page = root.get("/disk").await.text();
    for part in ["database", "runs, scores, accounts", "Images have no quota"] {
        assert!(page.contains(part), "{part}\n{page}");
    }
    assert!(root.get("/").await.text().contains(r#"href="/disk""#));
    app.get("/api/v1/disk")
        .await
        .problem(401, "unauthenticated");
    assert_eq!(app.get("/disk").await.status, 401);
}

#[tokio::test]
async fn tasks_are_dropped_in_review_by_a_form() {
    let app = TestApp::changed(include_str!("review.sql")).await;
    account(&app, "root", AccountRole::Admin).await;
    let mut root = Browser::signed_in(&app, "root").await;
    let place = "/datasets/curations/review-1";
    let page = root.get(place).await.text();
    for part in [
        "wait for your decision",
        "in review",
        r#"name="drop:tinydb__one""#,
        r#"name="reason:tinydb__two""#,
        "Tests that depend on the date",
        "91 % of the tests of this task and of other",
        "10 runs, every test passed",
        "2 runs, 1 test did not pass",
        "1 of 2 tests pass with empty source files",
        "1 of 2 iterations",
        "7 commits",
    ] {
        assert!(page.contains(part), "{part}\n{page}");
    }
    assert!(!page.contains("drop:tinydb__small"), "{page}");

    // What was typed stays.
    let no_reason = [
        ("deed", "publish"),
        ("drop:tinydb__one", "yes"),
        ("reason:tinydb__one", ""),
        ("reason:tinydb__two", "perhaps"),
    ];
    let refused = root.send(place, &no_reason).await;
    assert_eq!(refused.status, 400);
    let page = refused.text();
    for part in ["Say why `tinydb__one` is dropped", "perhaps", "checked"] {
        assert!(page.contains(part), "{part}\n{page}");
    }
    let decision = [
        ("deed", "publish"),
        ("drop:tinydb__one", "yes"),
        ("reason:tinydb__one", "it reads the clock"),
        ("reason:tinydb__two", ""),
    ];
    let sent = root.send(place, &decision).await;
    assert_eq!(sent.status, 303, "{}", sent.text());
    let page = root.get(place).await.text();
    assert!(page.contains("It is waiting for a worker."), "{page}");
    assert!(page.contains("it reads the clock"), "{page}");
    assert!(!page.contains("Publish the others"), "{page}");
}

#[tokio::test]
async fn tasks_are_published_by_the_api() {
    let app = TestApp::changed(include_str!("review.sql")).await;
    let root = account(&app, "root", AccountRole::Admin).await;
    let root = bearer(&app, &root, AccountRole::Admin).await;
    let ada = account(&app, "ada", AccountRole::Submitter).await;
    let ada = bearer(&app, &ada, AccountRole::Submitter).await;
    let place = "/api/v1/curations/review-1";
    let publish = format!("{place}/publish");
    let of = |task: &str| json!({"drop": [{"task": task, "reason": "too small"}]});
    ask(&app, &ada, "POST", &publish, &of("tinydb__one"))
        .await
        .problem(403, "forbidden");
    let small = ask(&app, &root, "POST", &publish, &of("tinydb__small")).await;
    let small = small.problem(400, "bad-request");
    let detail = small["detail"].as_str().unwrap();
    assert!(detail.contains("no task `tinydb__small`"), "{detail}");
    ask(&app, &root, "POST", &publish, &json!({"keep": []}))
        .await
        .problem(400, "bad-request");

    let done = ask(&app, &root, "POST", &publish, &of("tinydb__two")).await;
    assert_eq!(done.status, 204, "{}", done.text());
    let found = ask(&app, &root, "GET", place, &Value::Null).await.json();
    assert_eq!(found["state"], "queued");
    let fates: Vec<(&str, &str)> = found["candidates"]
        .as_array()
        .unwrap()
        .iter()
        .map(|c| (c["task"].as_str().unwrap(), c["fate"].as_str().unwrap()))
        .collect();
    assert_eq!(fates[0], ("tinydb__one", "survived"), "{fates:?}");
    assert!(fates.contains(&("tinydb__two", "dropped")), "{fates:?}");
    ask(&app, &root, "POST", &publish, &json!({"drop": []}))
        .await
        .problem(409, "conflict");
    let log = ask(&app, &root, "GET", "/api/v1/audit", &Value::Null).await;
    let log = log.json();
    let entry = log["items"].as_array().unwrap().iter();
    let entry = entry
        .clone()
        .find(|e| e["action"] == "dataset.curate.review");
    assert_eq!(entry.unwrap()["detail"], "1 of 2 tasks accepted");
}
