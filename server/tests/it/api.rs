//! The read side of the REST API: shapes and pages.

use serde_json::{Value, json};

use crate::fixture::{HUMAN, MODEL, PATIENT, TestApp};

#[tokio::test]
async fn an_empty_site() {
    let app = TestApp::empty().await;
    assert_eq!(app.get("/api/v1/splits").await.json(), json!([]));
    let none = json!({"items": [], "next": null});
    for list in ["leaderboard", "tasks", "runs"] {
        assert_eq!(
            app.get(&format!("/api/v1/{list}")).await.json(),
            none,
            "{list}"
        );
    }
    let published = app.get("/api/v1/published").await.json();
    assert_eq!(published["rows"].as_array().map(Vec::len), Some(18));
    assert_eq!(
        app.get("/health/live").await.json(),
        json!({"status": "ok"})
    );
}

#[tokio::test]
async fn splits_and_tasks() {
    let app = TestApp::seeded().await;
    assert_eq!(
        app.get("/api/v1/splits").await.json(),
        json!([
            {"name": "demo", "tasks": 3, "ready": 2, "repositories": 3, "source": null, "created_at": "1970-01-01T00:00:01Z"},
            {"name": "other", "tasks": 1, "ready": 1, "repositories": 1, "source": null, "created_at": "1970-01-01T00:00:02Z"},
        ])
    );
    let tasks = app.get("/api/v1/tasks?split=demo").await.json();
    assert_eq!(
        tasks["items"][0],
        json!({
            "task_id": "alpha-1", "repo": "alpha", "base_sha": "a0", "target_sha": "a1", "state": "ready",
            "base_passed": 2, "target_passed": 4, "gap": 2, "commits": 3, "span_days": 120.5, "suite_seconds": 0.7,
            "modified_lines": 710, "licence": "MIT", "findings": 1,
        })
    );
    assert_eq!(tasks["items"][2]["state"], "unusable");
    assert_eq!(
        tasks["items"][2]["reason"],
        "its oracle suite does not run (pytest exit 2)"
    );
    assert_eq!(
        names(
            &app.get("/api/v1/tasks?split=other").await.json(),
            "task_id"
        ),
        ["beta-2"]
    );

    let task = app.get("/api/v1/tasks/alpha-1").await.json();
    assert_eq!(task["splits"], json!(["demo"]));
    assert_eq!(task["extra"], json!([["license", "MIT"]]));
    assert_eq!(
        task["tests"][3],
        json!({"node_id": "tests/test_a.py::four", "base": "missing"})
    );
}

#[tokio::test]
async fn lists_come_in_pages() {
    let app = TestApp::seeded().await;
    let check = async |list: &str, key: &str, expect: [&str; 3]| {
        let mut seen = Vec::new();
        let mut path = format!("/api/v1/{list}limit=2");
        loop {
            let page = app.get(&path).await.json();
            let items = names(&page, key);
            assert!(items.len() <= 2, "{page}");
            seen.extend(items);
            let Some(next) = page["next"].as_str() else {
                break;
            };
            path = format!("/api/v1/{list}limit=2&after={next}");
        }
        assert_eq!(seen, expect, "{list}");
        // A page that is exactly full is the last one.
        let whole = app.get(&format!("/api/v1/{list}limit=3")).await.json();
        assert_eq!(whole["next"], Value::Null);
    };
    check(
        "tasks?split=demo&",
        "task_id",
        ["alpha-1", "beta-2", "gamma-3"],
    )
    .await;
    check("runs?", "run_id", [PATIENT, MODEL, HUMAN]).await;
}

#[tokio::test]
async fn the_leaderboard() {
    let app = TestApp::ranked().await;
    let board = app.get("/api/v1/leaderboard").await.json();
    assert_eq!(names(&board, "run_id"), [HUMAN, MODEL]);
    assert_eq!(
        board["items"][0],
        json!({
            "rank": 1, "tie_group": 1, "run_id": HUMAN, "model": "Human (replayed history)", "provider": "",
            "harness": "replay", "harness_version": "1", "release_date": null, "kind": "human", "mode": "tdd", "progress": "finished", "metric_version": 1,
            "finished_at": "2025-11-20T00:54:20Z", "usage": null, "micro_usd": null, "findings": 0, "truncated_steps": 0,
            "counts_only": false, "tasks": 2, "tasks_total": 2, "tasks_blocked": 0,
            // alpha: (0.5 + 1 + 1 + 1) / 4; beta: 1.
            "evoscore": 0.9375, "zero_regression_rate": 1.0, "net_zero_regression_rate": 1.0,
            "solved_rate": 1.0, "zrr": 1.0, "average_turns": 1.5,
            // With two repositories, one resample in four draws only the one.
            "intervals": {
                "evoscore": {"low": 0.875, "high": 1.0}, "zero_regression_rate": {"low": 1.0, "high": 1.0},
                "solved_rate": {"low": 1.0, "high": 1.0}, "zrr": {"low": 1.0, "high": 1.0}, "average_turns": {"low": 1.0, "high": 2.0},
                "rank": {"best": 1, "worst": 1}, "repositories": 2,
            },
        })
    );
    // alpha: lost a test, then collapsed: (-0.5 - 1 - 1 - 1) / 4; beta: 0.
    assert_eq!(board["items"][1]["evoscore"], -0.4375);
    assert_eq!(board["items"][1]["zero_regression_rate"], 0.5);
    // Two repositories say little about others.
    let second = &board["items"][1];
    assert_eq!(
        (&second["rank"], &second["tie_group"]),
        (&json!(2), &json!(1))
    );

    // γ = 2: weights 1, 2, 4, 8 of 15.
    let late = app
        .get("/api/v1/leaderboard?split=demo&gamma=2&convention=reference")
        .await
        .json();
    let alpha = (0.5 + 2.0 + 4.0 + 8.0) / 15.0;
    let score = late["items"][0]["evoscore"].as_f64().unwrap();
    assert!((score - f64::midpoint(alpha, 1.0)).abs() < 1e-12, "{score}");

    let first = app.get("/api/v1/leaderboard?limit=1").await.json();
    assert_eq!(
        (names(&first, "run_id"), &first["next"]),
        (vec![HUMAN.to_owned()], &json!(HUMAN))
    );
    let second = app
        .get(&format!("/api/v1/leaderboard?limit=1&after={HUMAN}"))
        .await
        .json();
    assert_eq!(
        (names(&second, "run_id"), &second["next"]),
        (vec![MODEL.to_owned()], &Value::Null)
    );
    assert_eq!(
        app.get("/api/v1/leaderboard?split=other").await.json()["items"],
        json!([])
    );
}

#[tokio::test]
async fn published_results() {
    let app = TestApp::ranked().await;
    let published = app.get("/api/v1/published").await.json();
    assert_eq!(
        (&published["split"], &published["tasks"]),
        (&json!("default"), &json!(100))
    );
    let rows = published["rows"].as_array().unwrap();
    let scores: Vec<f64> = rows
        .iter()
        .map(|r| r["evoscore"].as_f64().unwrap())
        .collect();
    assert!(scores.len() == 18 && scores.is_sorted_by(|a, b| a >= b));
    // They are in no ranking.
    let board = app.get("/api/v1/leaderboard").await.json();
    assert_eq!(names(&board, "run_id"), [HUMAN, MODEL]);
}

#[tokio::test]
async fn the_scores_of_a_run() {
    let app = TestApp::seeded().await;
    let path = |run: &str, query: &str| format!("/api/v1/runs/{run}/scores{query}");
    let human = app.get(&path(HUMAN, "")).await.json();
    assert_eq!(
        (&human["convention"], &human["gamma"], &human["evoscore"]),
        (&json!("paper"), &json!(1.0), &json!(0.9375))
    );
    assert_eq!(
        human["intervals"]["evoscore"],
        json!({"low": 0.875, "high": 1.0})
    );
    assert_eq!(
        human["recovery"],
        json!({"regressions": 0, "repaired": 0, "average_iterations": null})
    );
    assert_eq!(
        human["tasks"][1],
        json!({"task_id": "beta-2", "sample": 1, "evoscore": 1.0, "gap_closed": 1.0, "solved": true, "regressions": 0, "zero_regression": true, "zrr": true, "turns": 1})
    );
    // It loses one of two tests, then collapses and loses the other.
    let model = app
        .get(&path(MODEL, "?gamma=1&convention=paper"))
        .await
        .json();
    let iterations = model["profile"]["iterations"].as_array().unwrap();
    assert_eq!(
        iterations[0],
        json!({"iteration": 1, "active": 1, "regression_rate": 1.0, "regression_magnitude": 0.5, "best_change": -0.5})
    );
    assert_eq!((iterations.len(), &iterations[2]["active"]), (4, &json!(0)));
    assert_eq!(model["profile"]["rate_correlation"], Value::Null);
    assert_eq!(model["recovery"]["repaired"], 0);

    let late = app
        .get(&path(HUMAN, "?gamma=2&convention=reference"))
        .await
        .json();
    assert_eq!(
        (&late["convention"], &late["recovery"]),
        (&json!("reference"), &Value::Null)
    );
    // As in the leaderboard, number for number.
    let board = "/api/v1/leaderboard?split=demo&gamma=2&convention=reference";
    let row = &app.get(board).await.json()["items"][0];
    for key in ["evoscore", "solved_rate", "average_turns", "intervals"] {
        assert_eq!(late[key], row[key], "{key}");
    }
    let waiting = app.get(&path(PATIENT, "")).await.json();
    assert_eq!(
        (&waiting["evoscore"], &waiting["tasks"]),
        (&Value::Null, &json!([]))
    );
}

#[tokio::test]
async fn a_run_and_its_iterations() {
    let app = TestApp::seeded().await;
    let run = app.get(&format!("/api/v1/runs/{MODEL}")).await.json();
    assert_eq!(run["progress"], "running");
    assert_eq!(run["created_at"], "2025-11-20T00:55:00Z");
    assert_eq!(run["evolutions"], 2);
    assert_eq!(run["provenance"]["dataset_digest"], "sha256:dd");
    let evolutions = run["evolution_list"].as_array().unwrap();
    let at_work = evolutions
        .iter()
        .find(|e| e["evolution_id"] == "e-model-beta")
        .unwrap();
    assert_eq!(
        at_work["current"],
        json!({"iteration": 1, "role": "programmer", "attempt": 2})
    );

    let iteration = app
        .get("/api/v1/evolutions/e-model-alpha/iterations/1")
        .await
        .json();
    assert_eq!(iteration["verdict"], "scored");
    assert_eq!(iteration["lost_tests"], json!(["tests/test_a.py::one"]));
    // The row is of the first edition, whose findings were texts.
    assert_eq!(
        iteration["findings"],
        json!([{"grade": "note", "kind": "other", "text": "conftest.py was changed"}])
    );
    let collapsed = app
        .get("/api/v1/evolutions/e-model-alpha/iterations/2")
        .await
        .json();
    assert_eq!(
        (&collapsed["verdict"], &collapsed["collapse"]),
        (&json!("collapsed"), &json!("pytest exit 4"))
    );
}

#[tokio::test]
async fn the_plot_is_a_picture_by_itself() {
    let app = TestApp::ranked().await;
    let plot = app
        .get("/api/v1/plots/evoscore-gamma.svg?split=demo&gamma=1.5")
        .await;
    assert_eq!(plot.status, 200);
    assert_eq!(plot.header("content-type"), "image/svg+xml");
    let svg = plot.text();
    assert!(svg.starts_with("<svg xmlns="), "{svg}");
    // A model's name is text, whatever it contains.
    assert!(svg.contains("Human") && svg.contains("&lt;script") && !svg.contains("<script"));
    assert_eq!(
        TestApp::empty()
            .await
            .get("/api/v1/plots/evoscore-gamma.svg")
            .await
            .status,
        200
    );
}

fn names(page: &Value, key: &str) -> Vec<String> {
    let items = page["items"].as_array().unwrap();
    items
        .iter()
        .map(|item| item[key].as_str().unwrap().to_owned())
        .collect()
}
