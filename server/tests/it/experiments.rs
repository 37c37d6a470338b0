//! Experiments: many runs from one configuration, by the API and by the form.

use serde_json::{Value, json};
use swe_ci_views::account::AccountRole;

use crate::fixture::TestApp;
use crate::people::{Browser, account};
use crate::submission::{Program, config};

#[tokio::test]
async fn an_experiment_is_queued_as_a_whole() {
    let app = TestApp::seeded().await;
    let ada = Program::of_account(&app, "ada", AccountRole::Submitter).await;
    let mut config = config();
    config["agent_files"] = json!({"AGENTS.md": "Mend with care."});
    config["vary"] = json!({
        "arm": [{"arm": "none", "agent_files": null}, {"arm": "files"}],
        "mode": ["tdd", "impossible"],
    });
    let body = json!({"config": config, "visibility": "private"}).to_string();
    let estimate = ada.ask("POST", "/api/v1/experiments/estimate", &body).await;
    assert_eq!(estimate.status, 200, "{}", estimate.text());
    let estimate: Value = serde_json::from_slice(&estimate.bytes).unwrap();
    assert_eq!(estimate["runs"].as_array().unwrap().len(), 4);
    assert_eq!(
        (&estimate["evolutions"], &estimate["tokens"]),
        (&json!(8), &Value::Null)
    );
    let queued = ada.ask("POST", "/api/v1/experiments", &body).await;
    assert_eq!(queued.status, 201, "{}", queued.text());
    let ids: Vec<String> = serde_json::from_slice(&queued.bytes).unwrap();
    let mut seen = Vec::new();
    for id in &ids {
        let run = ada.ask("GET", &format!("/api/v1/runs/{id}"), "").await;
        let run: Value = serde_json::from_slice(&run.bytes).unwrap();
        let config = &run["config"];
        assert_eq!(config["agent_files"].is_object(), config["arm"] == "files");
        seen.push(format!("{} {}", config["arm"], config["mode"]));
    }
    assert_eq!(
        seen,
        [
            "\"none\" \"tdd\"",
            "\"none\" \"impossible\"",
            "\"files\" \"tdd\"",
            "\"files\" \"impossible\"",
        ]
    );

    config["vary"] = json!({"samples": [1, 0]});
    let body = json!({"config": config}).to_string();
    let refused = ada.ask("POST", "/api/v1/experiments", &body).await;
    let problem = refused.problem(400, "bad-request");
    assert_eq!(problem["problems"][0]["field"], "samples", "{problem}");
    config["vary"] = json!({"agent_files": [{"../x": "y"}]});
    let body = json!({"config": config}).to_string();
    let refused = ada.ask("POST", "/api/v1/experiments", &body).await;
    let problem = refused.problem(400, "bad-request");
    assert!(
        problem["problems"][0]["problem"].as_str().is_some(),
        "{problem}"
    );
    let all = ada.ask("GET", "/api/v1/runs?mine=yes", "").await;
    let all: Value = serde_json::from_slice(&all.bytes).unwrap();
    assert_eq!(all["items"].as_array().unwrap().len(), 4);
}

#[tokio::test]
async fn an_experiment_is_started_by_the_form() {
    let app = TestApp::seeded().await;
    account(&app, "ada", AccountRole::Submitter).await;
    let mut ada = Browser::signed_in(&app, "ada").await;
    let toml = "model = 'Juniper'\nkind = 'measured'\nsplit = 'demo'\nharness = { name = 'builtin' }\n\
        endpoint = { url = 'https://api.example.org/v1', model = 'juniper-1' }\n\
        vary.arm = ['short', 'long']\n";
    let page = ada
        .send("/runs/new", &[("deed", "estimate-all"), ("toml", toml)])
        .await;
    assert_eq!(page.status, 200, "{}", page.text());
    let html = page.text().replace("<!>", "");
    assert!(
        html.contains("2 runs with 4 evolutions: cost unknown"),
        "{html}"
    );
    let started = ada
        .send("/runs/new", &[("deed", "submit-all"), ("toml", toml)])
        .await;
    assert_eq!(started.header("location"), "/runs");
    let runs = ada.get("/runs").await.text();
    assert!(runs.contains(">short") && runs.contains(">long"), "{runs}");
    let wrong = toml.replace("vary.arm", "vary.arms");
    let refused = ada
        .send("/runs/new", &[("deed", "submit-all"), ("toml", &wrong)])
        .await;
    assert_eq!(refused.status, 400);
    assert!(
        refused.text().contains("arms: there is no such field"),
        "{}",
        refused.text()
    );
}
