//! How the agents of a run worked: API and pages.

use serde_json::{Value, json};

use crate::conversation::{EVIL, app_with_recordings};
use crate::fixture::{MODEL, TestApp};

fn api(rest: &str) -> String {
    format!("/api/v1/runs/{MODEL}/{rest}")
}

fn page(rest: &str) -> String {
    format!("/runs/{MODEL}/{rest}")
}

/// The rows of a table, by name.
fn row<'a>(all: &'a Value, subject: &str, name: &str) -> &'a Value {
    let tables = all["tables"].as_array().unwrap();
    let table = tables.iter().find(|table| table["subject"] == subject);
    let rows = table.unwrap()["rows"].as_array().unwrap();
    let row = rows.iter().find(|row| row["name"] == name);
    row.unwrap_or_else(|| panic!("no {name} in {rows:?}"))
}

#[tokio::test]
async fn sums_of_a_run_and_their_places() {
    let app = app_with_recordings().await;
    let all = app.get(&api("trajectories")).await.json();
    assert_eq!((&all["recorded"], &all["read"]), (&json!(2), &json!(2)));
    let bash = row(&all, "tool", "bash<b>");
    assert_eq!((&bash["times"], &bash["places"]), (&json!(1), &json!(1)));
    let architect = row(&all, "role", "architect");
    assert_eq!(architect["times"], 2);
    assert_eq!(architect["usage"]["input_tokens"], 24);
    assert_eq!(row(&all, "failure", "malformed_document")["times"], 1);

    let places = api("trajectories/places?subject=tool&name=bash%3Cb%3E");
    let places = app.get(&places).await.json();
    assert_eq!(places.as_array().unwrap().len(), 1);
    let place = &places[0];
    assert_eq!(place["step"], json!(["architect", 2]));
    assert_eq!(
        (&place["iteration"], &place["message"]),
        (&json!(1), &json!(3))
    );
    let none = api("trajectories/places?subject=tool&name=none");
    assert_eq!(app.get(&none).await.json(), json!([]));
}

#[tokio::test]
async fn the_page_names_numbers_and_leads_to_their_places() {
    let app = app_with_recordings().await;
    let html = app.get(&page("trajectories")).await.text();
    let link = format!(
        "{}?show=tool&amp;name=bash%3Cb%3E#places",
        page("trajectories")
    );
    assert!(html.contains(&link), "{link} is not in {html}");
    let html = page("trajectories?show=tool&name=bash%3Cb%3E");
    let html = app.get(&html).await.text();
    assert!(html.contains("Calls of bash&lt;b&gt;"), "{html}");
    let step = format!(
        "{}?attempt=2&amp;from=3#m3",
        page("e-model-alpha/1/architect")
    );
    assert!(html.contains(&step), "{step} is not in {html}");
    // Two runs side by side; here the same one.
    let both = app.get(&page(&format!("trajectories?with={MODEL}"))).await;
    assert!(both.text().contains("Calls B"));
}

#[tokio::test]
async fn a_search_finds_steps_and_shows_the_first_hit() {
    let app = app_with_recordings().await;
    let found = app.get(&api("transcripts?q=needle")).await.json();
    let hits = found["hits"].as_array().unwrap();
    assert_eq!(hits.len(), 1);
    assert_eq!(
        (&hits[0]["times"], &hits[0]["message"]),
        (&json!(3), &json!(3))
    );
    assert_eq!(hits[0]["excerpt"][1], "needle");
    assert_eq!(
        (&found["searched"], &found["next"]),
        (&json!(2), &Value::Null)
    );
    let html = app.get(&page("search?q=needle")).await.text();
    assert!(html.contains("<mark>needle"), "{html}");
    let html = app.get(&page("search?q=echo")).await.text();
    assert!(!html.contains(EVIL), "a transcript is no HTML");
    assert!(html.contains("<mark>echo"), "{html}");
    let none = app.get(&page("search?q=haystack")).await.text();
    assert!(none.contains("0 steps with “haystack”; searched: 2 of 2 recorded steps."));
}

#[tokio::test]
async fn a_damaged_recording_is_counted_and_does_not_fail_the_page() {
    let app = app_with_recordings().await;
    app.keep("second.zst", b"not an exchange\n");
    let all = app.get(&api("trajectories")).await.json();
    assert_eq!((&all["read"], &all["unreadable"]), (&json!(2), &json!(1)));
    let found = app.get(&api("transcripts?q=careful")).await.json();
    assert_eq!(found["hits"].as_array().unwrap().len(), 1);
    assert_eq!(found["skipped"], 0);
}

#[tokio::test]
async fn invalid_requests() {
    let app = TestApp::seeded().await;
    for (rest, parameter) in [
        ("trajectories/places", "subject"),
        ("trajectories/places?subject=none", "subject"),
        ("trajectories/places?subject=tool&only=x", "only"),
        ("transcripts", "q"),
        ("transcripts?q=a&from=-1", "from"),
        ("trajectories?q=a", "q"),
    ] {
        let problem = app.get(&api(rest)).await;
        assert_eq!(problem.status, 400, "{rest}");
        assert!(problem.text().contains(parameter), "{}", problem.text());
    }
    for address in ["trajectories", "search", "search?q=a"] {
        let answer = app.get(&format!("/runs/none/{address}")).await;
        assert_eq!(answer.status, 404, "{address}");
    }
    assert_eq!(app.get("/api/v1/runs/none/trajectories").await.status, 404);
}
