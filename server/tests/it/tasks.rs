//! Filtering and ordering of tasks, and splits as a whole.

use crate::fixture::{MODEL, TestApp};

#[tokio::test]
async fn tasks_are_narrowed_and_ordered() {
    let app = TestApp::seeded().await;
    let check = async |query: &str, expect: &str| {
        let found = app.get(&format!("/api/v1/tasks?{query}")).await.json();
        let items = found["items"].as_array().unwrap().iter();
        let ids: Vec<&str> = items
            .map(|task| task["task_id"].as_str().unwrap())
            .collect();
        assert_eq!(ids.join(" "), expect, "{query}");
    };
    check("", "alpha-1 beta-2 gamma-3").await;
    check("q=ALPHA", "alpha-1").await;
    check("repo=beta", "beta-2").await;
    check("licence=MIT", "alpha-1").await;
    check("findings=some", "alpha-1").await;
    check("findings=none&state=ready", "beta-2").await;
    check("state=unusable", "gamma-3").await;
    check("min_gap=1", "alpha-1 beta-2").await;
    check("max_gap=1&min_tests=1", "beta-2").await;
    check("min_lines=700", "alpha-1").await;
    check("sort=suite", "alpha-1 beta-2 gamma-3").await;
    check("sort=-days&limit=1&after=alpha-1", "beta-2").await;
    let refuse = async |query: &str, parameter: &str, expect: &str| {
        let problem = app.get(&format!("/api/v1/tasks?{query}")).await;
        let problem = problem.problem(400, "bad-parameter");
        assert_eq!(problem["parameter"], parameter, "{problem}");
        let detail = problem["detail"].as_str().unwrap();
        assert!(detail.contains(expect), "{detail}");
    };
    refuse("state=on", "state", "`ready` or `unusable`").await;
    refuse("min_gap=-1", "min_gap", "a number from 0").await;
    refuse("min_score=-2", "min_score", "a number from -1").await;
    refuse("sort=size", "sort", "gap, tests, commits").await;
    refuse("after=nobody", "after", "`nobody`; it must be the `next`").await;
    let other = "repo=beta&after=alpha-1";
    refuse(other, "after", "`alpha-1`; it must be the `next`").await;
}

#[tokio::test]
async fn the_page_of_tasks_works_without_a_script() {
    let app = TestApp::seeded().await;
    let page = app
        .get("/tasks?split=demo&min_gap=1&sort=-gap")
        .await
        .text();
    for part in [
        "2 of 3 tasks",
        "alpha · 1",
        r#"name="min_gap""#,
        r#"value="1""#,
        r#"aria-sort="descending""#,
        "/tasks?split=demo&amp;min_gap=1&amp;sort=gap",
        "1 finding",
        "/datasets/demo",
        r#"name="min_solved""#,
    ] {
        assert!(page.contains(part), "{part}\n{page}");
    }
    assert!(!page.contains("gamma-3"));
    let none = app.get("/tasks?q=nothing-of-that-name").await.text();
    assert!(none.contains("No task matches"), "{none}");
    let task = app.get("/tasks/alpha-1").await.text();
    for part in [
        "How it was prepared",
        "Flaky tests",
        "tests/test_a.py::moody",
        "+600 \u{2212}40 in 2 files",
        "Source not recorded.",
    ] {
        assert!(task.contains(part), "{part}\n{task}");
    }
}

#[tokio::test]
async fn tasks_say_how_hard_they_are() {
    let app = TestApp::ranked().await;
    // The baseline does not count: the model has lost a test of one task, and gained
    // none of the other.
    let query = "split=demo&sort=-score&max_solved=0&min_score=-1";
    let tasks = app.get(&format!("/api/v1/tasks?{query}")).await.json();
    let ids = ["beta-2", "alpha-1"];
    for (task, id) in tasks["items"].as_array().unwrap().iter().zip(ids) {
        let difficulty = &task["difficulty"];
        assert_eq!(task["task_id"], id);
        assert_eq!(
            (&difficulty["runs"], &difficulty["solved_by"]),
            (&1.into(), &0.into())
        );
        assert_eq!(difficulty["best"]["run_id"], MODEL);
    }
    let page = app.get(&format!("/tasks?{query}")).await.text();
    let evolution = format!("/runs/{MODEL}/tasks/alpha-1\"");
    for part in ["0 of 1", "Mean EvoScore of runs", &evolution] {
        assert!(page.contains(part), "{part}\n{page}");
    }
    let task = app.get("/tasks/alpha-1").await.text();
    assert!(task.contains("0 of 1 runs"), "{task}");
}

#[tokio::test]
async fn a_split_is_described() {
    let app = TestApp::seeded().await;
    let split = app.get("/api/v1/splits/demo").await.json();
    assert_eq!((&split["tasks"], &split["ready"]), (&3.into(), &2.into()));
    assert_eq!(split["source"], serde_json::Value::Null);
    assert_eq!(split["licences"][0]["name"], "MIT");
    assert_eq!(split["findings"][0]["name"], "flaky tests");
    let gap = &split["spreads"][0];
    assert_eq!(
        (gap["size"].as_str(), gap["mean"].as_f64()),
        (Some("gap"), Some(1.5))
    );
    assert!(split["digest"].as_str().unwrap().starts_with("sha256:"));

    let sheet = app.get("/api/v1/splits/demo/datasheet.md").await.text();
    assert!(sheet.contains("# Datasheet of the split `demo`"), "{sheet}");
    let table = app.get("/api/v1/splits/demo/metadata.csv").await.text();
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(
        lines,
        [
            "task_id,current_sha,target_sha,test_gap,license,test_command",
            "alpha-1,a0,a1,2,MIT,bare",
            "beta-2,b0,b1,1,,bare",
            "gamma-3,c0,c1,,,bare",
        ]
    );
    app.get("/api/v1/splits/none")
        .await
        .problem(404, "not-found");
    app.get("/api/v1/splits/..%2Fx")
        .await
        .problem(400, "bad-parameter");

    let page = app.get("/datasets/demo").await.text();
    for part in [
        "Source not recorded.",
        "Repositories",
        "/tasks?split=demo&amp;min_gap=1&amp;max_gap=1",
        "/api/v1/splits/demo/datasheet.md",
    ] {
        assert!(page.contains(part), "{part}\n{page}");
    }
    let all = app.get("/datasets").await.text();
    assert!(
        all.contains("/datasets/other") && all.contains("Source not recorded."),
        "{all}"
    );
}

#[tokio::test]
async fn another_revision_of_a_task_is_named() {
    // `beta-2` was imported again into `demo`, after a run on its first content.
    let again = "
        INSERT INTO task_revisions (id, revision, repo, base_sha, target_sha, state, reason, image, suite,
                                    suite_seconds, commits, span_days, extra, imported_at)
        SELECT id, 'again', repo, 'other-base', target_sha, state, reason, image, suite,
               suite_seconds, commits, span_days, extra, 2000 FROM task_revisions WHERE id = 'beta-2';
        UPDATE tasks SET revision = 'again' WHERE id = 'beta-2';
        UPDATE split_tasks SET revision = 'again' WHERE task_id = 'beta-2' AND split = 'demo';
        UPDATE evolutions SET base_sha = 'b0', target_sha = 'b1', image = 'sha256:bb', test_command = 'bare'
            WHERE task_id = 'beta-2' AND run_id LIKE '%1';";
    let app = TestApp::changed(again).await;
    let page = app.get("/tasks/beta-2").await.text();
    assert!(page.contains("lists another ") && page.contains("other-base"));
    let task = app.get("/api/v1/tasks/beta-2").await.json();
    assert_eq!(task["splits"], serde_json::json!(["demo"]));
    assert_eq!(task["other_revisions"][0]["split"], "other");
    assert_eq!(task["other_revisions"][0]["base_sha"], "b0");
    let page = app.get("/tasks/beta-2?split=other").await.text();
    assert!(page.contains("/tasks/beta-2?split=demo") && page.contains("b0"));
    let there = app.get("/api/v1/tasks/beta-2?split=other").await.json();
    assert_eq!(there["base_sha"], "b0");
    assert_eq!(there["splits"], serde_json::json!(["other"]));
    app.get("/api/v1/tasks/beta-2?split=none")
        .await
        .problem(404, "not-found");
    let unranked = app
        .get("/api/v1/leaderboard/unranked?split=demo")
        .await
        .text();
    assert!(
        unranked.contains("\"why\":\"other_revisions\""),
        "{unranked}"
    );
    let leaderboard = app.get("/?split=demo").await.text();
    assert!(leaderboard.contains("is of another revision than the split"));
}
