//! Findings: who sees them, who decides about them, and what follows.

use axum::body::Body;
use axum::http::Request;
use serde_json::{Value, json};
use swe_ci_views::account::AccountRole;

use crate::fixture::{Answer, HUMAN, MODEL, TestApp};
use crate::people::{Browser, account, bearer};

/// The first iteration of the model's run: a note, and two suspicions.
const SUSPICIOUS: &str = r#"
    UPDATE iterations SET findings = '[
        {"grade":"note","kind":"steering","text":"conftest.py was changed"},
        {"grade":"suspicious","kind":"construct","text":"src/a.py reads <pytest>"},
        {"grade":"suspicious","kind":"equality","text":"x == y, y != x"}]'
    WHERE evolution_id = 'e-model-alpha' AND iteration = 1;
"#;

const READS: &str = "e-model-alpha.1.2";
const EQUALS: &str = "e-model-alpha.1.3";

async fn app() -> TestApp {
    TestApp::ranked_and_changed(SUSPICIOUS).await
}

/// Sends a decision about a finding of the model's run.
async fn review(app: &TestApp, token: Option<&str>, finding: &str, body: Value) -> Answer {
    let path = format!("/api/v1/runs/{MODEL}/findings/{finding}/review");
    let mut request = Request::builder().method("POST").uri(path);
    if let Some(token) = token {
        request = request.header("authorization", token);
    }
    let request = request.header("content-type", "application/json");
    let body = Body::from(body.to_string());
    app.read(request.body(body).unwrap()).await
}

fn decision(decision: &str) -> Value {
    json!({"decision": decision, "reason": "read the code"})
}

/// The models of the ranking, and the words for the unranked runs.
async fn standings(app: &TestApp) -> (usize, Vec<Value>) {
    let rows = app.get("/api/v1/leaderboard?split=demo").await.json();
    let apart = app.get("/api/v1/leaderboard/unranked?split=demo").await;
    let apart = apart.json().as_array().unwrap().clone();
    (rows["items"].as_array().unwrap().len(), apart)
}

#[tokio::test]
async fn findings_hold_a_run_until_they_are_decided() {
    let app = app().await;
    let root = account(&app, "root", AccountRole::Admin).await;
    let admin = bearer(&app, &root, AccountRole::Admin).await;
    let path = format!("/api/v1/runs/{MODEL}/findings");
    let found = app.get(&path).await.json();
    assert_eq!(
        found[1],
        json!({"finding_id": READS, "run_id": MODEL, "model": "<script>alert(1)</script>",
            "task_id": "alpha-1", "sample": 1, "evolution_id": "e-model-alpha", "iteration": 1,
            "grade": "suspicious", "kind": "construct", "text": "src/a.py reads <pytest>"})
    );
    let told = async |query: &str| {
        let found = app.get(&format!("{path}?{query}")).await.json();
        let found = found.as_array().unwrap().iter();
        found.map(|one| one["text"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(
        told("kind=construct&grade=suspicious").await,
        ["src/a.py reads <pytest>"]
    );
    assert_eq!(told("grade=note").await.len(), 1);
    assert_eq!(told("kind=canary").await, [""; 0]);
    app.get(&format!("{path}?grade=bad"))
        .await
        .problem(400, "bad-parameter");
    let held = json!({"why": "held_for_review", "open": 2});
    let run = app.get(&format!("/api/v1/runs/{MODEL}")).await.json();
    assert_eq!(run["unranked"], held);
    let (ranked, apart) = standings(&app).await;
    assert_eq!((ranked, &apart[0]["unranked"]), (1, &held));
    assert_eq!(apart[0]["run_id"], MODEL);
    let csv = app.get("/api/v1/leaderboard.csv?split=demo").await.text();
    assert!(csv.lines().next().unwrap().contains(",unranked,"), "{csv}");
    assert!(csv.contains(",held for review (2 open findings),"), "{csv}");
    let compared = format!("/api/v1/compare?runs={HUMAN},{MODEL}");
    let compared = app.get(&compared).await.json();
    let ranks: Vec<&Value> = (0..2).map(|i| &compared["runs"][i]["rank"]).collect();
    assert_eq!(ranks, [&json!(1), &json!(0)]);
    // Its scores stay.
    let scores = app.get(&format!("/api/v1/runs/{MODEL}/scores")).await;
    assert!(scores.json()["evoscore"].is_number());

    let open = app
        .ask("GET", "/api/v1/findings", &[("authorization", &admin)])
        .await;
    assert_eq!(open.json().as_array().unwrap().len(), 2);
    let after = review(&app, Some(&admin), READS, decision("confirmed")).await;
    let decided = &after.json()[1]["review"];
    assert_eq!(
        (&decided["decision"], &decided["reviewer"]),
        (&json!("confirmed"), &json!("root"))
    );
    let confirmed = json!({"why": "confirmed", "text": "src/a.py reads <pytest>"});
    assert_eq!(standings(&app).await.1[0]["unranked"], confirmed);
    // Another decision replaces it.
    for finding in [READS, EQUALS] {
        review(&app, Some(&admin), finding, decision("cleared"))
            .await
            .json();
    }
    assert_eq!(standings(&app).await, (2, Vec::new()));
    let run = app.get(&format!("/api/v1/runs/{MODEL}")).await.json();
    assert_eq!(run["unranked"], Value::Null);
    let log = format!("/api/v1/audit?subject={MODEL}");
    let log = app.ask("GET", &log, &[("authorization", &admin)]).await;
    let actions: Vec<Value> = log.json()["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| entry["action"].clone())
        .collect();
    assert_eq!(
        actions,
        ["finding.clear", "finding.clear", "finding.confirm"].map(Value::from)
    );
}

#[tokio::test]
async fn only_administrators_decide() {
    let app = app().await;
    let root = account(&app, "root", AccountRole::Admin).await;
    let owner = account(&app, "owner", AccountRole::Submitter).await;
    let id = &owner.identity().unwrap().account_id;
    app.execute(&format!(
        "UPDATE runs SET owner = '{id}' WHERE id = '{MODEL}'"
    ))
    .await;
    let owner = bearer(&app, &owner, AccountRole::Submitter).await;
    let narrow = bearer(&app, &root, AccountRole::Submitter).await;
    let admin = bearer(&app, &root, AccountRole::Admin).await;
    let clear = || decision("cleared");
    let nobody = review(&app, None, READS, clear()).await;
    nobody.problem(401, "unauthenticated");
    // Nor does the submitter of the run.
    for token in [&owner, &narrow] {
        let refused = review(&app, Some(token), READS, clear()).await;
        refused.problem(403, "forbidden");
        let open = app
            .ask("GET", "/api/v1/findings", &[("authorization", token)])
            .await;
        open.problem(403, "forbidden");
    }
    let wrong = async |finding: &str, body: Value| review(&app, Some(&admin), finding, body).await;
    wrong("e-model-alpha.1.1", clear())
        .await
        .problem(409, "conflict");
    wrong("e-model-alpha.1.4", clear())
        .await
        .problem(404, "not-found");
    wrong("e-human-alpha.1.1", clear())
        .await
        .problem(404, "not-found");
    wrong("first", clear()).await.problem(400, "bad-parameter");
    let without = json!({"decision": "cleared", "reason": " "});
    assert_eq!(wrong(READS, without).await.status, 400);
    let odd = json!({"decision": "ignored", "reason": "x"});
    assert_eq!(wrong(READS, odd).await.status, 400);
    assert_eq!(standings(&app).await.0, 1, "nothing was decided");

    // The findings of a private run are its owner's and administrators'.
    app.execute(&format!(
        "UPDATE runs SET visibility = 'private' WHERE id = '{MODEL}'"
    ))
    .await;
    let path = format!("/api/v1/runs/{MODEL}/findings");
    app.get(&path).await.problem(404, "not-found");
    let own = app.ask("GET", &path, &[("authorization", &owner)]).await;
    assert_eq!(own.json().as_array().unwrap().len(), 3);
}

#[tokio::test]
async fn reviewed_on_the_page() {
    let app = app().await;
    account(&app, "root", AccountRole::Admin).await;
    let page = format!("/runs/{MODEL}");
    let seen = app.get(&page).await.text();
    for part in [
        "held for review (2 open findings)",
        "src/a.py reads &lt;pytest&gt;",
        "1 note",
        "alpha-1, iteration 1",
    ] {
        assert!(seen.contains(part), "{part}: {seen}");
    }
    assert!(!seen.contains("value=\"review\""), "{seen}");
    let board = app.get("/?split=demo").await.text();
    assert!(board.contains(&format!("{page}#findings")), "{board}");
    assert!(board.contains("1 run without a rank is not drawn."));
    let compare = app.get(&format!("/compare?runs={HUMAN},{MODEL}")).await;
    assert!(compare.text().contains(">unranked<"), "{}", compare.text());
    let iteration = format!("{page}/e-model-alpha/1");
    let iteration = app.get(&iteration).await.text();
    assert!(
        iteration.contains(">suspicious<") && iteration.contains("One-sided equality"),
        "{iteration}"
    );
    assert_eq!(app.get("/findings").await.status, 401);

    let mut root = Browser::signed_in(&app, "root").await;
    let open = root.get("/findings").await.text();
    assert!(open.contains("x == y, y != x"), "{open}");
    let seen = root.get(&page).await.text();
    assert!(
        seen.contains("value=\"cleared\"") && seen.contains("value=\"confirmed\""),
        "{seen}"
    );
    let form = |finding, decision, reason| {
        [
            ("deed", "review"),
            ("finding", finding),
            ("decision", decision),
            ("reason", reason),
        ]
    };
    let refused = root.send(&page, &form(READS, "cleared", "")).await;
    assert_eq!(refused.status, 400);
    let text = refused.text();
    assert!(text.contains("Say why, in 1 to 500 characters."), "{text}");
    // The error is at the form that was sent, and at no other.
    let at = |finding| text.contains(&format!("id=\"reason-{finding}-problem\""));
    assert_eq!((at(READS), at(EQUALS)), (true, false), "{text}");

    let confirmed = form(READS, "confirmed", "it <b>patches</b>");
    assert_eq!(root.send(&page, &confirmed).await.status, 303);
    let seen = app.get(&page).await.text();
    for part in [
        "confirmed: src/a.py reads &lt;pytest&gt;",
        "Confirmed by root on ",
        "it &lt;b&gt;patches&lt;/b&gt;",
    ] {
        assert!(seen.contains(part), "{part}: {seen}");
    }
    for finding in [READS, EQUALS] {
        let cleared = form(finding, "cleared", "honest work");
        assert_eq!(root.send(&page, &cleared).await.status, 303);
    }
    let seen = root.get(&page).await.text();
    assert!(
        !seen.contains("held for review (") && seen.contains("3 notes"),
        "{seen}"
    );
    let open = root.get("/findings").await.text();
    assert!(open.contains("No finding waits for a decision."), "{open}");
    let log = root.get("/audit").await.text();
    assert!(
        log.contains(">cleared finding<") && log.contains(">confirmed finding<"),
        "{log}"
    );
}
