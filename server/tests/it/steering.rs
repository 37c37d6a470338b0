//! Steering runs: by the API, and by the forms of a run's page without scripts.

use axum::body::Body;
use axum::http::Request;
use serde_json::Value;
use swe_ci_views::account::AccountRole;

use crate::fixture::{Answer, HUMAN, MODEL, PATIENT, TestApp};
use crate::people::{Browser, account, bearer};

/// Sends this token, or none.
async fn ask(app: &TestApp, bearer: Option<&str>, call: &str, body: &str) -> Answer {
    let (method, path) = call.split_once(' ').unwrap();
    let mut request = Request::builder()
        .method(method)
        .uri(path)
        .header("content-type", "application/json");
    if let Some(bearer) = bearer {
        request = request.header("authorization", bearer);
    }
    let body = Body::from(body.to_owned());
    app.read(request.body(body).unwrap()).await
}

#[tokio::test]
async fn a_run_is_steered_by_the_api() {
    let app = TestApp::seeded().await;
    let root = account(&app, "root", AccountRole::Admin).await;
    let token = bearer(&app, &root, AccountRole::Admin).await;
    let say = async |call: &str, body: &str| ask(&app, Some(&token), call, body).await;
    let at = |path: &str| format!("/api/v1/runs/{MODEL}{path}");
    for _ in 0..2 {
        let run = say(&format!("POST {}", at("/pause")), "").await.json();
        assert_eq!(
            (&run["paused"], &run["progress"]),
            (&true.into(), &"running".into())
        );
    }
    let run = say(&format!("POST {}", at("/resume")), "").await.json();
    assert_eq!(run["paused"], false);
    let patch = format!("PATCH {}", at(""));
    let run = say(&patch, r#"{"at_once": 2}"#).await.json();
    assert_eq!(run["at_once"], 2);
    let run = say(&patch, "{}").await.json();
    assert_eq!(run["at_once"], 2, "what is left out stays");
    let run = say(&patch, r#"{"at_once": null}"#).await.json();
    assert_eq!(run["at_once"], Value::Null);

    let refused = say(&patch, r#"{"at_once": 0}"#)
        .await
        .problem(400, "bad-request");
    assert!(
        refused["detail"]
            .as_str()
            .unwrap()
            .contains("between 1 and 256")
    );
    let refused = say(&patch, r#"{"budget": {"usd": 5}}"#).await;
    assert!(
        refused.problem(400, "bad-request")["detail"]
            .as_str()
            .unwrap()
            .contains("no limit now")
    );
    for unknown in [r#"{"at_onse": 1}"#, r#"{"budget": {"dollars": 1}}"#, "{"] {
        say(&patch, unknown).await.problem(400, "bad-request");
    }
    let retry = say(&format!("POST {}", at("/retry")), "").await;
    assert_eq!(retry.json()["progress"], "running");
    for _ in 0..2 {
        let run = say(&format!("POST {}", at("/cancel")), "").await.json();
        assert_eq!(run["progress"], "cancelled");
    }
    for deed in ["/pause", "/resume", "/retry"] {
        let over = say(&format!("POST {}", at(deed)), "").await;
        over.problem(409, "conflict");
    }
    let nowhere = say("POST /api/v1/runs/none/pause", "").await;
    nowhere.problem(404, "not-found");
}

#[tokio::test]
async fn forbidden_callers_get_a_reason() {
    let app = TestApp::seeded().await;
    let ada = account(&app, "ada", AccountRole::Submitter).await;
    let ada = bearer(&app, &ada, AccountRole::Submitter).await;
    let reader = account(&app, "ben", AccountRole::Reader).await;
    let reader = bearer(&app, &reader, AccountRole::Reader).await;
    let path = format!("/api/v1/runs/{MODEL}");
    let deeds = ["/pause", "/resume", "/retry", "/cancel"].map(|deed| format!("POST {path}{deed}"));
    for call in deeds.into_iter().chain([format!("PATCH {path}")]) {
        ask(&app, None, &call, "{}")
            .await
            .problem(401, "unauthenticated");
        for token in [&ada, &reader] {
            ask(&app, Some(token), &call, "{}")
                .await
                .problem(403, "forbidden");
        }
    }
    let run = app.get(&path).await.json();
    assert_eq!(
        (&run["paused"], &run["may_steer"]),
        (&false.into(), &false.into())
    );
}

#[tokio::test]
async fn a_run_is_steered_by_the_forms_of_its_page() {
    let app = TestApp::changed(&format!(
        r#"UPDATE runs SET budget = '{{"tokens": 1000}}' WHERE id = '{PATIENT}'"#
    ))
    .await;
    account(&app, "root", AccountRole::Admin).await;
    let page = format!("/runs/{PATIENT}");
    // A visitor sees no forms.
    assert!(!app.get(&page).await.text().contains(r#"name="deed""#));
    let mut root = Browser::signed_in(&app, "root").await;
    assert!(root.get(&page).await.text().contains("Run controls"));
    let done = root.send(&page, &[("deed", "pause")]).await;
    assert_eq!(
        (done.status.as_u16(), done.header("location")),
        (303, &*page)
    );
    let text = root.get(&page).await.text();
    assert!(text.contains("paused") && text.contains(r#"value="resume""#));
    assert!(!text.contains(r#"value="pause""#));

    // After an error, the page shows it at the field and keeps the typed
    // values.
    let typed = [
        ("deed", "change"),
        ("at_once", "3"),
        ("budget.tokens", "999"),
    ];
    let refused = root.send(&page, &typed).await;
    assert_eq!(refused.status, 400);
    let text = refused.text();
    assert!(
        text.contains("can only be raised") && text.contains(r#"value="999""#),
        "{text}"
    );
    assert!(text.contains("aria-invalid"));
    let typed = [
        ("deed", "change"),
        ("at_once", "3"),
        ("budget.tokens", "2000"),
    ];
    assert_eq!(root.send(&page, &typed).await.status, 303);
    let run = app.get(&format!("/api/v1/runs/{PATIENT}")).await.json();
    assert_eq!(
        (&run["at_once"], &run["budget"]["tokens"]),
        (&3.into(), &2000.into())
    );

    assert_eq!(root.send(&page, &[("deed", "cancel")]).await.status, 303);
    let late = root.send(&page, &[("deed", "pause")]).await;
    assert!(
        late.text().contains("is cancelled already"),
        "{}",
        late.text()
    );
    // A finished run offers nothing to stop.
    let text = root.get(&format!("/runs/{HUMAN}")).await.text();
    assert!(!text.contains(r#"value="pause""#) && !text.contains(r#"value="cancel""#));
    let strange = root.send(&page, &[("deed", "explode")]).await;
    assert_eq!(strange.status, 400);
}

#[tokio::test]
async fn a_blocked_evolution_shows_its_reason_and_can_be_retried() {
    let app = TestApp::changed(
        "UPDATE evolutions SET progress = 'finished', ending = 'blocked', reason = 'the <b>disk</b> is full'
         WHERE id = 'e-model-beta'",
    )
    .await;
    account(&app, "root", AccountRole::Admin).await;
    let page = format!("/runs/{MODEL}");
    let mut root = Browser::signed_in(&app, "root").await;
    let text = root.get(&page).await.text();
    assert!(
        text.contains("failed, not the agent") && text.contains("the &lt;b&gt;disk"),
        "{text}"
    );
    assert!(text.contains(&format!("/runs/{MODEL}/e-model-beta/1")));
    assert!(text.contains("Retry 1 evolution"));
    assert_eq!(root.send(&page, &[("deed", "retry")]).await.status, 303);
    let steps = app
        .get("/api/v1/evolutions/e-model-beta/steps")
        .await
        .json();
    let last = steps.as_array().unwrap().last().unwrap();
    assert_eq!(
        (&last["outcome"], &last["detail"]),
        (&"retried".into(), &"root had it tried again".into())
    );
}
