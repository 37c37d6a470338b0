//! The runs of a model over time: on its page and in the API.

use crate::fixture::{HUMAN, TestApp};

const NAME: &str = "Human%20%28replayed%20history%29";

/// The human's run once more, a copy of all its rows.
fn again(id: &str) -> String {
    format!(
        "
    INSERT INTO runs (id, split, kind, config, provenance, progress, created_at, started_at, finished_at)
      SELECT '{id}', split, kind, config, provenance, progress, created_at, started_at, finished_at
        FROM runs WHERE id = '{HUMAN}';
    INSERT INTO evolutions (id, run_id, task_id, sample, progress, ending, lease_until, expected_seconds,
                            queued_at, started_at, finished_at, at_iteration, at_role, at_attempt, suite)
      SELECT id || '{id}', '{id}', task_id, sample, progress, ending, lease_until, expected_seconds,
             queued_at, started_at, finished_at, at_iteration, at_role, at_attempt, suite
        FROM evolutions WHERE run_id = '{HUMAN}';
    INSERT INTO iterations (evolution_id, iteration, verdict, in_target, passed, lost, gained, outcomes,
                            findings, code, test_seconds, finished_at)
      SELECT evolution_id || '{id}', iteration, verdict, in_target, passed, lost, gained, outcomes, findings,
             code, test_seconds, finished_at
        FROM iterations WHERE evolution_id IN (SELECT id FROM evolutions WHERE run_id = '{HUMAN}');
    UPDATE changes SET n = n + 1"
    )
}

#[tokio::test]
async fn three_runs_are_a_history() {
    let app = TestApp::seeded().await;
    let (json, page) = (format!("/api/v1/models/{NAME}"), format!("/models/{NAME}"));
    let (second, third) = (
        "90000000-0000-7000-8000-000000000002",
        "90000000-0000-7000-8000-000000000003",
    );
    app.execute(&again(second)).await;
    assert!(app.get(&json).await.json().get("histories").is_none());
    assert!(!app.get(&page).await.text().contains("Over time"));

    app.execute(&again(third)).await;
    let detail = app.get(&json).await.json();
    let history = &detail["histories"][0];
    assert_eq!(
        (&history["tasks"], &history["split"]),
        (&2.into(), &"demo".into())
    );
    let runs = history["runs"].as_array().unwrap();
    let ids: Vec<&str> = runs
        .iter()
        .filter_map(|run| run["run_id"].as_str())
        .collect();
    assert_eq!(ids, [HUMAN, second, third]);
    assert_eq!(runs[0]["evoscore"], runs[2]["evoscore"]);
    assert_eq!(history["changes"], serde_json::json!([]));
    let html = app.get(&page).await.text();
    let compared = format!("/compare?runs={second},{third}&amp;baseline={second}");
    for part in [
        "Over time",
        "3 runs, and no change beyond chance.",
        &compared,
    ] {
        assert!(html.contains(part), "{part}");
    }

    // The page that this leads to knows the baseline and its gate.
    let compared = app.get(&compared.replace("&amp;", "&")).await.text();
    for part in ["Set as baseline", "Compare all pairs", "Gate: open."] {
        assert!(compared.contains(part), "{part}");
    }
    let plain = app
        .get(&format!("/compare?runs={second},{third}&baseline=x"))
        .await
        .text();
    assert!(!plain.contains("Gate: ") && !plain.contains("Compare all pairs"));
}
