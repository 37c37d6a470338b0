//! The reproducibility card of a run: API and page.

use serde_json::{Value, json};

use crate::fixture::{HUMAN, MODEL, TestApp};

#[tokio::test]
async fn as_json_and_as_text() {
    let app = TestApp::seeded().await;
    let path = format!("/api/v1/runs/{HUMAN}/card");
    let card = app.get(&path).await.json();
    assert_eq!(
        card["agents"][0]["roles"],
        json!(["architect", "programmer"])
    );
    assert_eq!(card["agents"][0]["harness"], "replay");
    assert_eq!(card["tasks"][0]["task_id"], "alpha-1");
    // Its evolutions are from before tasks were pinned.
    assert_eq!(card["tasks"][0]["image"], Value::Null);
    let text = app.get(&format!("{path}?format=text")).await;
    assert_eq!(text.header("content-type"), "text/plain; charset=utf-8");
    let text = text.text();
    for line in [
        "Model              Human (replayed history)\n",
        "Dataset digest     sha256:dd\n",
        "  beta-2\n    base b0 target b1\n    image not known\n",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
    app.get(&format!("{path}?format=xml"))
        .await
        .problem(400, "bad-parameter");
    app.get("/api/v1/runs/nobody/card")
        .await
        .problem(404, "not-found");
}

#[tokio::test]
async fn images_are_those_of_the_evolutions() {
    let app = TestApp::seeded().await;
    app.execute("UPDATE evolutions SET image = 'sha256:' || task_id")
        .await;
    let card = app.get(&format!("/api/v1/runs/{HUMAN}/card")).await.json();
    let images: Vec<&Value> = card["tasks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|t| &t["image"])
        .collect();
    assert_eq!(images, ["sha256:alpha-1", "sha256:beta-2"]);
}

#[tokio::test]
async fn no_key_and_no_markup() {
    let app = TestApp::changed(
        r#"UPDATE runs SET config = '{"model":"<script>alert(1)</script>","provider":"acme","kind":"measured","harness":{"name":"builtin"},"endpoint":{"url":"https://llm.example.org/v1","model":"juniper-1","key":"acme-paid"},"split":"demo"}'
           WHERE id = '00000000-0000-7000-8000-000000000002'"#,
    )
    .await;
    let text = app.get(&format!("/api/v1/runs/{MODEL}/card")).await.text();
    assert!(!text.contains("acme-paid"), "{text}");
    let page = app.get(&format!("/runs/{MODEL}")).await.text();
    let html = page.split("<footer").next().unwrap();
    for part in [
        "Reproducibility card",
        "&lt;script&gt;alert(1)&lt;/script&gt; (acme)",
        "llm.example.org by chat",
        &format!("/runs/new?from={MODEL}"),
    ] {
        assert!(html.contains(part), "{part}: {html}");
    }
    assert!(!page.contains("<script>alert"));
}
