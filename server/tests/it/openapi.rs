//! The API's description is part of its contract: a change must be deliberate.

use serde_json::{Map, Value, json};
use swe_ci_core::run::Progress;
use swe_ci_views::account::AccountRole;
use swe_ci_views::notification::{Cause, News, Occasion, WebhookData, WebhookMessage};

use crate::access::filled;
use crate::fixture::{Answer, HUMAN, MODEL, TestApp};
use crate::people::{account, bearer};

#[tokio::test]
async fn the_description_is_pinned() {
    let app = TestApp::empty().await;
    let document = app.get("/api/v1/openapi.json").await.json();
    insta::with_settings!({
        description => "run `INSTA_UPDATE=always cargo test -p swe-ci` to update, and look at the difference",
        omit_expression => true,
    }, {
        insta::assert_snapshot!(outline(&document));
    });
}

#[tokio::test]
async fn every_reference_leads_somewhere() {
    let app = TestApp::empty().await;
    let document = app.get("/api/v1/openapi.json").await.json();
    let text = document.to_string();
    let references = text.split("\"$ref\":\"#").skip(1);
    let pointers: Vec<&str> = references
        .map(|rest| rest.split('"').next().unwrap())
        .collect();
    assert!(pointers.len() > 20);
    for pointer in pointers {
        assert!(document.pointer(pointer).is_some(), "{pointer}");
    }
}

/// The page has all of it, each operation with an example.
#[tokio::test]
async fn the_page_of_the_api_lists_every_operation() {
    let app = TestApp::empty().await;
    let document = app.get("/api/v1/openapi.json").await.json();
    let page = app.get("/api").await.text();
    for (path, operations) in object(&document["paths"]) {
        assert!(page.contains(&format!("<code>{path}<")), "{path}");
        assert!(!object(operations).is_empty());
    }
    assert!(page.contains("curl -X POST -H"), "{page}");
}

/// What a client depends on: a line for each operation and each schema.
fn outline(document: &Value) -> String {
    let mut lines = Vec::new();
    for (path, operations) in object(&document["paths"]) {
        for (method, operation) in object(operations) {
            let parameters = operation["parameters"].as_array().into_iter().flatten();
            let parameters = parameters
                .filter(|parameter| parameter["in"] == "query")
                .map(|parameter| field(parameter["name"].as_str().unwrap(), parameter));
            let parameters = parameters.collect::<Vec<_>>().join(" ");
            let body = contents(&operation["requestBody"]["content"]);
            let answers = object(&operation["responses"]).iter();
            let answers =
                answers.map(|(status, answer)| format!("{status}{}", contents(&answer["content"])));
            let answers = answers.collect::<Vec<_>>().join(" ");
            lines.push(format!(
                "{} {path} ({parameters}){body} -> {answers}",
                method.to_uppercase()
            ));
        }
    }
    lines.push(String::new());
    for (name, schema) in object(&document["components"]["schemas"]) {
        lines.push(format!("{name} = {}", form(schema)));
    }
    lines.join("\n")
}

fn object(value: &Value) -> &Map<String, Value> {
    value.as_object().unwrap()
}

/// A parameter or property with `?` where it may be absent.
fn field(name: &str, parameter: &Value) -> String {
    let mark = if parameter["required"] == true {
        ""
    } else {
        "?"
    };
    format!("{name}{mark}: {}", form(&parameter["schema"]))
}

/// " text/csv json:Row" for the media types of a body.
fn contents(content: &Value) -> String {
    let types = content.as_object().into_iter().flatten();
    let types = types.map(|(media_type, content)| match form(&content["schema"]) {
        schema if media_type == "application/json" => format!(" {schema}"),
        schema if schema == "string" => format!(" {media_type}"),
        // Every error is one.
        schema if schema == "Problem" => String::new(),
        schema => format!(" {media_type}:{schema}"),
    });
    types.collect()
}

/// A schema in a notation like TypeScript's.
fn form(schema: &Value) -> String {
    if let Some(reference) = schema["$ref"].as_str() {
        return reference.rsplit('/').next().unwrap().to_owned();
    }
    if let Some(words) = schema["enum"].as_array() {
        let words: Vec<String> = words.iter().map(Value::to_string).collect();
        return words.join(" | ");
    }
    for (key, sign) in [("oneOf", " | "), ("anyOf", " | "), ("allOf", " & ")] {
        if let Some(parts) = schema[key].as_array() {
            return parts.iter().map(form).collect::<Vec<_>>().join(sign);
        }
    }
    let kinds = match &schema["type"] {
        Value::Array(kinds) => kinds.clone(),
        Value::Null => vec![json!("any")],
        kind => vec![kind.clone()],
    };
    let kinds = kinds.iter().map(|kind| match kind.as_str().unwrap() {
        "array" => format!("[{}]", form(&schema["items"])),
        "object" => properties(schema),
        kind => {
            let more = ["format", "minimum", "maximum", "pattern"].map(|key| match &schema[key] {
                Value::Null => String::new(),
                bound if key == "minimum" && bound == 0 => String::new(),
                Value::String(text) => format!(" {text}"),
                bound => format!(" {key}={bound}"),
            });
            format!("{kind}{}", more.concat())
        }
    });
    kinds.collect::<Vec<_>>().join(" | ")
}

fn properties(schema: &Value) -> String {
    let required = schema["required"].as_array();
    let is_required = |name: &str| required.is_some_and(|names| names.iter().any(|n| n == name));
    let properties = schema["properties"].as_object().into_iter().flatten();
    let mut fields: Vec<String> = properties
        .map(|(name, property)| {
            let mark = if is_required(name) { "" } else { "?" };
            format!("{name}{mark}: {}", form(property))
        })
        .collect();
    match &schema["additionalProperties"] {
        Value::Null => {}
        Value::Bool(false) => fields.push("nothing else".to_owned()),
        values => fields.push(format!("*: {}", form(values))),
    }
    format!("{{ {} }}", fields.join(", "))
}

/// Generators of clients name functions by them.
#[tokio::test]
async fn every_operation_has_an_id_of_its_own() {
    let app = TestApp::empty().await;
    let document = app.get("/api/v1/openapi.json").await.json();
    let paths = document["paths"].as_object().unwrap().values();
    let operations = paths.flat_map(|path| path.as_object().unwrap().values());
    let ids = operations.filter_map(|operation| operation["operationId"].as_str());
    let mut ids: Vec<&str> = ids.collect();
    assert!(ids.len() > 60);
    ids.sort_unstable();
    let of_several = ids.windows(2).find(|pair| pair[0] == pair[1]);
    assert_eq!(of_several, None);
}

/// Queries of the operations that need one.
fn query(path: &str) -> String {
    match path.strip_prefix("/api/v1/").unwrap_or(path) {
        "compare" | "compare.csv" => format!("?runs={HUMAN},{MODEL}"),
        "gate" | "gate.md" | "gate.xml" => format!("?baseline={HUMAN}&candidate={MODEL}"),
        "runs/{id}/trajectories/places" => "?subject=outcome&name=architect/done".to_owned(),
        "runs/{id}/transcripts" => "?q=error".to_owned(),
        _ => String::new(),
    }
}

/// Generated clients read what the description says.
#[tokio::test]
async fn answers_are_as_described() {
    let app = TestApp::seeded().await;
    let document = app.get("/api/v1/openapi.json").await.json();
    let root = account(&app, "root", AccountRole::Admin).await;
    let root = bearer(&app, &root, AccountRole::Admin).await;
    let mut successes = 0;
    for (path, operations) in document["paths"].as_object().unwrap() {
        let endless = path.ends_with("/events");
        let Some(operation) = operations.get("get").filter(|_| !endless) else {
            continue;
        };
        let address = filled(path) + &query(path);
        let answer = app.ask("GET", &address, &[("authorization", &root)]).await;
        let described = &operation["responses"][answer.status.as_str()];
        assert!(described.is_object(), "{address}: {}", answer.text());
        agrees(&address, &answer, &described["content"], &document);
        successes += u32::from(answer.status == 200);
    }
    assert!(successes >= 40, "{successes}");
}

/// The document has the answers of the layers around the handlers, and the words of
/// parameters.
#[tokio::test]
async fn shared_answers_and_words_are_described() {
    let app = TestApp::empty().await;
    let document = app.get("/api/v1/openapi.json").await.json();
    let described = |method: &str, path: &str, status: &str| {
        document["paths"][path][method]["responses"][status].is_object()
    };
    assert!(described("get", "/api/v1/runs", "304"));
    assert!(described("get", "/api/v1/leaderboard.csv", "304"));
    assert!(!described("get", "/api/v1/runs/{id}/events", "304"));
    assert!(!described("get", "/health/live", "304"));
    assert!(described("post", "/api/v1/runs", "413"));
    assert!(!described("post", "/api/v1/runs/{id}/pause", "413"));
    let words = |path: &str, name: &str| {
        let parameters = document["paths"][path]["get"]["parameters"].as_array();
        let mut parameters = parameters.unwrap().iter();
        let parameter = parameters.find(|parameter| parameter["name"] == name);
        parameter.unwrap()["schema"]["enum"].clone()
    };
    let seen = json!(["include", "exclude"]);
    assert_eq!(words("/api/v1/leaderboard", "seen"), seen);
    assert_eq!(words("/api/v1/runs", "mine"), json!(["no", "yes"]));
    let order = words("/api/v1/matrix", "sort");
    assert_eq!(
        order.as_array().unwrap()[..2],
        [json!("mean"), json!("-mean")]
    );
    let order = words("/api/v1/tasks", "sort");
    assert_eq!(order.as_array().unwrap().len(), 18);
}

/// Forms send every field, also the empty ones.
#[tokio::test]
async fn an_empty_parameter_counts_as_absent() {
    let app = TestApp::seeded().await;
    let document = app.get("/api/v1/openapi.json").await.json();
    let root = account(&app, "root", AccountRole::Admin).await;
    let root = bearer(&app, &root, AccountRole::Admin).await;
    let mut parameters = 0;
    for (path, operations) in document["paths"].as_object().unwrap() {
        let described = operations["get"]["parameters"].as_array();
        for parameter in described.into_iter().flatten() {
            if parameter["in"] != "query" {
                continue;
            }
            let empty = format!("{}=", parameter["name"].as_str().unwrap());
            let others = query(path);
            let others = others.trim_start_matches('?').split('&');
            let without: Vec<&str> = others.filter(|pair| !pair.starts_with(&empty)).collect();
            let without = format!("{}?{}", filled(path), without.join("&"));
            let with = match without.ends_with('?') {
                true => format!("{without}{empty}"),
                false => format!("{without}&{empty}"),
            };
            let by = [("authorization", root.as_str())];
            let expect = app.ask("GET", &without, &by).await;
            let found = app.ask("GET", &with, &by).await;
            assert_eq!(found.status, expect.status, "{with}: {}", found.text());
            if found.status == 200 {
                assert!(found.bytes == expect.bytes, "{with} is not {without}");
            }
            parameters += 1;
        }
    }
    assert!(parameters > 80, "{parameters}");
}

/// Of the media types that are described, the answer has one, and its JSON has
/// the form of that.
#[track_caller]
fn agrees(address: &str, answer: &Answer, described: &Value, document: &Value) {
    let media_type = answer.header("content-type");
    let plain = media_type.split(';').next().unwrap();
    let content = described.get(media_type).or_else(|| described.get(plain));
    let content =
        content.unwrap_or_else(|| panic!("{address}: {media_type} is not in {described}"));
    if !plain.ends_with("json") {
        return;
    }
    let body: Value = serde_json::from_slice(&answer.bytes).unwrap();
    has_form(&body, &content["schema"], document);
}

/// A value has the form that a schema of the description asks for.
#[track_caller]
pub fn has_form(value: &Value, schema: &Value, document: &Value) {
    let mut schema = schema.clone();
    schema["components"] = document["components"].clone();
    let schema = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<String> = schema
        .iter_errors(value)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert_eq!(errors, [""; 0], "{value}");
}

#[tokio::test]
async fn messages_to_webhooks_are_as_described() {
    let document = TestApp::empty().await;
    let document = document.get("/api/v1/openapi.json").await.json();
    let news = News {
        run_id: HUMAN.to_owned(),
        model: "acme-1".to_owned(),
        split: "demo".to_owned(),
        progress: Progress::Running,
        evolutions: 3,
        evolutions_blocked: 1,
        evolutions_out_of_budget: 0,
        cause: Some(Cause {
            evolution_id: "e".to_owned(),
            task_id: "alpha-1".to_owned(),
            reason: "the disk is full".to_owned(),
        }),
    };
    let finished = News {
        cause: None,
        ..news.clone()
    };
    let url = Some("https://bench.example.org/runs/1".to_owned());
    let cases = [
        (Occasion::RunBlocked, WebhookData::Run { news, url }),
        (
            Occasion::RunFinished,
            WebhookData::Run {
                news: finished,
                url: None,
            },
        ),
        (
            Occasion::Test,
            WebhookData::Test {
                message: "This is a test.".to_owned(),
            },
        ),
    ];
    for (occasion, data) in cases {
        let message = WebhookMessage {
            occasion,
            timestamp: "2026-11-20T14:03:00Z".to_owned(),
            data,
        };
        let described = &document["webhooks"][occasion.name()]["post"]["requestBody"];
        let schema = &described["content"]["application/json"]["schema"];
        assert!(schema.is_object(), "{occasion:?}");
        has_form(&json!(message), schema, &document);
    }
}
