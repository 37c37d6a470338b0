//! The conversation of a step, message by message: API and page.

use serde_json::{Value, json};

use crate::fixture::{Answer, MODEL, TestApp};

/// Two recorded attempts of an architect.
const SAID: &str = r#"
    INSERT INTO steps (evolution_id, seq, iteration, role, attempt, outcome, detail, started_at, finished_at,
                       input_tokens, output_tokens, requests, retries, waiting_ms, trajectory)
    VALUES ('e-model-alpha', 1, 1, 'architect', 1, '"malformed_requirement"', '', 1763600100000, 1763600160000, 12, 3,
            1, 0, 0, 'first.zst'),
           ('e-model-alpha', 2, 1, 'architect', 2, '"done"', '', 1763600160000, 1763600220000, 12, 3, 2, 0, 0,
            'second.zst'),
           ('e-model-alpha', 3, 1, 'programmer', 1, '"done"', '', 1763600220000, 1763600221000, 0, 0, 0, 0, 0, NULL);
"#;

const API: &str = "/api/v1/evolutions/e-model-alpha/iterations/1/architect/messages";

/// Injection attempts by a model, a tool and a harness.
pub const EVIL: &str = "<script>alert('said')</script>";

fn page() -> String {
    format!("/runs/{MODEL}/e-model-alpha/1/architect")
}

pub async fn app_with_recordings() -> TestApp {
    let app = TestApp::changed(SAID).await;
    app.keep(
        "first.zst",
        &lines(&[exchange(1, &[], &json!({"content": "No."}))]),
    );
    let long: String = (0..100).map(|n| format!("line {n}\n")).collect();
    let call = json!({
        "content": format!("Look at {EVIL}"), "reasoning_content": "It hides a \u{202e}needle.",
        "tool_calls": [{"id": "c1", "type": "function", "function": {
            "name": "bash<b>", "arguments": json!({"command": format!("echo '{EVIL}'")}).to_string()}}],
    });
    let mut echo = call.clone();
    echo["role"] = json!("assistant");
    let result = json!({"role": "tool", "tool_call_id": "c1", "content": format!("\u{1b}[31m{EVIL}\nNEEDLE https://evil.example.org\n{long}")});
    let exchanges = [
        exchange(1, &[], &call),
        exchange(
            2,
            &[echo, result],
            &json!({"content": "Done, no needle left."}),
        ),
    ];
    app.keep("second.zst", &lines(&exchanges));
    app
}

fn lines(exchanges: &[Value]) -> Vec<u8> {
    let lines = exchanges.iter().map(|exchange| format!("{exchange}\n"));
    lines.collect::<String>().into_bytes()
}

/// As the gateway records it: after the prompts these messages, and then the
/// answer.
fn exchange(ordinal: u32, said: &[Value], answer: &Value) -> Value {
    let mut messages = vec![
        json!({"role": "system", "content": "You are careful."}),
        json!({"role": "user", "content": "Write."}),
    ];
    messages.extend_from_slice(said);
    let answer =
        json!({"model": "juniper-1", "choices": [{"message": answer, "finish_reason": "stop"}]});
    json!({
        "ordinal": ordinal, "protocol": "chat", "status": 200, "streamed": false, "complete": true,
        "request": {"model": "juniper-1", "messages": messages, "tools": [{"type": "function", "function": {"name": "bash<b>"}}]},
        "response": answer.to_string(), "usage": null,
        "started_at": 1_763_600_160_000_u64, "finished_at": 1_763_600_163_000_u64, "waiting_ms": 0,
    })
}

/// The visible part of the page, without its embedded data.
fn body(answer: &Answer) -> String {
    assert_eq!(answer.status, 200, "{}", answer.text());
    let html = answer.text();
    html.split("<footer").next().unwrap().to_owned()
}

#[track_caller]
fn has(html: &str, parts: &[&str]) {
    for part in parts {
        assert!(html.contains(part), "{part} is not in {html}");
    }
}

#[tokio::test]
async fn messages_of_one_shape() {
    let app = app_with_recordings().await;
    let all = app.get(API).await.json();
    assert_eq!(
        (&all["total"], &all["from"], &all["found"]),
        (&json!(5), &json!(1), &Value::Null)
    );
    assert_eq!(all["step"]["attempt"], 2);
    assert_eq!(all["step"]["attempts"], json!([1, 2]));
    assert_eq!(
        all["conversations"],
        json!([{"first": 1, "messages": 5, "tools": ["bash<b>"]}])
    );
    let speakers: Vec<&Value> = all["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|m| &m["speaker"])
        .collect();
    assert_eq!(
        speakers,
        ["system", "user", "assistant", "tool", "assistant"]
    );
    let result = &all["items"][3]["parts"][0];
    assert_eq!(
        (&result["kind"], &result["tool"], &result["call"]),
        (&json!("result"), &json!("bash<b>"), &json!("c1"))
    );
    assert_eq!(all["items"][4]["answered"]["exchange"], 2);
    let first = app.get(&format!("{API}?attempt=1")).await.json();
    assert_eq!(first["total"], 3);
}

#[tokio::test]
async fn some_of_the_messages() {
    let app = app_with_recordings().await;
    let two = app.get(&format!("{API}?limit=2&from=2")).await.json();
    assert_eq!(
        (&two["from"], &two["previous"], &two["next"]),
        (&json!(2), &json!(1), &json!(4))
    );
    let found = app.get(&format!("{API}?q=needle&limit=1")).await.json();
    assert_eq!(found["from"], 3);
    assert_eq!(
        found["found"],
        json!({"q": "needle", "hits": 3, "messages": 3, "here": 1, "previous": null, "next": 4})
    );
}

#[tokio::test]
async fn invalid_message_requests() {
    let app = app_with_recordings().await;
    for (query, parameter) in [
        ("from=0", "from"),
        ("limit=501", "limit"),
        ("attempt=x", "attempt"),
        ("format=atif", "format"),
    ] {
        let problem = app.get(&format!("{API}?{query}")).await;
        let problem = problem.problem(400, "bad-parameter");
        assert_eq!(problem["parameter"], parameter);
    }
    for path in [
        "e-model-alpha/iterations/1/architect/messages?attempt=3",
        "e-model-alpha/iterations/1/programmer/messages",
        "e-model-alpha/iterations/9/architect/messages",
        "nobody/iterations/1/architect/messages",
    ] {
        let answer = app.get(&format!("/api/v1/evolutions/{path}")).await;
        answer.problem(404, "not-found");
    }
    for path in [
        format!("/runs/{MODEL}/e-model-alpha/1/programmer"),
        format!("/runs/{MODEL}/e-model-alpha/1/test"),
        format!("/runs/{}/e-model-alpha/1/architect", crate::fixture::HUMAN),
    ] {
        assert_eq!(app.get(&path).await.status, 404, "{path}");
    }
}

#[tokio::test]
async fn a_private_run_reveals_nothing() {
    let app = app_with_recordings().await;
    app.execute("UPDATE runs SET visibility = 'private'").await;
    app.get(API).await.problem(404, "not-found");
    assert_eq!(app.get(&page()).await.status, 404);
}

#[tokio::test]
async fn the_page_of_a_step() {
    let app = app_with_recordings().await;
    let answer = app.get(&page()).await;
    let html = body(&answer);
    has(
        &html,
        &[
            "Transcript of the architect",
            "Attempt 2: 5 messages",
            "id=\"m3\"",
            "href=\"#m3\"",
            "exchange 1 · juniper-1",
            "62 more lines<",
            "␛[31m",
            "a [U+202E]needle",
            "echo '&lt;script&gt;",
            "bash&lt;b&gt;",
            "attempt=1\"",
            "trajectory?attempt=2&amp;format=jsonl",
        ],
    );
    for attack in ["<script>alert", "\u{1b}", "\u{202e}", "href=\"https://evil"] {
        assert!(!html.contains(attack), "{attack:?}");
    }
    // Nor in the embedded data.
    assert!(!answer.text().contains("<script>alert"));
}

#[tokio::test]
async fn a_search_needs_no_script() {
    let app = app_with_recordings().await;
    let html = body(&app.get(&format!("{}?q=needle", page())).await);
    has(
        &html,
        &[
            "3 hits in 3 messages; the first here is number 1 of 3",
            "<mark>needle<",
            "<mark>NEEDLE<",
            "?attempt=2&amp;from=4&amp;q=needle#m4\" rel=\"next\"",
            "value=\"needle\"",
        ],
    );
    let evil = body(&app.get(&format!("{}?q=%3Cscript%3E", page())).await);
    has(&evil, &["<mark>&lt;script&gt;<", "value=\"&lt;script"]);
    assert!(!evil.contains("<script>alert"));
    let none = body(&app.get(&format!("{}?q=nowhere", page())).await);
    has(&none, &["It does not occur.", "id=\"m1\""]);
}

#[tokio::test]
async fn the_page_is_found_from_its_iteration() {
    let app = app_with_recordings().await;
    let html = body(&app.get(&format!("/runs/{MODEL}/e-model-alpha/1")).await);
    has(&html, &[&format!("{}?attempt=2\"", page())]);
    assert!(!html.contains("1/programmer?attempt"));
}
