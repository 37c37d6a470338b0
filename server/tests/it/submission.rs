//! Submitting runs and storing keys: by the API, and by forms without scripts.

use axum::body::Body;
use axum::http::Request;
use serde_json::{Value, json};
use swe_ci_core::agent::Protocol;
use swe_ci_engine::run_configuration::from_toml;
use swe_ci_views::account::AccountRole;

use crate::fixture::{Answer, HUMAN, TestApp};
use crate::people::{Browser, account, bearer};

pub fn config() -> Value {
    json!({
        "model": "Juniper", "kind": "measured", "split": "demo", "harness": {"name": "builtin"},
        "endpoint": {"url": "https://api.example.org/v1", "model": "juniper-1"},
    })
}

/// A client that sends a token with each request, or none.
pub struct Program<'a> {
    app: &'a TestApp,
    bearer: Option<String>,
}

impl<'a> Program<'a> {
    fn of_visitor(app: &'a TestApp) -> Self {
        Self { app, bearer: None }
    }

    pub async fn of_account(app: &'a TestApp, name: &str, role: AccountRole) -> Self {
        let actor = account(app, name, role).await;
        let bearer = Some(bearer(app, &actor, role).await);
        Self { app, bearer }
    }

    pub async fn ask(&self, method: &str, path: &str, body: &str) -> Answer {
        let mut request = Request::builder().method(method).uri(path);
        if let Some(bearer) = &self.bearer {
            request = request.header("authorization", bearer);
        }
        self.app
            .read(request.body(Body::from(body.to_owned())).unwrap())
            .await
    }

    async fn submit(&self, body: &Value) -> Answer {
        self.ask("POST", "/api/v1/runs", &body.to_string()).await
    }
}

#[tokio::test]
async fn a_run_is_submitted_by_the_api() {
    let app = TestApp::seeded().await;
    let ada = Program::of_account(&app, "ada", AccountRole::Submitter).await;
    let mut config = config();
    config["tasks"] = json!(["beta-2"]);
    let private = json!({"config": config, "visibility": "private"});
    let answer = ada.submit(&private).await;
    assert_eq!(answer.status, 201, "{}", answer.text());
    let run: Value = serde_json::from_slice(&answer.bytes).unwrap();
    let path = answer.header("location");
    assert_eq!(
        path,
        format!("/api/v1/runs/{}", run["run_id"].as_str().unwrap())
    );
    assert_eq!(run["visibility"], "private");
    assert_eq!(run["config"]["tasks"], json!(["beta-2"]));
    assert_eq!(run["evolution_list"].as_array().unwrap().len(), 1);
    // Private to its submitter.
    assert_eq!(ada.ask("GET", path, "").await.status, 200);
    app.get(path).await.problem(404, "not-found");

    let answer = ada.submit(&json!({"config": config})).await;
    let path = answer.header("location").to_owned();
    let visibility = &app.get(&path).await.json()["visibility"];
    assert_eq!(visibility, "public", "unless it is said");
    let toml = app.get(&format!("{path}/config.toml")).await;
    assert_eq!(toml.header("content-type"), "application/toml");
    assert!(
        toml.text().contains("model = \"Juniper\""),
        "{}",
        toml.text()
    );
}

#[tokio::test]
async fn an_invalid_configuration_lists_every_error() {
    let app = TestApp::seeded().await;
    let ada = Program::of_account(&app, "ada", AccountRole::Submitter).await;
    let mut wrong = config();
    wrong["samples"] = json!(0);
    wrong["tasks"] = json!(["gamma-3", "nothing"]);
    wrong["endpoint"]["url"] = json!("http://169.254.169.254/v1");
    wrong["endpoint"]["key"] = json!("acme");
    let answer = ada.submit(&json!({"config": wrong})).await;
    let problem = answer.problem(400, "bad-request");
    let fields = problem["problems"].as_array().unwrap().iter();
    let fields: Vec<&str> = fields.map(|bad| bad["field"].as_str().unwrap()).collect();
    assert_eq!(fields, ["samples", "tasks", "endpoint.url", "endpoint.key"]);

    let unreadable = async |body: &str, field: Option<&str>, expect: &str| {
        let answer = ada.ask("POST", "/api/v1/runs", body).await;
        let problem = answer.problem(400, "bad-request");
        assert_eq!(problem["parameter"].as_str(), field, "{problem}");
        let detail = problem["detail"].as_str().unwrap();
        assert!(detail.contains(expect), "{body} → {detail}");
    };
    unreadable("", None, "not JSON: EOF").await;
    unreadable("[]", None, "must be a JSON object").await;
    unreadable("{}", Some("config"), "`config`: it is missing").await;
    // Also those that keep it from being read.
    let mut slip = config();
    slip["sample"] = json!(3);
    slip["samples"] = json!("3");
    slip["limits"] = json!({"agent_seconds": -1});
    let answer = ada.submit(&json!({"config": slip})).await;
    let problem = answer.problem(400, "bad-request");
    let fields = problem["problems"].as_array().unwrap().iter();
    let mut fields: Vec<&str> = fields.map(|bad| bad["field"].as_str().unwrap()).collect();
    fields.sort_unstable();
    assert_eq!(fields, ["limits.agent_seconds", "sample", "samples"]);

    let good = json!({"config": config()});
    let visitor = Program::of_visitor(&app);
    visitor.submit(&good).await.problem(401, "unauthenticated");
    let reader = Program::of_account(&app, "rob", AccountRole::Reader).await;
    reader.submit(&good).await.problem(403, "forbidden");
}

#[tokio::test]
async fn keys_are_stored_by_the_api() {
    let app = TestApp::seeded().await;
    let ada = Program::of_account(&app, "ada", AccountRole::Submitter).await;
    let bob = Program::of_account(&app, "bob", AccountRole::Submitter).await;
    let set = ada
        .ask("PUT", "/api/v1/keys/acme", r#"{"value": "sk-marked"}"#)
        .await;
    assert_eq!(set.status, 204, "{}", set.text());
    let keys = ada.ask("GET", "/api/v1/keys", "").await;
    assert_eq!(keys.json()[0]["name"], "acme");
    assert!(!keys.text().contains("marked"));
    assert_eq!(bob.ask("GET", "/api/v1/keys", "").await.json(), json!([]));
    let mut with_key = config();
    with_key["endpoint"]["key"] = json!("acme");
    let run = json!({"config": with_key});
    bob.submit(&run).await.problem(400, "bad-request");
    assert_eq!(ada.submit(&run).await.status, 201);
    let path = "/api/v1/keys/acme";
    bob.ask("DELETE", path, "").await.problem(404, "not-found");
    ada.ask("DELETE", path, "").await.problem(409, "conflict");
    let forced = format!("{path}?force=true");
    assert_eq!(ada.ask("DELETE", &forced, "").await.status, 204);

    // An unreadable body is not repeated.
    let bad = ada
        .ask("PUT", path, r#"{"value": 5, "sk-marked": 1}"#)
        .await;
    bad.problem(400, "bad-request");
    assert!(!bad.text().contains("marked"), "{}", bad.text());
    let visitor = Program::of_visitor(&app);
    visitor
        .ask("GET", "/api/v1/keys", "")
        .await
        .problem(401, "unauthenticated");
}

const FIELDS: [(&str, &str); 7] = [
    ("deed", "submit"),
    ("model", "Juniper <b>"),
    ("harness.name", "builtin"),
    ("endpoint.url", "https://api.example.org/v1"),
    ("endpoint.model", "juniper-1"),
    ("split", "demo"),
    ("visibility", "public"),
];

#[tokio::test]
async fn a_run_is_submitted_by_the_form() {
    let app = TestApp::seeded().await;
    account(&app, "ada", AccountRole::Submitter).await;
    let mut ada = Browser::signed_in(&app, "ada").await;
    let page = ada.get("/runs/new").await;
    assert_eq!(page.status, 200, "{}", page.text());
    assert!(page.text().contains("name=\"endpoint.url\""));
    assert!(ada.get("/runs").await.text().contains("href=\"/runs/new\""));

    // The error is at its field; the typed values are shown again, except the
    // key.
    let bad = [
        &FIELDS[..],
        &[
            ("samples", "many"),
            ("tasks", "nothing"),
            ("endpoint.key", "+"),
            ("new-key-name", "mine"),
            ("new-key", "sk-marked"),
        ],
    ];
    let answer = ada.send("/runs/new", &bad.concat()).await;
    assert_eq!(answer.status, 400);
    let html = answer.text();
    assert!(html.contains("`many` is not a valid number"), "{html}");
    assert!(html.contains("href=\"#field-samples\""), "{html}");
    assert!(html.contains(">Evolutions per task<!></a>"), "{html}");
    // What only the server knows comes in the same round.
    assert!(html.contains("href=\"#field-tasks\""), "{html}");
    assert!(html.contains("value=\"Juniper &lt;b&gt;\""), "{html}");
    assert!(html.contains("value=\"mine\""), "{html}");
    assert!(!html.contains("sk-marked"), "{html}");

    let good = [
        &FIELDS[..],
        &[
            ("endpoint.key", "+"),
            ("new-key-name", "mine"),
            ("new-key", "sk-marked"),
            ("forget-keys", "on"),
        ],
    ];
    let answer = ada.send("/runs/new", &good.concat()).await;
    assert_eq!(answer.status, 303, "{}", answer.text());
    let path = answer.header("location").to_owned();
    let run = app.get(&format!("/api/v1{path}")).await.json();
    assert_eq!(run["config"]["endpoint"]["key"], "mine");
    assert_eq!(run["visibility"], "public");
    let keys = ada.get("/keys").await.text();
    assert!(keys.contains("mine") && !keys.contains("marked"), "{keys}");

    let id = path.rsplit('/').next().unwrap();
    let copy = ada.get(&format!("/runs/new?from={id}")).await.text();
    assert!(copy.contains("value=\"juniper-1\"") && copy.contains("value=\"mine\" selected"));
    assert!(copy.contains("Like an earlier run"), "{copy}");

    let cancelled = ada.send(&path, &[("deed", "cancel")]).await;
    assert_eq!(cancelled.status, 303, "{}", cancelled.text());
    let keys = ada.get("/keys").await.text();
    assert!(keys.contains("You have none."), "{keys}");
}

#[tokio::test]
async fn a_preview_queues_nothing() {
    let app = TestApp::seeded().await;
    account(&app, "ada", AccountRole::Submitter).await;
    let mut ada = Browser::signed_in(&app, "ada").await;
    let before = app.get("/api/v1/runs").await.json();
    let mut fields = FIELDS;
    fields[0] = ("deed", "preview");
    let page = ada.send("/runs/new", &fields).await;
    assert_eq!(page.status, 200, "{}", page.text());
    let html = page.text().replace("<!>", "");
    // Two tasks are ready; no run has used this model yet.
    assert!(
        html.contains("<dt>Iterations at most</dt><dd>40</dd>"),
        "{html}"
    );
    assert!(
        html.contains("no earlier evolutions of this harness"),
        "{html}"
    );
    assert!(html.contains("value=\"juniper-1\""), "{html}");
    assert_eq!(app.get("/api/v1/runs").await.json(), before);
}

/// A key typed beside its name is stored with the run, and a preview needs none.
#[tokio::test]
async fn a_preview_knows_the_key_typed_beside_it() {
    let app = TestApp::seeded().await;
    account(&app, "ada", AccountRole::Submitter).await;
    let mut ada = Browser::signed_in(&app, "ada").await;
    let mut fields = FIELDS.to_vec();
    fields[0] = ("deed", "preview");
    fields.push(("endpoint.key", "mine"));
    let refused = ada.send("/runs/new", &fields).await;
    assert_eq!(refused.status, 400);
    assert!(refused.text().contains("you have no key `mine`"));
    fields.pop();
    fields.extend([
        ("endpoint.key", "+"),
        ("new-key-name", "mine"),
        ("new-key", "sk-marked"),
    ]);
    let page = ada.send("/runs/new", &fields).await;
    assert_eq!(page.status, 200, "{}", page.text());
    assert!(!page.text().contains("sk-marked"));
    assert!(ada.get("/keys").await.text().contains("You have none."));
}

/// While somebody fills in the form, the server says what is wrong so far.
#[tokio::test]
async fn the_fields_are_checked_one_by_one() {
    let app = TestApp::seeded().await;
    account(&app, "ada", AccountRole::Submitter).await;
    let mut ada = Browser::signed_in(&app, "ada").await;
    let mut fields = FIELDS.to_vec();
    fields[0] = ("deed", "check");
    let answer = ada.send("/runs/new", &fields).await;
    assert_eq!(answer.status, 200);
    let checked = answer.json();
    assert_eq!(checked["problems"], json!([]));
    let estimate = checked["estimate"].as_str().unwrap();
    assert!(estimate.contains("Iterations at most"), "{estimate}");
    fields.push(("samples", "many"));
    let checked = ada.send("/runs/new", &fields).await.json();
    assert_eq!(checked["problems"][0]["field"], "samples", "{checked}");
    let none = checked["estimate"].as_str().unwrap();
    assert!(
        none.contains("once harness, model and split are known"),
        "{none}"
    );
}

#[tokio::test]
async fn a_preset_fills_in_what_a_provider_needs() {
    let app = TestApp::seeded().await;
    account(&app, "ada", AccountRole::Submitter).await;
    let mut ada = Browser::signed_in(&app, "ada").await;
    let page = ada.get("/runs/new?preset=anthropic").await.text();
    assert!(
        page.contains("value=\"https://api.anthropic.com/v1\""),
        "{page}"
    );
    assert!(page.contains("value=\"claude-code\" selected"), "{page}");
    assert!(page.contains("value=\"+\" selected"), "{page}");
    // Nobody's models are listed from inside this network.
    let mut fields = FIELDS.to_vec();
    fields[0] = ("deed", "models");
    fields[3] = ("endpoint.url", "http://127.0.0.1:1/v1");
    let refused = ada.send("/runs/new", &fields).await;
    assert_eq!(refused.status, 400);
    assert!(refused.text().contains("private network"));
}

/// Nobody has to know what a harness speaks.
#[tokio::test]
async fn the_harness_sets_the_protocol() {
    let app = TestApp::seeded().await;
    account(&app, "ada", AccountRole::Submitter).await;
    let mut ada = Browser::signed_in(&app, "ada").await;
    let mut fields = FIELDS.to_vec();
    fields[2] = ("harness.name", "claude-code");
    let answer = ada.send("/runs/new", &fields).await;
    assert_eq!(answer.status, 303, "{}", answer.text());
    let path = answer.header("location").to_owned();
    let run = app.get(&format!("/api/v1{path}")).await.json();
    assert_eq!(run["config"]["endpoint"]["protocol"], "messages");
}

/// TOML, database, API and TOML again.
#[tokio::test]
async fn a_configuration_stays_as_it_was_written() {
    let app = TestApp::seeded().await;
    let ada = Program::of_account(&app, "ada", AccountRole::Submitter).await;
    let written = r#"
        model = "Juniper"
        provider = "Acme"
        release_date = "2026-01-31"
        training_cutoff = "2025-10-31"
        kind = "measured"
        split = "demo"
        mode = "rdd"
        harness = { name = "claude-code" }
        [endpoint]
        url = "https://api.example.org/v1"
        model = "juniper-1"
        parameters = { temperature = 0.5 }
        headers = { x-team = "a" }
        prices = { input = 3.0, cached = 0.3, output = 15.0 }
        [programmer]
        harness = { name = "builtin" }
        [programmer.endpoint]
        protocol = "chat"
        url = "https://api.example.org/v1"
        model = "juniper-2"
        prices = { input = 1.0, output = 2.0 }
        [budget]
        usd = 2.5
    "#;
    let mut config = from_toml(written).unwrap();
    let answer = ada.submit(&json!({"config": config})).await;
    assert_eq!(answer.status, 201, "{}", answer.text());
    // Nobody has to know what a harness speaks here either.
    config.endpoint.as_mut().unwrap().protocol = Protocol::Messages;
    let path = answer.header("location");
    let run = app.get(path).await.json();
    assert_eq!(run["config"], serde_json::to_value(&config).unwrap());
    let toml = app.get(&format!("{path}/config.toml")).await.text();
    assert_eq!(from_toml(&toml).unwrap(), config, "{toml}");

    config.endpoint.as_mut().unwrap().protocol = Protocol::Gemini;
    let refused = ada.submit(&json!({"config": config})).await;
    let problem = refused.problem(400, "bad-request");
    assert_eq!(
        problem["problems"][0]["field"], "endpoint.protocol",
        "{problem}"
    );
}

#[tokio::test]
async fn the_form_is_filled_from_toml() {
    let app = TestApp::seeded().await;
    account(&app, "ada", AccountRole::Submitter).await;
    let mut ada = Browser::signed_in(&app, "ada").await;
    let toml = app
        .get(&format!("/api/v1/runs/{HUMAN}/config.toml"))
        .await
        .text();
    let filled = ada
        .send("/runs/new", &[("deed", "read"), ("toml", &toml)])
        .await;
    assert_eq!(filled.status, 200);
    assert!(filled.text().contains("value=\"Human (replayed history)\""));
    let mut uploaded =
        async |file: &[u8]| ada.send_file("/runs/new", "read", "toml-file", file).await;
    let filled = uploaded(toml.as_bytes()).await;
    assert_eq!(filled.status, 200, "{}", filled.text());
    assert!(filled.text().contains("value=\"Human (replayed history)\""));
    // A picture by mistake, and a file that is too large.
    assert_eq!(uploaded(b"\x89PNG\r\n\x1a\n\xff").await.status, 400);
    assert_eq!(uploaded(&vec![b'#'; 3 << 20]).await.status, 400);
    let wrong = ada
        .send("/runs/new", &[("deed", "read"), ("toml", "model = ")])
        .await;
    assert_eq!(wrong.status, 400);
    assert!(wrong.text().contains("Line 1: "), "{}", wrong.text());
    assert!(
        wrong.text().contains("model = </textarea>"),
        "{}",
        wrong.text()
    );
}

#[tokio::test]
async fn readers_learn_that_they_cannot_submit() {
    let app = TestApp::seeded().await;
    account(&app, "rob", AccountRole::Reader).await;
    let mut rob = Browser::signed_in(&app, "rob").await;
    for page in ["/runs/new", "/keys"] {
        assert_eq!(app.get(page).await.status, 401, "{page}");
        assert_eq!(rob.get(page).await.status, 403, "{page}");
        assert_eq!(rob.send(page, &FIELDS).await.status, 403, "{page}");
    }
    assert!(!rob.get("/runs").await.text().contains("href=\"/runs/new\""));
}

#[tokio::test]
async fn keys_are_stored_by_the_form() {
    let app = TestApp::seeded().await;
    account(&app, "ada", AccountRole::Submitter).await;
    let mut ada = Browser::signed_in(&app, "ada").await;
    let set = [
        ("deed", "set-key"),
        ("name", "acme"),
        ("value", "sk-marked"),
    ];
    let answer = ada.send("/keys", &set).await;
    assert_eq!(answer.header("location"), "/keys?done=set");
    let bad = [("deed", "set-key"), ("name", "a/b"), ("value", "sk-marked")];
    let answer = ada.send("/keys", &bad).await;
    assert_eq!(answer.status, 400);
    let html = answer.text();
    assert!(html.contains("aria-invalid") && html.contains("value=\"a/b\""));
    assert!(!html.contains("sk-marked"), "{html}");

    let run = [&FIELDS[..], &[("endpoint.key", "acme")]].concat();
    assert_eq!(ada.send("/runs/new", &run).await.status, 303);
    let remove = [("deed", "remove-key"), ("key", "acme")];
    let held = ada.send("/keys", &remove).await.text();
    assert!(held.contains("Remove it anyway"), "{held}");
    let forced = [&remove[..], &[("force", "yes")]].concat();
    let answer = ada.send("/keys", &forced).await;
    assert_eq!(answer.header("location"), "/keys?done=removed");
}
