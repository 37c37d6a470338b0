//! Invalid input is refused, and the problem names a valid alternative.

use swe_ci_views::account::AccountRole;

use crate::fixture::{HUMAN, TestApp};
use crate::people::{account, bearer};

#[tokio::test]
async fn bad_parameters() {
    let app = TestApp::seeded().await;
    let check = async |path: &str, parameter: &str, expect: &[&str]| {
        let problem = app.get(path).await.problem(400, "bad-parameter");
        assert_eq!(problem["parameter"], parameter, "{path} → {problem}");
        let detail = problem["detail"].as_str().unwrap();
        for part in expect {
            assert!(detail.contains(part), "{path} → {detail}");
        }
    };
    let whole = "a whole number from 1 to 500";
    for list in ["leaderboard", "tasks", "runs"] {
        for limit in ["0", "501", "-1", "1.5", "ten", "%20", "4294967297"] {
            let path = format!("/api/v1/{list}?limit={limit}");
            let shown = limit.replace("%20", " ");
            check(&path, "limit", &[&format!("`limit` is `{shown}`"), whole]).await;
        }
        check(
            &format!("/api/v1/{list}?limit=1&limit=2"),
            "limit",
            &["more than once"],
        )
        .await;
        check(
            &format!("/api/v1/{list}?page=2"),
            "page",
            &["not a parameter here", "limit, after"],
        )
        .await;
    }
    for gamma in ["0", "0.09", "10.1", "NaN", "inf", "-1", "1,5"] {
        let path = format!("/api/v1/leaderboard?gamma={gamma}");
        check(&path, "gamma", &[&format!("`{gamma}`"), "from 0.1 to 10"]).await;
    }
    check(
        "/api/v1/leaderboard?gama=2",
        "gama",
        &["split, mode, snapshot, gamma, convention"],
    )
    .await;
    check(
        "/api/v1/leaderboard?convention=Paper",
        "convention",
        &["`Paper`", "`paper` or `reference`"],
    )
    .await;
    check("/api/v1/leaderboard?split=..%2Fetc", "split", &["../etc"]).await;
    for list in ["leaderboard", "tasks", "runs"] {
        for after in ["nobody", "00000000", "%20"] {
            let path = format!("/api/v1/{list}?after={after}");
            check(&path, "after", &["`next` of the previous page"]).await;
        }
    }
    check("/api/v1/tasks?split=%00", "split", &["name of a split"]).await;
    check("/api/v1/tasks/.hidden", "id", &["`.hidden`", "letters"]).await;
    check("/api/v1/tasks/%FF", "id", &["UTF-8"]).await;
    check(
        "/api/v1/evolutions/e/iterations/one",
        "n",
        &["`one`", "whole number"],
    )
    .await;
    check(
        "/api/v1/evolutions/e/iterations/-1",
        "n",
        &["`-1`", "whole number"],
    )
    .await;
    check("/api/v1/splits?x=1", "x", &["there are none"]).await;
    check("/api/v1/published?x=1", "x", &["there are none"]).await;
    let scores = format!("/api/v1/runs/{HUMAN}/scores");
    check(
        &format!("{scores}?gamma=11"),
        "gamma",
        &["`11`", "from 0.1 to 10"],
    )
    .await;
    check(
        &format!("{scores}?convention=x"),
        "convention",
        &["`paper` or `reference`"],
    )
    .await;
    check(
        &format!("{scores}?split=demo"),
        "split",
        &["not a parameter here", "gamma, convention"],
    )
    .await;
    check(
        &format!("/api/v1/runs/{HUMAN}?x=1"),
        "x",
        &["there are none"],
    )
    .await;
    check(
        "/api/v1/plots/evoscore-gamma.svg?limit=1",
        "limit",
        &["not a parameter here"],
    )
    .await;
}

#[tokio::test]
async fn the_audit_log_has_no_page_after_what_is_no_entry() {
    let app = TestApp::seeded().await;
    let root = account(&app, "root", AccountRole::Admin).await;
    let root = bearer(&app, &root, AccountRole::Admin).await;
    let by = [("authorization", root.as_str())];
    let answer = app.ask("GET", "/api/v1/audit?after=zz", &by).await;
    let problem = answer.problem(400, "bad-parameter");
    assert_eq!(problem["parameter"], "after");
    let first = app.ask("GET", "/api/v1/audit?limit=1", &by).await.json();
    let next = first["next"].as_str().unwrap();
    let path = format!("/api/v1/audit?limit=1&after={next}");
    let second = app.ask("GET", &path, &by).await.json();
    assert_ne!(first["items"], second["items"]);
}

#[tokio::test]
async fn missing_things() {
    let app = TestApp::seeded().await;
    let check = async |path: &str, kind: &str, expect: &str| {
        let problem = app.get(path).await.problem(404, kind);
        let detail = problem["detail"].as_str().unwrap();
        assert!(detail.contains(expect), "{path} → {detail}");
    };
    check("/api/v1/tasks/nothing", "not-found", "`nothing`").await;
    check("/api/v1/runs/nothing", "not-found", "`nothing`").await;
    check("/api/v1/runs/nothing/events", "not-found", "`nothing`").await;
    check("/api/v1/runs/nothing/scores", "not-found", "`nothing`").await;
    check(
        "/api/v1/leaderboard?split=nothing",
        "not-found",
        "`nothing`",
    )
    .await;
    check("/api/v1/tasks?split=nothing", "not-found", "`nothing`").await;
    check(
        "/api/v1/plots/evoscore-gamma.svg?split=nothing",
        "not-found",
        "`nothing`",
    )
    .await;
    check(
        "/api/v1/evolutions/nothing/iterations/1",
        "not-found",
        "`nothing`",
    )
    .await;
    check(
        "/api/v1/evolutions/e-human-alpha/iterations/0",
        "not-found",
        "`0`",
    )
    .await;
    check(
        "/api/v1/evolutions/e-human-alpha/iterations/9",
        "not-found",
        "`9`",
    )
    .await;
    check(
        &format!("/api/v1/runs/{HUMAN}/tasks/nope"),
        "not-found",
        "there is no task `nope` in this run",
    )
    .await;
    check("/api/v1/nothing", "no-such-address", "/api/v1/nothing").await;
    check("/api/v1/runs/", "no-such-address", "/api/v1/runs/").await;
    check("/api/v2/runs", "no-such-address", "openapi.json").await;
    check("/health/", "no-such-address", "/health/").await;
    check("/pkg/nothing.js", "no-such-address", "/pkg/nothing.js").await;
}

#[tokio::test]
async fn wrong_methods() {
    let app = TestApp::seeded().await;
    for (method, path) in [
        ("PUT", "/api/v1/runs"),
        ("DELETE", "/api/v1/runs/x"),
        ("PUT", "/health/live"),
        ("POST", "/api/v1/openapi.json"),
        ("POST", "/favicon.svg"),
    ] {
        let answer = app.ask(method, path, &[]).await;
        let problem = answer.problem(405, "method-not-allowed");
        assert!(
            problem["detail"].as_str().unwrap().contains(method),
            "{problem}"
        );
        assert!(answer.header("allow").contains("GET"), "{method} {path}");
    }
}

#[tokio::test]
async fn head_is_get_without_a_body() {
    let app = TestApp::seeded().await;
    let answer = app.ask("HEAD", "/api/v1/runs", &[]).await;
    assert_eq!((answer.status.as_u16(), answer.bytes.len()), (200, 0));
}

#[tokio::test]
async fn a_large_body_is_refused() {
    let app = TestApp::empty().await;
    let length = (1024 * 1024 + 1).to_string();
    let answer = app
        .ask("POST", "/api/nothing", &[("content-length", &length)])
        .await;
    answer.problem(413, "too-large");
}
