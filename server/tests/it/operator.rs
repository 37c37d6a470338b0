//! What operators do on pages: verify a run, clean up the disk, import a
//! dataset.

use serde_json::json;
use swe_ci_views::account::AccountRole;

use crate::fixture::{HUMAN, MODEL, TestApp};
use crate::people::{Browser, account, bearer};

async fn administrator(app: &TestApp) -> Browser<'_> {
    account(app, "root", AccountRole::Admin).await;
    Browser::signed_in(app, "root").await
}

#[tokio::test]
async fn administrators_are_offered_to_verify_runs_that_are_over() {
    let app = TestApp::seeded().await;
    let mut root = administrator(&app).await;
    let [human, model] = [HUMAN, MODEL].map(|run| format!("/runs/{run}"));
    let page = root.get(&human).await.text();
    assert!(page.contains("Empty for all 3 iterations;"), "{page}");
    assert!(!root.get(&model).await.text().contains("Verify…"));
    account(&app, "ada", AccountRole::Submitter).await;
    let mut ada = Browser::signed_in(&app, "ada").await;
    assert!(!ada.get(&human).await.text().contains("Verify…"));
    let refused = ada
        .send(&human, &[("deed", "verify"), ("sample", "")])
        .await;
    assert_eq!(refused.status, 403, "{}", refused.text());

    for wrong in ["0", "-1", "some"] {
        let refused = root
            .send(&human, &[("deed", "verify"), ("sample", wrong)])
            .await;
        assert_eq!(refused.status, 400, "{wrong}");
        let page = refused.text();
        assert!(page.contains("aria-invalid=\"true\""), "{page}");
        assert!(page.contains(&format!("value=\"{wrong}\"")), "{page}");
    }
    let running = root
        .send(&model, &[("deed", "verify"), ("sample", "")])
        .await;
    assert!(running.text().contains("it can be checked when it is over"));
    app.execute("UPDATE iterations SET code = ''").await;
    let nothing = root
        .send(&human, &[("deed", "verify"), ("sample", "")])
        .await;
    assert!(nothing.text().contains("code of run"), "{}", nothing.text());
}

#[tokio::test]
async fn the_api_refuses_to_verify() {
    let app = TestApp::seeded().await;
    let root = account(&app, "root", AccountRole::Admin).await;
    let root = bearer(&app, &root, AccountRole::Admin).await;
    let verify = async |run: &str, body: serde_json::Value| {
        let request = axum::http::Request::builder()
            .method("POST")
            .uri(format!("/api/v1/runs/{run}/verify"))
            .header("authorization", &root)
            .header("content-type", "application/json");
        let body = axum::body::Body::from(body.to_string());
        app.read(request.body(body).unwrap()).await
    };
    verify(MODEL, json!({})).await.problem(409, "conflict");
    verify(HUMAN, json!({"sample": 0}))
        .await
        .problem(400, "bad-request");
    verify(HUMAN, json!({"most": 1}))
        .await
        .problem(400, "bad-request");
    verify("nothing", json!({})).await.problem(404, "not-found");
}

#[tokio::test]
async fn a_clean_up_shows_first_what_would_go() {
    let app = TestApp::seeded().await;
    let mut root = administrator(&app).await;
    let page = root.get("/disk").await.text();
    assert!(page.contains("Show what would go"), "{page}");
    assert!(!page.contains("value=\"evict\""), "no button before");
    let wrong = root.get("/disk?keep=much").await;
    assert!(
        wrong.text().contains("`much` is not a size"),
        "{}",
        wrong.text()
    );
    let refused = root
        .send("/disk", &[("deed", "evict"), ("keep", "much")])
        .await;
    assert_eq!(refused.status, 400);
    assert!(refused.text().contains("`much` is not a size"));

    account(&app, "ada", AccountRole::Submitter).await;
    let mut ada = Browser::signed_in(&app, "ada").await;
    let evict = [("deed", "evict"), ("keep", "0B")];
    assert_eq!(ada.send("/disk", &evict).await.status, 403);
    assert_eq!(ada.get("/disk?keep=0B").await.status, 403);
}

#[tokio::test]
async fn an_import_names_a_dataset_on_the_hub() {
    let app = TestApp::seeded().await;
    let mut root = administrator(&app).await;
    assert!(
        root.get("/datasets")
            .await
            .text()
            .contains("/datasets/import")
    );
    let page = root.get("/datasets/import").await.text();
    assert!(page.contains("value=\"skylenage-ai/SWE-CI\""), "{page}");
    assert!(!page.contains("value=\"import\""), "no button before");
    for (from, split, why) in [
        ("/etc", "default", "/etc"),
        ("owner/name", "../x", "split’s name has"),
        ("", "default", "``"),
    ] {
        let fields = [("deed", "import"), ("from", from), ("split", split)];
        let refused = root.send("/datasets/import", &fields).await;
        assert_eq!(refused.status, 400, "{from}");
        let page = refused.text();
        assert!(
            page.contains(why) && page.contains("role=\"alert\""),
            "{page}"
        );
    }
    let asked = root.get("/datasets/import?from=%2Fetc&split=x").await;
    assert!(asked.text().contains("role=\"alert\""), "{}", asked.text());

    account(&app, "ada", AccountRole::Submitter).await;
    let mut ada = Browser::signed_in(&app, "ada").await;
    assert_eq!(ada.get("/datasets/import").await.status, 403);
    assert!(
        !ada.get("/datasets")
            .await
            .text()
            .contains("/datasets/import")
    );
    let fields = [("deed", "import"), ("from", "o/n"), ("split", "s")];
    assert_eq!(ada.send("/datasets/import", &fields).await.status, 403);
}

#[tokio::test]
async fn a_run_is_deleted_by_its_name() {
    let app = TestApp::seeded().await;
    let mut root = administrator(&app).await;
    let page = format!("/runs/{HUMAN}");
    let html = root.get(&page).await.text();
    assert!(html.contains("Delete for good") && html.contains("Snapshots of leaderboards"));
    let running = root.get(&format!("/runs/{MODEL}")).await.text();
    assert!(!running.contains("Delete for good"), "it is not over");
    let delete = |name: &'static str| [("deed", "delete"), ("name", name)];
    let refused = root.send(&page, &delete("another")).await;
    assert_eq!(refused.status, 400);
    let html = refused.text();
    assert!(
        html.contains("to confirm it") && html.contains("value=\"another\""),
        "{html}"
    );
    // Whoever submitted a public run withdraws it instead.
    account(&app, "ada", AccountRole::Submitter).await;
    let mut ada = Browser::signed_in(&app, "ada").await;
    assert_eq!(ada.send(&page, &delete("another")).await.status, 403);

    let human = delete("Human (replayed history)");
    // While others work on the same repositories, their code may be the same.
    let busy = root.send(&page, &human).await.text();
    assert!(busy.contains("pause them first"), "{busy}");
    app.execute("UPDATE evolutions SET progress = 'queued' WHERE progress = 'running'")
        .await;
    let done = root.send(&page, &human).await;
    assert_eq!(
        (done.status.as_u16(), done.header("location")),
        (303, "/runs")
    );
    assert_eq!(app.get(&page).await.status, 404);
    assert!(root.get("/audit").await.text().contains("deleted run"));
}

#[tokio::test]
async fn a_split_is_deleted_with_its_runs() {
    let app = TestApp::seeded().await;
    let mut root = administrator(&app).await;
    let html = root.get("/datasets/demo").await.text();
    assert!(html.contains("Delete this split"), "{html}");
    assert!(
        !app.get("/datasets/demo")
            .await
            .text()
            .contains("Delete this split")
    );
    let delete = [("deed", "delete"), ("name", "demo")];
    let active = root.send("/datasets/demo", &delete).await;
    assert!(active.text().contains("is not over"), "{}", active.text());
    app.execute("UPDATE evolutions SET progress = 'finished'")
        .await;
    app.execute("UPDATE runs SET progress = 'finished'").await;
    let done = root.send("/datasets/demo", &delete).await;
    assert_eq!(done.header("location"), "/datasets", "{}", done.text());
    assert_eq!(app.get("/datasets/demo").await.status, 404);
    assert_eq!(app.get(&format!("/runs/{HUMAN}")).await.status, 404);
    assert_eq!(app.get("/").await.status, 200);
}
